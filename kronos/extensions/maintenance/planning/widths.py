# SPDX-License-Identifier: Apache-2.0
"""The width of a run: how many hosts can ever be unavailable at once."""

from collections.abc import Mapping, Sequence

from kronos.engine.types import Headroom, Snapshot

KINDS = ('VCPU', 'MEMORY_MB')
APART = 'anti-affinity'


def widest(snapshot: Snapshot) -> int:
    """The most hosts that can be unavailable while the others have room.

    A bound: the servers of a scope fit onto fewer hosts at best, with those
    of most capacity open, and the members of a group on as many hosts. What
    Placement does not know of a host limits nothing.
    """
    hosts = len(snapshot.hosts)
    rooms = [host.headroom or {} for host in snapshot.hosts.values()]
    bounds = [hosts - 1, *(_of_kind(kind, rooms) for kind in KINDS)]
    for group in snapshot.groups:
        if group.policy == APART:
            members = sum(uuid in snapshot.instances for uuid in group.members)
            bounds.append(hosts - -(-members // group.max_server_per_host))
    return max(0, min(bounds))


def _of_kind(kind: str, rooms: Sequence[Mapping[str, Headroom]]) -> int:
    """As many hosts as can be unavailable for one class of resources."""
    rows = [room[kind] for room in rooms if kind in room]
    if len(rows) < len(rooms):
        return len(rooms)
    need = sum(row.used for row in rows)
    spare = sum(row.capacity for row in rows)
    for number, capacity in enumerate(sorted(row.capacity for row in rows)):
        spare -= capacity
        if spare < need:
            return number
    return len(rooms)
