# SPDX-License-Identifier: Apache-2.0
"""The outcome of a cell drain: what each step is, and what stays."""

from kronos.engine.cell_drain import CellDrain, CellMove, CellOutcome
from kronos.engine.constraints import availability_zone
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import AggregateResult, Closing, Snapshot


def note(
    result: AggregateResult, snapshot: Snapshot, drain: CellDrain | None
) -> None:
    """Add to a result what is only of a cell drain; nothing if it is none."""
    if drain is None:
        return
    for step in result.steps:
        step.cell_move = _move(
            step.instance, step.destination, snapshot, drain
        )
    there = sum(
        snapshot.hosts[one.host].cell == drain.source
        for one in snapshot.instances.values()
    )
    result.cell = CellOutcome(
        source=drain.source,
        targets=list(drain.targets),
        servers_before=there,
        servers_after=there - len(result.steps),
        may_be_here=list(snapshot.offloaded),
    )
    if drain.close_source and result.steps:
        result.closings = _closings(snapshot, drain)


def _move(
    uuid: str, destination: str, snapshot: Snapshot, drain: CellDrain
) -> CellMove:
    one = snapshot.instances[uuid]
    return CellMove(
        source_cell=drain.source,
        destination_cell=snapshot.hosts[destination].cell,
        source_flavor=one.flavor,
        destination_flavor=drain.new_flavor(one.flavor) or one.flavor,
        source_zone=availability_zone.zone_of(snapshot, one.host),
        destination_zone=availability_zone.zone_of(snapshot, destination),
        unpins=one.pinned_availability_zone is not None,
    )


def _closings(snapshot: Snapshot, drain: CellDrain) -> list[Closing]:
    """Its hosts that take servers still."""
    services = snapshot.services or {}
    why = Reason(f'cell {drain.source} is being emptied', Code.HOST_DRAINED)
    return [
        Closing(name, why)
        for name, host in sorted(snapshot.hosts.items())
        if host.cell == drain.source and services[name].is_available
    ]
