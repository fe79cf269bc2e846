# SPDX-License-Identifier: Apache-2.0
"""The instances in flight: on their way already, and where to.

By other plans that were started, or by hand. A plan that is carried out
beside those has to find its rules kept at whichever end they are.
"""

from kronos.engine.types import Origin, Outcome, Snapshot


def destinations(snapshot: Snapshot) -> dict[str, set[str]]:
    """Instance uuid to the hosts that it is to be on soon."""
    by_instance: dict[str, set[str]] = {}
    for event in snapshot.events:
        instance = snapshot.instances.get(event.instance)
        if event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY) and not (
            instance and instance.host == event.destination
        ):
            by_instance.setdefault(event.instance, set()).add(
                event.destination
            )
    return by_instance


def unclaimed(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Instance and host of moves without an allocation in Placement yet.

    Nova claims a destination when the migration begins, so those of which
    only Watcher reports are missing there.
    """
    claimed = {
        (event.instance, event.destination)
        for event in snapshot.events
        if event.outcome is Outcome.UNDER_WAY and event.origin is Origin.NOVA
    }
    return [
        (uuid, host)
        for uuid, hosts in sorted(destinations(snapshot).items())
        if uuid in snapshot.instances
        for host in sorted(hosts & snapshot.hosts.keys())
        if (uuid, host) not in claimed
    ]
