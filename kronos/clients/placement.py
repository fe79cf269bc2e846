# SPDX-License-Identifier: Apache-2.0
"""How much room has each host? Placement's answer, in few calls."""

from collections.abc import Iterable
from typing import Any

from kronos.clients import wire
from kronos.common import exceptions
from kronos.engine import types

MICROVERSION = '1.36'
COMPUTE_NODE = 'COMPUTE_NODE'
"""The trait that Nova puts on a host's root provider."""
ASKED = ('MEMORY_MB', 'VCPU')
"""Every live migration needs the first; hosts without any of it left are
then looked for by the second."""
FULL = ('VCPU', 'MEMORY_MB', 'DISK_GB')

Room = tuple[dict[str, types.Headroom], list[str]]


class PlacementClient:
    """Placement; at most three calls, however many hosts there are.

    :param adapter: a keystoneauth1 Adapter or openstacksdk proxy for the
        service type ``placement``
    :param options: of :class:`~kronos.clients.wire.Wire`
    """

    def __init__(self, adapter: Any, **options: Any) -> None:
        self._wire = wire.Wire(
            adapter, exceptions.PlacementClientError, **options
        )

    def headroom(self) -> dict[str, Room]:
        """Capacity and usage by resource class, and traits, by node name.

        ``allocation_candidates`` shows all resource classes of a host,
        but only hosts with room. A host with neither memory nor VCPUs
        left is given a capacity of 0, for its own is not shown: it reads
        as full, not as unknown. Only root providers count: what nested
        or sharing providers have is theirs.

        :raises PlacementClientError: Placement refused or is away
        """
        names = self._compute_nodes()
        found: dict[str, Room] = {}
        for resource in ASKED:
            if len(found) < len(names):
                found.update(self._with_room(resource, names))
        for name in set(names.values()) - set(found):
            found[name] = _no_room()
        return found

    def _compute_nodes(self) -> dict[str, str]:
        """Names of the hosts' root providers by uuid."""
        body = self._wire.get(
            '/resource_providers', MICROVERSION, {'required': COMPUTE_NODE}
        )
        return {
            provider['uuid']: provider['name']
            for provider in body['resource_providers']
            if provider['uuid'] == provider['root_provider_uuid']
        }

    def _with_room(
        self, resource: str, names: dict[str, str]
    ) -> Iterable[tuple[str, Room]]:
        body = self._wire.get(
            '/allocation_candidates',
            MICROVERSION,
            {'resources': f'{resource}:1'},
        )
        for uuid, summary in body['provider_summaries'].items():
            if uuid in names:
                yield names[uuid], _room(summary)


def _room(summary: wire.Json) -> Room:
    headroom = {
        resource: types.Headroom(row['capacity'], row['used'])
        for resource, row in summary['resources'].items()
    }
    return headroom, sorted(summary['traits'])


def _no_room() -> Room:
    return {resource: types.Headroom(0, 0) for resource in FULL}, []
