# SPDX-License-Identifier: Apache-2.0
"""The Placement client: the room of each host, and who takes of it."""

from collections.abc import Iterable
from typing import Any, NotRequired
from urllib import parse

from typing_extensions import TypedDict

from kronos.clients import rest
from kronos.clients.schema import Ratio, Text, Whole
from kronos.common import exceptions
from kronos.engine import types
from kronos.engine.scoring import labels

MICROVERSION = '1.36'
COMPUTE_NODE = 'COMPUTE_NODE'
"""The trait that Nova puts on a host's root provider."""
ASKED = ('MEMORY_MB', 'VCPU')
"""Every live migration needs the first; hosts without any of it left are
then looked for by the second."""
FULL = ('VCPU', 'MEMORY_MB', 'DISK_GB')

Room = tuple[dict[str, types.Headroom], list[str]]


class _Provider(TypedDict):
    uuid: str
    name: str
    root_provider_uuid: Text


class _Providers(TypedDict):
    resource_providers: list[_Provider]


class _Inventory(TypedDict):
    total: Whole
    reserved: Whole
    allocation_ratio: Ratio


class _Inventories(TypedDict):
    inventories: dict[str, _Inventory]


class _Usages(TypedDict):
    usages: dict[str, Whole]


class _Allocation(TypedDict):
    resources: dict[str, Whole]


class _Consumers(TypedDict):
    """Of one provider, by consumer."""

    allocations: dict[str, _Allocation]


class _Allocations(TypedDict):
    """Of one consumer, with what a change has to repeat."""

    allocations: dict[str, _Allocation]
    consumer_generation: NotRequired[Whole | None]
    project_id: NotRequired[Text]
    user_id: NotRequired[Text]


class _Used(TypedDict):
    capacity: Whole
    used: Whole


class _Summary(TypedDict):
    resources: dict[str, _Used]
    traits: list[str]


class _Candidates(TypedDict):
    provider_summaries: dict[str, _Summary]


class Inventories:
    """The inventories of hosts, one host a request.

    :param wire: of a :class:`PlacementClient`
    """

    def __init__(self, wire: rest.Wire) -> None:
        self._wire = wire

    def path(self, node: str) -> str:
        """Of the root provider of a host; '' if there is none."""
        rows = _providers(self._wire, name=node)
        uuid = next((r['uuid'] for r in rows if _is_root(r)), None)
        if uuid is None:
            return ''
        return f'/resource_providers/{parse.quote(uuid, safe="")}'

    def rows(self, path: str) -> dict[str, _Inventory]:
        """By resource class."""
        body = self._wire.get(
            f'{path}/inventories', MICROVERSION, shape=_Inventories
        )
        rows: dict[str, _Inventory] = body['inventories']
        return rows

    def totals(self, node: str) -> dict[str, tuple[int, float]]:
        """What a host has in total, and its allocation ratio, by class.

        :param node: name of the root provider, ``Host.node``
        :returns: empty if there is no such root provider
        """
        path = self.path(node)
        rows = self.rows(path) if path else {}
        return {
            resource: (row['total'], row['allocation_ratio'])
            for resource, row in rows.items()
        }


