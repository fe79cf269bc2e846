# SPDX-License-Identifier: Apache-2.0
"""The small cloud's Nova."""

import time

from tests.fakes.small_cloud.state import (
    ABORTABLE,
    OVER,
    Answer,
    Migration,
    node_of,
    stamp,
)

FIGURES = [
    f'{what}_{which}_bytes'
    for what in ('memory', 'disk')
    for which in ('total', 'processed', 'remaining')
]


LIVE = 'live-migration'
STEPS = {
    'os-stop': ('stop', ('ACTIVE',)),
    'os-start': ('start', ('SHUTOFF',)),
    'migrate': ('migrate', ('ACTIVE', 'SHUTOFF')),
    'confirmResize': ('confirm', ('VERIFY_RESIZE',)),
}
"""Name of a step of a restart, and the statuses in which it may be."""
ACTIONS = {'confirm': 'confirmResize'}
"""Nova's name of its instance action, where that is another one."""


class Nova:
    """Its API, on the state of the cloud that it is mixed into."""

    def find(self, uuid):
        if uuid not in self.servers:
            raise Answer(
                404, {'itemNotFound': {'message': f'no server {uuid}'}}
            )
        return self.servers[uuid]

    def delete(self, uuid):
        """Its migrations go with it, its instance actions do not."""
        self.deleted[uuid] = self.servers.pop(uuid)

    def running(self):
        return [m for m in self.migrations if m.status not in OVER]

    newest = '2.104'
    """Microversion."""

    def discovery(self, q, body):
        return {
            'version': {
                'id': 'v2.1',
                'status': 'CURRENT',
                'version': self.newest,
                'min_version': '2.1',
                'updated': '2013-07-23T11:33:21Z',
                'links': [{'rel': 'self', 'href': f'{self.nova_url}/'}],
            }
        }

    def hypervisors(self, q, body):
        like = q.get('hypervisor_hostname_pattern', '')
        rows = [
            {
                'id': f'00000000-0000-0000-0000-{n:012d}',
                'hypervisor_hostname': node_of(name),
                'hypervisor_type': 'QEMU',
                'hypervisor_version': self.versions.get(name, 8002000),
                'state': self.services[name]['state'],
                'status': self.services[name]['status'],
                'service': {'id': str(n), 'host': name},
            }
            for n, name in enumerate(self.hosts)
            if like in node_of(name)
        ]
        if like and not rows:
            text = f"No hypervisor matching '{like}' could be found."
            raise Answer(404, {'itemNotFound': {'message': text}})
        return {'hypervisors': rows}

    def os_services(self, q, body):
        rows = [
            {
                'id': str(n),
                'binary': 'nova-compute',
                'host': name,
                'zone': self.services[name].get('zone', 'nova'),
                'state': self.services[name]['state'],
                'status': self.services[name]['status'],
                'disabled_reason': self.services[name]['reason'],
                'forced_down': self.services[name].get('forced', False),
            }
            for n, name in enumerate(self.hosts)
            if q.get('host', name) == name
        ]
        return {'services': rows}

    def change_service(self, number, q, body):
        name = self.hosts[int(number)]
        self.services[name] |= {
            'status': body['status'],
            'reason': body.get('disabled_reason'),
        }
        return {'service': {'id': number, 'host': name}}

    def os_aggregates(self, q, body):
        rows = [
            {
                'id': n,
                'uuid': f'a0000000-0000-0000-0000-{n:012d}',
                'name': name,
                'hosts': hosts,
                'metadata': self.aggregate_metadata.get(name, {}),
                'availability_zone': None,
            }
            for n, (name, hosts) in enumerate(self.aggregates.items(), 1)
        ]
        return {'aggregates': rows}

    def server_list(self, q, body):
        rows = [
            self.server_row(server)
            for server in self.servers.values()
            if q.get('host', server.host) == server.host and 'marker' not in q
        ]
        if 'changes-since' in q:
            rows += [
                self.server_row(server)
                | {'status': 'DELETED', 'updated': stamp(time.time())}
                for server in self.deleted.values()
            ]
        return {'servers': rows}

    def server_show(self, uuid, q, body):
        if getattr(self.find(uuid), 'next_step', None):
            self._end_step(self.find(uuid))
        row = self.server_row(self.find(uuid))
        groups = [g['id'] for g in self.groups if uuid in g['members']]
        return {'server': row | {'server_groups': groups}}

    def server_row(self, server):
        return {
            'id': server.uuid,
            'name': server.name,
            'status': 'MIGRATING'
            if server.task_state == 'migrating'
            else server.status,
            'tenant_id': 'project',
            'metadata': server.metadata,
            'tags': [],
            'image': '',
            'flavor': {
                'vcpus': server.vcpus,
                'ram': server.ram,
                'disk': 0,
                'ephemeral': 0,
                'swap': 0,
                'original_name': 'small',
                'extra_specs': {},
            },
            'locked': server.locked,
            'OS-EXT-SRV-ATTR:host': server.host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': server.host,
            'OS-EXT-SRV-ATTR:instance_name': f'instance-{server.name}',
            'OS-EXT-STS:vm_state': server.status.lower(),
            'OS-EXT-STS:task_state': server.task_state,
            'OS-EXT-STS:power_state': 4 if server.status == 'SHUTOFF' else 1,
            'OS-EXT-AZ:availability_zone': 'nova',
            'pinned_availability_zone': None,
        }

    def diagnostics(self, uuid, q, body):
        server = self.find(uuid)
        if server.guest == 'running':
            return {'state': server.guest}
        text = f'while it is in power state {server.guest}'
        raise Answer(409, {'conflictingRequest': {'message': text}})

    def server_action(self, uuid, q, body):
        if 'os-resetState' in body:
            server = self.find(uuid)
            server.status = body['os-resetState']['state'].upper()
            server.task_state = None
            raise Answer(202)
        if 'os-migrateLive' in body:
            return self.live_migrate(uuid, q, body)
        return self.step(self.find(uuid), body)

    def step(self, server, body):
        """A step of a restart: accepted, and done at the next look."""
        [(action, details)] = body.items()
        name, statuses = STEPS[action]
        if server.task_state or server.status not in statuses:
            text = f'Cannot {name} while it is {server.status}'
            raise Answer(409, {'conflictingRequest': {'message': text}})
        self.requests += 1
        request = f'req-d0000000-0000-0000-0000-{self.requests:012d}'
        server.steps.append(name)
        if name == 'stop':
            server.stops.insert(0, (request, 'watcher'))
        else:
            server.asked.insert(0, (ACTIONS.get(name, name), request))
        if name in server.refuses:
            server.failed_steps[request] = server.refuses[name]
            raise Answer(202, None, {'x-compute-request-id': request})
        server.task_state = f'{name}-ing'
        server.next_step = name, details
        raise Answer(202, None, {'x-compute-request-id': request})

    def crash(self, uuid, kind='crash', synced=True):
        """A guest dies; nova-compute finds that, and stops the server."""
        server = self.find(uuid)
        server.guest = 'paused' if kind == 'io_error' else 'shutdown'
        self.failed[uuid] = kind
        if synced and kind != 'io_error':
            server.status = 'SHUTOFF'
            self.requests += 1
            number = f'{self.requests:012d}'
            server.stops.insert(
                0, (f'req-e0000000-0000-0000-0000-{number}', '')
            )

    def _end_step(self, server):
        name, details = server.next_step
        server.next_step = None
        server.task_state = None
        if name == 'stop':
            server.status, server.guest = 'SHUTOFF', 'shutdown'
        elif name == 'migrate':
            server.status, server.host = 'VERIFY_RESIZE', details['host']
        elif name == 'confirm':
            server.status = 'SHUTOFF'
        else:
            server.status, server.guest = 'ACTIVE', 'running'
            self.failed.pop(server.uuid, None)
        self.on_step(server, name)

    def live_migrate(self, uuid, q, body):
        server = self.find(uuid)
        destination = body['os-migrateLive']['host']
        if server.task_state or server.status != 'ACTIVE':
            raise Answer(
                409, {'conflictingRequest': {'message': 'wrong state'}}
            )
        if destination not in self.hosts:
            raise Answer(
                400,
                {
                    'badRequest': {
                        'message': f'Compute host {destination} could not be '
                        'found.'
                    }
                },
            )
        number = len(self.migrations) + 1
        migration = Migration(
            id=number,
            uuid=f'b0000000-0000-0000-0000-{number:012d}',
            request=f'req-00000000-0000-0000-0000-{number:012d}',
            server=server,
            source=server.host,
            destination=destination,
            script=list(server.script),
            began=time.time(),
            updated=time.time(),
        )
        self.migrations.append(migration)
        server.task_state = 'migrating'
        self._count()
        self._reach(migration)
        raise Answer(202, None, {'x-compute-request-id': migration.request})

    def _count(self):
        running = self.running()
        for name, key in (('out', 'source'), ('into', 'destination')):
            ends = [getattr(m, key) for m in running]
            most = max((ends.count(end) for end in ends), default=0)
            self.most[name] = max(self.most[name], most)
        self.most['all'] = max(self.most['all'], len(running))

    def _advance(self, migration):
        self.on_look(migration)
        if len(migration.script) > 1:
            migration.script.pop(0)
            migration.updated = time.time()
        self._reach(migration)

    def _reach(self, migration):
        """Let the server follow its migration's status."""
        if migration.status not in OVER:
            return
        server = migration.server
        if server.task_state == 'migrating':
            server.task_state = None
        if migration.forced:
            server.guest = 'running'
        if migration.status == 'completed' and server.host == migration.source:
            server.host = migration.destination

    def os_migrations(self, q, body):
        rows = []
        for migration in reversed(self.migrations):
            if migration.server.uuid not in self.servers:
                continue
            if q.get('instance_uuid', migration.server.uuid) != (
                migration.server.uuid
            ):
                continue
            if 'instance_uuid' in q and migration.status not in OVER:
                self._advance(migration)
            if q.get('status', migration.status) != migration.status:
                continue
            if q.get('migration_type', LIVE) != LIVE:
                continue
            if stamp(migration.updated) < q.get('changes-since', ''):
                continue
            rows.append(migration.row())
        rows += [
            row
            for row in self.cold_migrations
            if q.get('instance_uuid', row['instance_uuid'])
            == row['instance_uuid']
            and q.get('status', row['status']) == row['status']
            and q.get('migration_type', row['migration_type'])
            == row['migration_type']
            and row['updated_at'] >= q.get('changes-since', '')
        ]
        return {'migrations': [] if 'marker' in q else rows}

    def server_migrations(self, uuid, q, body):
        return {
            'migrations': [
                {
                    **m.row(),
                    'server_uuid': uuid,
                    **dict.fromkeys(FIGURES),
                    **m.figures,
                }
                for m in self.running()
                if m.server.uuid == uuid and m.status != 'accepted'
            ]
        }

    def abort(self, uuid, number, q, body):
        migration = self.migrations[int(number) - 1]
        if self.find(uuid).task_state != 'migrating':
            raise Answer(
                409, {'conflictingRequest': {'message': 'not migrating'}}
            )
        if migration.status not in ABORTABLE:
            text = f'Migration {number} state is {migration.status}'
            raise Answer(400, {'badRequest': {'message': text}})
        self.note_abort(uuid)
        migration.aborted = True
        migration.script[1:] = ['cancelled']
        raise Answer(202)

    def force_complete(self, uuid, number, q, body):
        migration = self.migrations[int(number) - 1]
        if migration.status != 'running':
            text = f'Migration {number} state is {migration.status}'
            raise Answer(400, {'badRequest': {'message': text}})
        migration.forced = True
        if self.permits_post_copy:
            migration.script[1:] = ['running (post-copy)'] * 2 + ['completed']
        else:
            migration.server.guest = 'paused'
        raise Answer(202)

    def note_abort(self, uuid, moment=None):
        """Nova's instance action of a wish to abort."""
        number = len(self.aborts) + 1
        request = f'req-c0000000-0000-0000-0000-{number:012d}'
        self.aborts.append(
            (uuid, request, time.time() if moment is None else moment)
        )

    def instance_actions(self, uuid, q, body):
        server = self.deleted.get(uuid) or self.find(uuid)
        actions = [
            ('live-migration', m.request, m.began)
            for m in self.migrations
            if m.server.uuid == uuid and m.request
        ]
        actions += [
            ('live_migration_cancel', request, moment)
            for server, request, moment in self.aborts
            if server == uuid
        ]
        actions.sort(key=lambda row: row[2], reverse=True)
        stops = [
            {
                'action': 'stop',
                'instance_uuid': uuid,
                'request_id': request,
                'project_id': 'project' if user else None,
                'user_id': user or None,
                'message': None,
                'start_time': stamp(0),
                'updated_at': stamp(0),
            }
            for request, user in server.stops
        ]
        rows = [
            {
                'action': action,
                'instance_uuid': uuid,
                'request_id': request,
                'project_id': 'project',
                'user_id': 'user',
                'message': None,
                'start_time': stamp(moment),
                'updated_at': stamp(moment),
            }
            for action, request, moment in actions
        ]
        steps = [
            {
                'action': action,
                'instance_uuid': uuid,
                'request_id': request,
                'project_id': 'project',
                'user_id': 'watcher',
                'message': None,
                'start_time': stamp(0),
                'updated_at': stamp(0),
            }
            for action, request in server.asked
        ]
        actions = [*stops, *steps, *rows]
        return {'instanceActions': [] if 'marker' in q else actions}

    def instance_action(self, uuid, request, q, body):
        if word := self.find(uuid).failed_steps.get(request):
            event = {
                'event': 'conductor_migrate_server',
                'start_time': stamp(0),
                'finish_time': None,
                'result': 'Error',
                'details': word,
            }
            return {
                'instanceAction': {
                    'action': 'x',
                    'request_id': request,
                    'instance_uuid': uuid,
                    'start_time': stamp(0),
                    'events': [event],
                }
            }
        for migration in self.migrations:
            if (migration.server.uuid, migration.request) == (uuid, request):
                break
        else:
            raise Answer(404, {'itemNotFound': {'message': 'no action'}})
        events = [
            {
                'event': 'conductor_live_migrate_instance',
                'start_time': stamp(migration.began),
                'finish_time': None,
                'result': 'Success',
                'details': None,
            }
        ]
        # A nova-compute that is started again gives no reason.
        if migration.status == 'error' and uuid not in self.swapped:
            events[0]['result'] = 'Error'
            events[0]['details'] = migration.server.refusal
        if migration.status == 'failed':
            events.append(
                {
                    'event': 'compute_live_migration',
                    'start_time': stamp(migration.began + 1),
                    'finish_time': None,
                    'result': 'Error',
                    'details': 'the connection to the host was lost',
                }
            )
        return {
            'instanceAction': {
                'action': 'live-migration',
                'request_id': request,
                'instance_uuid': uuid,
                'events': events,
            }
        }

    def flavor_list(self, q, body):
        rows = [
            {
                'id': str(n),
                'name': name,
                'vcpus': vcpus,
                'ram': ram,
                'disk': 1,
                'OS-FLV-EXT-DATA:ephemeral': 0,
                'swap': 0,
                'extra_specs': {},
            }
            for n, (name, (vcpus, ram)) in enumerate(self.flavors.items(), 1)
        ]
        return {'flavors': [] if 'marker' in q else rows}

    def quota_set(self, project, q, body):
        none = {'limit': -1, 'in_use': 0, 'reserved': 0}
        return {'quota_set': {'cores': none, 'ram': none}}

    def shares(self, uuid, q, body):
        here = uuid in self.shared
        return {'shares': [{'share_id': 's'}] if here else []}

    def server_groups(self, q, body):
        return {'server_groups': self.groups[int(q.get('offset', 0)) :]}

    def server_group(self, uuid, q, body):
        for group in self.groups:
            if group['id'] == uuid:
                return {'server_group': group}
        text = f'Instance group {uuid} could not be found.'
        raise Answer(404, {'itemNotFound': {'message': text}})


