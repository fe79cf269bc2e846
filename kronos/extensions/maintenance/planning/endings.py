# SPDX-License-Identifier: Apache-2.0
"""The ending of a search: what a run closes, and why each server stays."""

from collections.abc import Mapping, Sequence

import numpy as np

from kronos.engine import wording
from kronos.engine.reasons import Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.outcome import Waves

NO_ROOM = 'the hosts have too little room to empty any of them'


def ended(
    simulation: Simulation,
    states: Mapping[str, HostState],
    waves: Waves,
    run: str,
) -> PhaseResult:
    """The result of the phase that empties hosts.

    :param states: of the hosts of the run, before the plan
    :param run: its name
    """
    hosts = simulation.utilization.index.hosts
    stayed = {}
    for instance in np.flatnonzero(simulation.movable).tolist():
        host = hosts[int(simulation.placement.host_of[instance])]
        stayed[instance] = why_stays(host, states.get(host), run)
    parts = []
    if waves.closing:
        parts.append(f'closes {wording.some(waves.closing)}')
    if waves.waits:
        parts.append(waves.waits)
    reason = '; '.join(parts) or 'the run closes no further host'
    return PhaseResult(
        StopReason.DONE,
        reason,
        stayed,
        [f'host {name}: {why}' for name, why in waves.blocked.items()],
        beside={maintenance.NAME: waves},
    )


def why_stays(host: str, row: HostState | None, run: str) -> Reason:
    """Why a server stays that could move.

    :param row: the state of its host; None: the host is not of the run
    """
    if row is None or row.state is State.DONE:
        return Reason(f'{host} is not emptied', MaintenanceCode.HOST_NOT_TO_DO)
    if row.state in (State.EMPTYING, State.OCCUPIED, State.LATE):
        return Reason(
            f'no host that is done has room for it; {host} is being emptied',
            MaintenanceCode.NO_ROOM_YET,
        )
    return Reason(
        f'{host} is emptied later in run {run}', MaintenanceCode.HOST_WAITS
    )


def why_none(waves: Waves) -> str:
    """Why no host of the run can be emptied."""
    if not waves.blocked:
        return NO_ROOM
    host, why = min(waves.blocked.items())
    others = len(waves.blocked) - 1
    more = f', and {others} more' if others else ''
    return f'{host} cannot be emptied ({why}){more}'


def late(hosts: Sequence[str]) -> str:
    """Why no further host is closed where too many are late."""
    return f'{wording.some(hosts)} {"is" if len(hosts) == 1 else "are"} late'


def busy(host: str) -> str:
    """Why a host is not closed from or to which servers are on their way."""
    return f'servers are on their way from or to {host}'


def full(closed: int, gone: Sequence[str], at_once: int) -> str:
    """Why no further host is closed where too many are unavailable.

    :param closed: hosts of the scope that cannot take servers
    :param gone: hosts of the run that have left the scope
    """
    parts = []
    if closed:
        counted = wording.counted(closed, 'host')
        parts.append(f'{counted} of the scope cannot take servers')
    if gone:
        verb = 'has' if len(gone) == 1 else 'have'
        parts.append(f'{wording.some(gone)} {verb} left the scope')
    return f'{", ".join(parts)}, and at_once is {at_once}'


def too_wide(at_once: int, widest: int) -> str:
    """Why a run does not begin that can never be so wide."""
    if not widest:
        return NO_ROOM
    return (
        f'at_once is {at_once}, but the other hosts have room for the servers '
        f'of the scope only while at most {wording.counted(widest, "host")} '
        f'cannot take servers; set at_once to {widest} or less'
    )
