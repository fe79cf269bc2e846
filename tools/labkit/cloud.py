# SPDX-License-Identifier: Apache-2.0
"""The lab's cloud: what a test or the demo makes and reads there."""

import concurrent.futures
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import requests

from labkit import faults, layout, running
from labkit.ha import choice
from labkit.wanted import Wanted

T = TypeVar('T')
FEW_AT_ONCE = 1
"""Servers to boot at once where two schedulers claim a host: of more, some
find no valid host, since Placement refuses what is claimed at one moment."""
MANY_AT_ONCE = 60
"""So many are ACTIVE in time on a slow machine."""
PARALLEL = 6
FEW = 3
"""So many servers are asked for one by one."""
COMPUTE = '2.100'
WATCHER = {'OpenStack-API-Version': 'infra-optim 1.5'}
PLACEMENT = '1.36'


class Cloud:
    """Shortcuts over an openstacksdk connection of the administrator."""

    def __init__(self, connection: Any, prometheus: str) -> None:
        self.connection = connection
        self.prometheus = prometheus
        self.compute = connection.compute

    # What is there

    def servers(self) -> dict[str, dict[str, Any]]:
        """All servers by uuid, as Nova's API gives them."""
        url = '/servers/detail?all_tenants=1&limit=1000'
        servers = self.compute.get(url, microversion=COMPUTE).json()['servers']
        return {server['id']: server for server in servers}

    def placement(self) -> dict[str, str]:
        """Server name to host."""
        return {
            server['name']: server['OS-EXT-SRV-ATTR:host']
            for server in self.servers().values()
        }

    def services(self) -> list[dict[str, Any]]:
        """Nova's services."""
        answer = self.compute.get('/os-services', microversion='2.69')
        return list(answer.json()['services'])

    def disabled(self) -> set[str]:
        """The hosts that the scheduler does not use."""
        return {
            row['host']
            for row in self.services()
            if row['binary'] == 'nova-compute' and row['status'] == 'disabled'
        }

    def migrations(self, **filters: Any) -> list[dict[str, Any]]:
        """Nova's records of migrations, the newest first.

        :param filters: such as instance_uuid, host, status
        """
        answer = self.compute.get(
            '/os-migrations',
            params={'limit': 1000, **filters},
            microversion=COMPUTE,
        )
        return list(answer.json()['migrations'])

    def under_way(self, server: str) -> list[dict[str, Any]]:
        """The live migrations of a server that Nova calls in progress."""
        answer = self.compute.get(
            f'/servers/{server}/migrations', microversion=COMPUTE
        )
        return list(answer.json()['migrations']) if answer.ok else []

    def abort(self, server: str, migration: int) -> Any:
        """Ask Nova to abort a live migration; its answer."""
        return self.compute.delete(
            f'/servers/{server}/migrations/{migration}', microversion=COMPUTE
        )

    def providers(self) -> dict[str, str]:
        """Resource providers in Placement, uuid to name."""
        answer = self.connection.placement.get(
            '/resource_providers', microversion=PLACEMENT
        )
        return {
            row['uuid']: row['name']
            for row in answer.json()['resource_providers']
        }

    def allocations(self, consumer: str) -> dict[str, dict[str, int]]:
        """What Placement holds for a server or a migration: by host.

        During a live migration the server holds the destination, and the
        migration's uuid the source.
        """
        answer = self.connection.placement.get(
            f'/allocations/{consumer}', microversion=PLACEMENT
        )
        names = self.providers()
        return {
            names[uuid]: dict(row['resources'])
            for uuid, row in answer.json()['allocations'].items()
        }

    def watcher(self, path: str, method: str = 'get', **more: Any) -> Any:
        """A call of Watcher's API; JSON in, JSON out."""
        adapter = self.connection.session
        answer = adapter.request(
            path,
            method.upper(),
            endpoint_filter={'service_type': 'infra-optim'},
            headers=WATCHER,
            **more,
        )
        return answer.json() if answer.content else None

    def promql(self, query: str) -> list[dict[str, Any]]:
        """The instant vector of a query: metric and value of each series."""
        answer = requests.get(
            f'{self.prometheus}/api/v1/query',
            params={'query': query},
            timeout=10,
        )
        body = answer.json()
        if body['status'] != 'success':
            raise running.LabError(f'{query}: {body["error"]}')
        return list(body['data']['result'])

    # What is wanted

    def boot(self, name: str, host: str, **more: Any) -> dict[str, Any]:
        """Boot one server on a host and wait until it is ACTIVE.

        :param more: the fields of :class:`Wanted`
        """
        return self.boot_all([Wanted(name, host, **more)])[0]

    def boot_all(self, wanted: Iterable[Wanted]) -> list[dict[str, Any]]:
        """Boot servers side by side and wait until all are ACTIVE.

        :returns: them as Nova gives them, in the order asked for
        """
        wanted = list(wanted)
        number = FEW_AT_ONCE if choice.is_chosen() else MANY_AT_ONCE
        return [
            server
            for first in range(0, len(wanted), number)
            for server in self._boot_at_once(wanted[first : first + number])
        ]

    def _boot_at_once(self, wanted: list[Wanted]) -> list[dict[str, Any]]:
        flavors = self.flavors()
        names = {one.image for one in wanted}
        images = {name: self._image(name) for name in names}

        def post(one: Wanted) -> str:
            return self._post(one, images[one.image], flavors[one.flavor])

        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            uuids = list(pool.map(post, wanted))

        def settled() -> dict[str, dict[str, Any]]:
            result = self._shown(uuids)
            broken = [s for s in result.values() if s['status'] == 'ERROR']
            if broken:
                fault = broken[0].get('fault', {}).get('message', '')
                raise running.LabError(
                    f'{broken[0]["name"]} did not start: {fault}'
                )
            done = [s for s in result.values() if s['status'] == 'ACTIVE']
            return result if len(done) == len(uuids) else {}

        result = running.wait_for(settled, 180, 'servers to be ACTIVE', 0.5)
        return [result[uuid] for uuid in uuids]

    def _shown(self, uuids: list[str]) -> dict[str, dict[str, Any]]:
        """Some servers by uuid; all others are only listed for many."""
        if len(uuids) > FEW:
            servers = self.servers()
            return {uuid: servers[uuid] for uuid in uuids if uuid in servers}
        found = {}
        for uuid in uuids:
            url = f'/servers/{uuid}'
            answer = self.compute.get(url, microversion=COMPUTE)
            if answer.ok:
                found[uuid] = dict(answer.json()['server'])
        return found

    def _post(self, one: Wanted, image: str, flavor: str) -> str:
        server: dict[str, Any] = {
            'name': one.name,
            'imageRef': image,
            'flavorRef': flavor,
            'networks': [{'uuid': one.network}] if one.network else 'none',
            'metadata': one.all_metadata(),
        }
        if one.zone and one.host:
            server['availability_zone'] = f'{one.zone}:{one.host}'
        elif one.host:
            server['host'] = one.host
        body: dict[str, Any] = {'server': server}
        if one.group:
            body['os:scheduler_hints'] = {'group': one.group}
        answer = self.compute.post('/servers', json=body, microversion=COMPUTE)
        if not answer.ok:
            raise running.LabError(f'{one.name}: {answer.text}')
        return str(answer.json()['server']['id'])

    def group(self, name: str, policy: str, per_host: int = 1) -> str:
        """Make a server group and give its uuid."""
        group: dict[str, Any] = {'name': name, 'policy': policy}
        if policy == 'anti-affinity' and per_host > 1:
            group['rules'] = {'max_server_per_host': per_host}
        answer = self.compute.post(
            '/os-server-groups',
            json={'server_group': group},
            microversion=COMPUTE,
        )
        if not answer.ok:
            raise running.LabError(f'server group {name}: {answer.text}')
        return str(answer.json()['server_group']['id'])

    def set_host(self, host: str, enabled: bool, reason: str = '') -> None:
        """Enable or disable a host for the scheduler."""
        body = {'status': 'enabled' if enabled else 'disabled'}
        if not enabled and reason:
            body['disabled_reason'] = reason
        self._put_service(host, body)

    def force_down(self, host: str, down: bool) -> None:
        self._put_service(host, {'forced_down': down})

    def _put_service(self, host: str, body: dict[str, Any]) -> None:
        [uuid] = [
            row['id']
            for row in self.services()
            if row['host'] == host and row['binary'] == 'nova-compute'
        ]
        answer = self.compute.put(
            f'/os-services/{uuid}', json=body, microversion='2.69'
        )
        if not answer.ok:
            raise running.LabError(f'{host}: {answer.text}')

    def wait_for(
        self, predicate: Callable[[], T], timeout: float, what: str
    ) -> T:
        """See :func:`labkit.running.wait_for`."""
        return running.wait_for(predicate, timeout, what)

    def zone(self, name: str, hosts: Iterable[str]) -> int:
        """Put hosts, which must be empty, into an availability zone.

        :returns: id of the aggregate that makes it; see :meth:`drop_zone`
        """
        made = self.compute.create_aggregate(name=name, availability_zone=name)
        for host in hosts:
            self.compute.add_host_to_aggregate(made, host)
        return int(made.id)

    def drop_zone(self, aggregate: int) -> None:
        """Take an availability zone away; its hosts must be empty."""
        result = self.compute.get_aggregate(aggregate)
        for host in result.hosts:
            self.compute.remove_host_from_aggregate(result, host)
        self.compute.delete_aggregate(aggregate)

    # Overrides

    def set_demand(self, **demands: dict[str, float]) -> None:
        """Replace all overrides: name or uuid = {'cpu':, 'memory_mb':}."""
        layout.write_json(layout.DEMAND, dict(demands))

    def play(self, **trace: Any) -> None:
        """Let demands follow a trace: cores=, step= and start=."""
        layout.write_json(layout.TRACE, dict(trace))

    def set_migrations(self, rules: dict[str, Any]) -> None:
        """Replace all rules of live migrations (see labkit.faults).

        :raises ValueError: a rule makes no sense
        """
        faults.check_migrations(rules)
        layout.write_json(layout.MIGRATIONS, rules)

    def set_nova_api(self, rules: list[dict[str, Any]]) -> None:
        """Replace what Nova's API answers to Watcher (see novaproxy).

        :raises ValueError: a rule makes no sense
        """
        faults.check_api(rules)
        layout.write_json(layout.NOVA_API, {'rules': rules})

    def api_requests(self) -> list[dict[str, Any]]:
        """What Watcher has asked of Nova since the last reset, in order.

        method, path, action (such as os-migrateLive), status (None: no
        answer), forwarded (whether Nova got it), rule and answer (what the
        lab was told to do to it).
        """
        try:
            text = layout.NOVA_REQUESTS.read_text()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines()]

    def set_exporter(self, **told: Any) -> None:
        """Replace what the exporter is told: down=[hosts], base={...}."""
        layout.write_json(layout.EXPORTER, dict(told))

    def flavors(self) -> dict[str, str]:
        """Flavor name to id."""
        return {flavor.name: flavor.id for flavor in self.compute.flavors()}

    def _image(self, name: str) -> str:
        result = self.connection.image.find_image(name, ignore_missing=False)
        return str(result.id)
