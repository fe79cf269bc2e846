# SPDX-License-Identifier: Apache-2.0
"""The outcome of a cell drain: what each step is, and what stays."""

from kronos.engine.cell_drain import CellDrain, CellMove, CellOutcome
from kronos.engine.constraints import availability_zone
from kronos.engine.eligibility import flavors
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
    there = [
        uuid
        for uuid, one in sorted(snapshot.instances.items())
        if snapshot.hosts[one.host].cell == drain.source
    ]
    result.cell = CellOutcome(
        source=drain.source,
        targets=list(drain.targets),
        servers_before=len(there),
        servers_after=len(there) - len(result.steps),
        confirm=drain.confirm,
        staying=[
            uuid
            for uuid in there
            if uuid in result.stayed
            and result.stayed[uuid].code is not Code.BUDGET_USED
        ],
        may_be_here=list(snapshot.offloaded),
    )
    if drain.close_source and result.steps:
        result.closings = _closings(snapshot, drain)


def _move(
    uuid: str, destination: str, snapshot: Snapshot, drain: CellDrain
) -> CellMove:
    one = snapshot.instances[uuid]
    new = drain.new_flavor(one.flavor) or one.flavor
    is_new = flavors.is_changed(one, drain)
    return CellMove(
        source_cell=drain.source,
        destination_cell=snapshot.hosts[destination].cell,
        source_flavor=one.flavor,
        destination_flavor=new,
        destination_flavor_id=snapshot.flavors[new].id if is_new else '',
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
        if host.cell == drain.source
        and name in services
        and services[name].is_available
    ]
