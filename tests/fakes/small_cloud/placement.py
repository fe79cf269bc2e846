# SPDX-License-Identifier: Apache-2.0
"""The small cloud's Placement: what Nova's allocations leave of a host."""

from tests.fakes.small_cloud.state import Answer, node_of

CLASSES = ('VCPU', 'MEMORY_MB')


class Placement:
    """Its API, on the state of the cloud that it is mixed into.

    While a server is on its way, its migration holds the source and the
    server itself the destination.
    """

    def placement(self, q, body):
        return {
            'versions': [
                {
                    'id': 'v1.0',
                    'status': 'CURRENT',
                    'max_version': '1.39',
                    'min_version': '1.0',
                    'links': [{'rel': 'self', 'href': ''}],
                }
            ]
        }

    def allocations(self):
        """Resources by host by consumer."""
        by_consumer = {}
        for server in self.servers.values():
            by_consumer[server.uuid] = {server.host: _size(server)}
        for migration in self.running():
            server = migration.server
            by_consumer[migration.uuid] = {migration.source: _size(server)}
            by_consumer[server.uuid] = {migration.destination: _size(server)}
        for consumer, hosts in self.leftovers.items():
            by_consumer.setdefault(consumer, {}).update(hosts)
        # What a nova-compute that was killed has left swapped.
        by_consumer |= self.swapped
        return by_consumer

    def usage(self, host):
        used = dict.fromkeys(CLASSES, 0)
        for hosts in self.allocations().values():
            for name, amount in hosts.get(host, {}).items():
                used[name] += amount
        return used

    def capacity_of(self, host):
        sizes = self.capacities.get(host, self.capacity)
        return dict(zip(CLASSES, sizes, strict=True))

    def providers(self, q, body):
        rows = [
            {
                'uuid': _uuid(n),
                'name': node_of(name),
                'parent_provider_uuid': None,
                'root_provider_uuid': _uuid(n),
                'generation': 1,
            }
            for n, name in enumerate(self.hosts)
            if q.get('name', node_of(name)) == node_of(name)
            and q.get('in_tree', _uuid(n)) == _uuid(n)
        ]
        return {'resource_providers': rows}

    def inventories(self, uuid, q, body):
        rows = {
            name: {
                'total': size,
                'reserved': 0,
                'allocation_ratio': 1.0,
                'min_unit': 1,
                'max_unit': size,
                'step_size': 1,
            }
            for name, size in self.capacity_of(self._host(uuid)).items()
        }
        return {'inventories': rows, 'resource_provider_generation': 1}

    def usages(self, uuid, q, body):
        return {
            'usages': self.usage(self._host(uuid)),
            'resource_provider_generation': 1,
        }

    def _host(self, uuid):
        for n, name in enumerate(self.hosts):
            if _uuid(n) == uuid:
                return name
        text = f'No resource provider with uuid {uuid} found'
        raise Answer(404, {'errors': [{'status': 404, 'detail': text}]})

    def consumers(self, uuid, q, body):
        host = self._host(uuid)
        rows = {
            consumer: {'resources': hosts[host]}
            for consumer, hosts in self.allocations().items()
            if host in hosts
        }
        return {'allocations': rows, 'resource_provider_generation': 1}

    def consumer(self, uuid, q, body):
        hosts = self.allocations().get(uuid, {})
        if not hosts:
            return {'allocations': {}}
        return {
            'allocations': {
                _uuid(self.hosts.index(host)): {
                    'generation': 1,
                    'resources': resources,
                }
                for host, resources in hosts.items()
            },
            'consumer_generation': 1,
            'project_id': 'project',
            'user_id': 'user',
        }

    def change(self, q, body):
        """Several consumers in one step."""
        self.swapped = {
            consumer: {
                self._host(provider): taken['resources']
                for provider, taken in consumer_row['allocations'].items()
            }
            for consumer, consumer_row in body.items()
        }
        raise Answer(204)

    def candidates(self, q, body):
        summaries = {}
        for n, name in enumerate(self.hosts):
            used = self.usage(name)
            summaries[_uuid(n)] = {
                'parent_provider_uuid': None,
                'root_provider_uuid': _uuid(n),
                'traits': ['COMPUTE_NODE'],
                'resources': {
                    resource: {'capacity': size, 'used': used[resource]}
                    for resource, size in self.capacity_of(name).items()
                },
            }
        return {'allocation_requests': [], 'provider_summaries': summaries}


def _uuid(number):
    return f'00000000-0000-0000-0000-{number:012d}'


def _size(server):
    return {'VCPU': server.vcpus, 'MEMORY_MB': server.ram}


_PROVIDERS = '/placement/resource_providers'
ROUTES = [
    ('GET', '/placement/?', Placement.placement),
    ('GET', _PROVIDERS, Placement.providers),
    ('GET', f'{_PROVIDERS}/([^/]+)/inventories', Placement.inventories),
    ('GET', f'{_PROVIDERS}/([^/]+)/usages', Placement.usages),
    ('GET', f'{_PROVIDERS}/([^/]+)/allocations', Placement.consumers),
    ('GET', '/placement/allocations/([^/]+)', Placement.consumer),
    ('POST', '/placement/allocations', Placement.change),
    ('GET', '/placement/allocation_candidates', Placement.candidates),
]
