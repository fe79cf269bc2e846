# SPDX-License-Identifier: Apache-2.0
"""How is the lab's cloud made what a test or the demo needs?"""

import concurrent.futures
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import requests

from labkit import layout, running, topology

T = TypeVar('T')
PARALLEL = 6
COMPUTE = '2.100'
WATCHER = {'OpenStack-API-Version': 'infra-optim 1.5'}
UNFINISHED = ('RECOMMENDED', 'PENDING', 'ONGOING')


@dataclass
class Wanted:
    """A server to boot on a host."""

    name: str
    host: str
    cpu: float | None = None
    """Cores that it uses; None: by its flavor."""
    memory_mb: float | None = None
    """Memory that it uses; None: by its flavor."""
    flavor: str = 'lab.medium'
    group: str | None = None
    """Uuid of a server group."""
    zone: str = 'nova'
    """Availability zone, to which the server is then pinned; '': not
    pinned, and its group's policy holds for its start too."""
    metrics: bool = True
    """Whether the libvirt exporter shows it."""
    metadata: dict[str, str] = field(default_factory=dict)

    def all_metadata(self) -> dict[str, str]:
        """With the exporter's keys, which an operator may change later."""
        found = dict(self.metadata)
        if self.cpu is not None:
            found['lab:cpu'] = str(self.cpu)
        if self.memory_mb is not None:
            found['lab:memory_mb'] = str(self.memory_mb)
        if not self.metrics:
            found['lab:metrics'] = 'none'
        return found


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
        found = self.compute.get(url, microversion=COMPUTE).json()['servers']
        return {server['id']: server for server in found}

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
        image, flavors = self._image(), self.flavors()

        def post(one: Wanted) -> str:
            return self._post(one, image, flavors[one.flavor])

        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            uuids = list(pool.map(post, wanted))

        def settled() -> dict[str, dict[str, Any]]:
            known = self.servers()
            found = {uuid: known[uuid] for uuid in uuids if uuid in known}
            broken = [s for s in found.values() if s['status'] == 'ERROR']
            if broken:
                fault = broken[0].get('fault', {}).get('message', '')
                raise running.LabError(
                    f'{broken[0]["name"]} did not start: {fault}'
                )
            done = [s for s in found.values() if s['status'] == 'ACTIVE']
            return found if len(done) == len(uuids) else {}

        found = running.wait_for(settled, 180, 'servers to be ACTIVE', 0.5)
        return [found[uuid] for uuid in uuids]

    def _post(self, one: Wanted, image: str, flavor: str) -> str:
        server: dict[str, Any] = {
            'name': one.name,
            'imageRef': image,
            'flavorRef': flavor,
            'networks': 'none',
            'metadata': one.all_metadata(),
        }
        if one.zone:
            server['availability_zone'] = f'{one.zone}:{one.host}'
        else:
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
        found = self.compute.get_aggregate(aggregate)
        for host in found.hosts:
            self.compute.remove_host_from_aggregate(found, host)
        self.compute.delete_aggregate(aggregate)

    # Overrides

    def set_demand(self, **demands: dict[str, float]) -> None:
        """Replace all overrides: name or uuid = {'cpu':, 'memory_mb':}."""
        layout.write_json(layout.DEMAND, dict(demands))

    def set_migrations(self, rules: dict[str, Any]) -> None:
        """Replace all rules of live migrations (see labdriver)."""
        layout.write_json(layout.MIGRATIONS, rules)

    def set_exporter(self, **told: Any) -> None:
        """Replace what the exporter is told: down=[hosts], base={...}."""
        layout.write_json(layout.EXPORTER, dict(told))

    # From nothing, and back to nothing

    def reset(self) -> None:
        """No servers, groups, overrides, open audits; all hosts enabled."""
        for file in (
            layout.DEMAND,
            layout.EXPORTER,
            layout.MIGRATIONS,
            layout.KRONOS,
        ):
            file.unlink(missing_ok=True)
        self._close_audits()
        for row in self.services():
            if row['binary'] == 'nova-compute':
                if row['status'] == 'disabled':
                    self.set_host(row['host'], True)
                if row['forced_down']:
                    self.force_down(row['host'], False)
        self._delete_servers()
        url = '/os-server-groups?all_projects=1&limit=1000'
        groups = self.compute.get(url, microversion=COMPUTE).json()
        for group in groups['server_groups']:
            self.compute.delete(f'/os-server-groups/{group["id"]}')

    def _delete_servers(self) -> None:
        def delete(uuid: str) -> None:
            self.compute.delete(f'/servers/{uuid}', microversion=COMPUTE)

        def gone() -> bool:
            left = self.servers()
            with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
                list(pool.map(delete, left))
            return not left

        running.wait_for(gone, 180, 'servers to be deleted', 0.5)

    def _close_audits(self) -> None:
        cancelled = [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}]
        for audit in self.watcher('/v1/audits')['audits']:
            if audit['state'] in ('PENDING', 'ONGOING', 'SUSPENDED'):
                url = f'/v1/audits/{audit["uuid"]}'
                # Refused if it ended meanwhile, which is as good.
                self.watcher(url, 'patch', json=cancelled, raise_exc=False)
        for plan in self.watcher('/v1/action_plans')['action_plans']:
            if plan['state'] in UNFINISHED:
                ongoing = plan['state'] == 'ONGOING'
                value = 'CANCELLING' if ongoing else 'CANCELLED'
                change = [{'op': 'replace', 'path': '/state', 'value': value}]
                url = f'/v1/action_plans/{plan["uuid"]}'
                self.watcher(url, 'patch', json=change, raise_exc=False)

        def quiet() -> bool:
            plans = self.watcher('/v1/action_plans')['action_plans']
            busy = ('ONGOING', 'CANCELLING', 'PENDING')
            return not [plan for plan in plans if plan['state'] in busy]

        running.wait_for(quiet, 180, 'action plans to end', 0.5)

    def flavors(self) -> dict[str, str]:
        """Flavor name to id."""
        return {flavor.name: flavor.id for flavor in self.compute.flavors()}

    def _image(self) -> str:
        found = self.connection.image.find_image(
            topology.IMAGE, ignore_missing=False
        )
        return str(found.id)