class PlacementClient:
    """Placement, in few calls however many hosts there are.

    Every method raises
    :class:`~kronos.common.exceptions.PlacementClientError` whose ``kwargs``
    are those of :class:`~kronos.clients.rest.Wire`.

    :param adapter: a keystoneauth1 Adapter or openstacksdk proxy for the
        service type ``placement``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def __init__(self, adapter: Any, **options: Any) -> None:
        self._wire = rest.Wire(
            adapter, exceptions.PlacementClientError, **options
        )
        self.inventories = Inventories(self._wire)

    def headroom(self) -> dict[str, Room]:
        """Capacity and usage by resource class, and traits, by node name.

        At most three calls.

        ``allocation_candidates`` shows all resource classes of a host,
        but only hosts with room. A host with neither memory nor VCPUs
        left is given a capacity of 0, for its own is not shown: it reads
        as full, not as unknown. Only root providers count: what nested
        or sharing providers have is theirs.
        """
        names = self._compute_nodes()
        rooms: dict[str, Room] = {}
        for resource in ASKED:
            if len(rooms) < len(names):
                rooms.update(self._with_room(resource, names))
        for name in set(names.values()) - set(rooms):
            rooms[name] = _no_room()
        return rooms

    def node_of(self, host: str) -> str:
        """The node of a nova-compute service host, by their names alone.

        :returns: '' if no node or several may be meant
        """
        return like(host, self._compute_nodes().values())

    def consumers_on(self, node: str) -> set[str]:
        """The uuids of all that has allocations on a host, right now.

        Servers on their way there and the rests of migrations are among
        them, and so is what nested providers hold.

        :param node: name of the root provider, ``Host.node``
        :raises PlacementClientError: also when there is no such provider
        """
        roots = self._providers(name=node)
        if not roots:
            raise self._wire.failure(f'has no resource provider {node}')
        [root] = roots
        consumers: set[str] = set()
        for uuid in self._tree_of(root['uuid']):
            path = f'/resource_providers/{uuid}/allocations'
            body = self._wire.get(path, MICROVERSION, shape=_Consumers)
            consumers.update(body['allocations'])
        return consumers

    def room_on(self, node: str) -> dict[str, types.Headroom] | None:
        """Capacity and usage of one host by resource class, right now.

        Three small calls. What nested providers have is theirs.

        :param node: name of the root provider, ``Host.node``
        :returns: None if there is no such root provider
        """
        path = self.inventories.path(node)
        if not path:
            return None
        try:
            inventories = self.inventories.rows(path)
            usages = self._wire.get(
                f'{path}/usages', MICROVERSION, shape=_Usages
            )
        except exceptions.PlacementClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise
        return {
            resource: types.Headroom(
                _capacity(row), usages['usages'].get(resource, 0)
            )
            for resource, row in inventories.items()
        }

    def allocations_of(self, consumer: str) -> dict[str, dict[str, int]]:
        """What a server or a migration takes, by host and resource class.

        While a server is on its way, its own uuid holds the destination
        and the migration's uuid the source.

        :returns: by name of the root provider, ``Host.node``, with what is
            taken of its nested providers; empty if there is nothing
        """
        path = f'/allocations/{parse.quote(consumer, safe="")}'
        taken = self._wire.get(path, MICROVERSION, shape=_Allocations)[
            'allocations'
        ]
        roots: dict[str, str] = {}
        amounts: dict[str, dict[str, int]] = {}
        for uuid, allocation in taken.items():
            if uuid not in roots:
                roots.update(self._tree_of(uuid))
            if uuid not in roots:
                # Only a provider without allocations can be deleted.
                continue
            host = amounts.setdefault(roots[uuid], {})
            for resource, amount in allocation['resources'].items():
                host[resource] = host.get(resource, 0) + amount
        return amounts

    def nodes_of(self, consumer: str) -> set[str]:
        """The hosts on which a server or a migration holds memory.

        So no host of shared disks is among them.

        :returns: names of root providers, ``Host.node``
        """
        return {
            node
            for node, amounts in self.allocations_of(consumer).items()
            if amounts.get('MEMORY_MB')
        }

    def put_back(self, server: str, migration: str) -> None:
        """Give a server what its migration holds instead of what it holds.

        In one step, as Nova does when it takes a live migration back;
        refused if either changed meanwhile.

        :raises PlacementClientError: Placement refused (409: something
            changed, or there is no more room), or is away
        """
        theirs = self._allocation(migration)
        mine = self._allocation(server)
        generation = 'consumer_generation'
        body = {
            server: {
                **theirs,
                'allocations': theirs['allocations'],
                generation: mine.get(generation),
            },
            migration: {
                **theirs,
                'allocations': {},
                generation: theirs.get(generation),
            },
        }
        self._wire.send('POST', '/allocations', MICROVERSION, body)

    def _allocation(self, consumer: str) -> rest.Json:
        """A consumer's own row, with what a change has to repeat."""
        path = f'/allocations/{parse.quote(consumer, safe="")}'
        row: rest.Json = self._wire.get(path, MICROVERSION, shape=_Allocations)
        return row

    def _tree_of(self, uuid: str) -> dict[str, str]:
        """The root's name, by uuid of every provider in one's tree."""
        rows = self._providers(in_tree=uuid)
        root = next((row['name'] for row in rows if _is_root(row)), None)
        return {row['uuid']: root for row in rows if root is not None}

    def _providers(self, **query: str) -> list[rest.Json]:
        return _providers(self._wire, **query)

    def _compute_nodes(self) -> dict[str, str]:
        """Names of the hosts' root providers by uuid."""
        return {
            provider['uuid']: provider['name']
            for provider in self._providers(required=COMPUTE_NODE)
            if _is_root(provider)
        }

    def _with_room(
        self, resource: str, names: dict[str, str]
    ) -> Iterable[tuple[str, Room]]:
        body = self._wire.get(
            '/allocation_candidates',
            MICROVERSION,
            {'resources': f'{resource}:1'},
            shape=_Candidates,
        )
        for uuid, summary in body['provider_summaries'].items():
            if uuid in names:
                yield names[uuid], _room(summary)


def like(host: str, nodes: Iterable[str]) -> str:
    """The node that a service host's name means, with or without a domain.

    :returns: '' if none or several may be meant
    """
    names = set(nodes)
    if same := labels.find_host(host, names):
        return same
    matches = labels.alike(host, names)
    # Two names with domains are of two hosts.
    alike = [name for name in matches if not _are_whole(host, name)]
    return alike[0] if len(matches) == 1 and alike else ''


def _are_whole(*names: str) -> bool:
    return all(labels.short_name(name) != name.lower() for name in names)


def _providers(wire: rest.Wire, **query: str) -> list[rest.Json]:
    body = wire.get(
        '/resource_providers', MICROVERSION, query, shape=_Providers
    )
    providers: list[rest.Json] = body['resource_providers']
    return providers


def _is_root(provider: rest.Json) -> bool:
    return bool(provider['uuid'] == provider['root_provider_uuid'])


def _capacity(inventory: _Inventory) -> int:
    """Whole units, as Placement tells them of allocation candidates."""
    free = inventory['total'] - inventory['reserved']
    return int(free * inventory['allocation_ratio'])


def _room(summary: rest.Json) -> Room:
    headroom = {
        resource: types.Headroom(row['capacity'], row['used'])
        for resource, row in summary['resources'].items()
    }
    return headroom, sorted(summary['traits'])


def _no_room() -> Room:
    return {resource: types.Headroom(0, 0) for resource in FULL}, []