_NOVA = '/nova/v2.1'
_SERVER = f'{_NOVA}/servers/([^/]+)'
ROUTES = [
    ('GET', f'{_NOVA}/?', Nova.discovery),
    ('GET', f'{_NOVA}/os-hypervisors/detail', Nova.hypervisors),
    ('GET', f'{_NOVA}/os-services', Nova.os_services),
    ('PUT', f'{_NOVA}/os-services/([0-9]+)', Nova.change_service),
    ('GET', f'{_NOVA}/os-aggregates', Nova.os_aggregates),
    ('GET', f'{_NOVA}/servers/detail', Nova.server_list),
    ('GET', _SERVER, Nova.server_show),
    ('POST', f'{_SERVER}/action', Nova.server_action),
    ('GET', f'{_SERVER}/diagnostics', Nova.diagnostics),
    ('GET', f'{_NOVA}/os-migrations', Nova.os_migrations),
    ('GET', f'{_SERVER}/migrations', Nova.server_migrations),
    ('DELETE', f'{_SERVER}/migrations/([^/]+)', Nova.abort),
    ('POST', f'{_SERVER}/migrations/([^/]+)/action', Nova.force_complete),
    ('GET', f'{_SERVER}/os-instance-actions', Nova.instance_actions),
    ('GET', f'{_SERVER}/os-instance-actions/([^/]+)', Nova.instance_action),
    ('GET', f'{_NOVA}/os-server-groups', Nova.server_groups),
    ('GET', f'{_NOVA}/flavors/detail', Nova.flavor_list),
    ('GET', f'{_NOVA}/os-quota-sets/([^/]+)/detail', Nova.quota_set),
    ('GET', f'{_SERVER}/shares', Nova.shares),
    ('GET', f'{_NOVA}/os-server-groups/([^/]+)', Nova.server_group),
]
