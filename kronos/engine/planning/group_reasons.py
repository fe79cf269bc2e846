# SPDX-License-Identifier: Apache-2.0
"""The reasons of a repair: which groups are broken, and why they stay so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine import server_groups
from kronos.engine.arrays import Index
from kronos.engine.planning.search.group_moves import BrokenGroup
from kronos.engine.planning.stop_reasons import no_destination
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import StopReason

NAMED_MEMBERS = 3
"""So many members of a group are explained in a warning."""
UNMOVABLE = Reason('it may not be moved', Code.INSTANCE_UNMOVABLE)


@dataclass
class Shortfall:
    """A group that could be gathered, had the budget more moves left."""

    host: str
    moves: int
    budget: int

    @property
    def reason(self) -> Reason:
        return Reason(
            f'bringing its server group together on {self.host} takes '
            f'{_counted(self.moves, "migration")}, and the budget has '
            f'{self.budget} left',
            Code.GROUP_NOT_REPAIRED,
        )


def described(
    group: BrokenGroup, on: Mapping[int, int], utilization: Utilization
) -> str:
    """``anti-affinity group db: 2 members on cmp1``."""
    names = utilization.index.hosts
    return server_groups.describe(
        group.server_group,
        {names[host]: number for host, number in on.items()},
    )


def summary(
    stopped: StopReason,
    broken: int,
    remaining: int,
    waiting: int,
    moves: int,
    budget: int | None,
    unused: int,
) -> str:
    """How the repair ended, with its numbers.

    :param broken: groups to repair at the start; ``remaining``: at the end
    :param waiting: other broken groups, of which a member is on its way
    :param unused: what is left of the budget, too little for any of them
    """
    text = _summary(stopped, broken, remaining, moves, budget, unused)
    if not waiting:
        return text
    wait = (
        f'{_counted(waiting, "broken server group")} not repaired yet: a '
        'migration of a member has not finished'
    )
    return f'{text}; {wait}' if broken else wait


def _summary(
    stopped: StopReason,
    broken: int,
    remaining: int,
    moves: int,
    budget: int | None,
    unused: int,
) -> str:
    by = f'by {_counted(moves, "migration")}'
    if not broken:
        return 'no server group is broken'
    if stopped is StopReason.DONE:
        return f'{_counted(broken, "server group")} repaired {by}'
    text = 'no further legal migration repairs a server group'
    if stopped is StopReason.BUDGET:
        text = f'the budget of {_counted(budget or 0, "migration")} is used'
        if unused:
            text = (
                f'{unused} left of the budget of '
                f'{_counted(budget or 0, "migration")}, which is too few for '
                'another server group'
            )
        elif not budget:
            text = 'no migration is left in the budget'
    return (
        f'{text}; {broken - remaining} of '
        f'{_counted(broken, "broken server group")} repaired, '
        f'{_counted(moves, "migration")} planned for them'
    )


def unrepaired(
    group: BrokenGroup,
    on: Mapping[int, int],
    utilization: Utilization,
    reasons: Mapping[int, Reason],
) -> str:
    """The warning about a group that no legal move helps."""
    some = list(reasons.items())
    texts = [
        f'{utilization.index.server(member)}: {reason}'
        for member, reason in some[:NAMED_MEMBERS]
    ]
    if len(some) > NAMED_MEMBERS:
        texts.append(f'and {len(some) - NAMED_MEMBERS} more')
    return (
        f'{described(group, on, utilization)} cannot be repaired: '
        + '; '.join(texts)
    )


def whole_or_not(index: Index, stuck: Mapping[int, Reason]) -> Reason:
    """Why the others of a group stay, too.

    :param stuck: who cannot come, by position, and why
    """
    first = min(stuck)
    return Reason(
        'its server group can only be brought together as a whole, and '
        f'{index.server(first)} cannot move there: {stuck[first]}',
        Code.GROUP_NOT_REPAIRED,
    )


def why_not_whole(
    simulation: Simulation,
    group: BrokenGroup,
    host: int,
    fixed: Mapping[str, Reason],
) -> dict[int, Reason]:
    """Why a group cannot be brought together on a host, whatever the budget.

    :param fixed: instance uuid to the reason why it may not be moved
    :returns: by position of members; of the first one if there is no room
        for all
    """
    rules, index = simulation.constraints, simulation.utilization.index
    away = [
        m for m in group.members if simulation.placement.host_of[m] != host
    ]
    reasons: dict[int, Reason] = {}
    with rules.repairing(group.server_group.uuid):
        allowed = rules.column(host)
        for member in away:
            if not simulation.movable[member]:
                name = index.instances[member]
                reasons[member] = fixed.get(name, UNMOVABLE)
            elif not allowed[member]:
                why = rules.why_not(member, host)
                text = f'{index.hosts[host]}: {why}'
                reasons[member] = Reason(text, Code.GROUP_NOT_REPAIRED)
    text = f'{index.hosts[host]} has no room for all {len(group.members)}'
    return reasons or {away[0]: Reason(text, Code.GROUP_NOT_REPAIRED)}


def first_part(group: str, moves: int, whole: int) -> str:
    """The warning about a group that takes more than one audit.

    :param group: described
    :param whole: moves that bring it together
    """
    return (
        f'{group} after this plan: it makes {moves} of the {whole} migrations '
        'that bring the group together; later audits make the others'
    )


def waiting(
    group: BrokenGroup, on: Mapping[int, int], utilization: Utilization
) -> str:
    """The warning about a group that is left until a migration has ended."""
    return (
        f'{described(group, on, utilization)} is not repaired yet: a '
        'migration of a member has not finished'
    )


def why_refused(
    simulation: Simulation,
    group: BrokenGroup,
    member: int,
    hosts: Sequence[int],
) -> Reason:
    """Why no move of a member helps, host by host or in numbers.

    :param hosts: where it would have to go
    """
    rules, names = simulation.constraints, simulation.utilization.index.hosts
    others = [
        host for host in hosts if host != simulation.placement.host_of[member]
    ]
    with rules.repairing(group.server_group.uuid):
        mask = rules.rows(np.array([member]))[0]
        legal = [host for host in others if mask[host]]
        reasons = {
            host: rules.why_not(member, host)
            for host in others[:NAMED_MEMBERS]
            if not legal
        }
        every = no_destination(simulation, member)
    if legal:
        some = ', '.join(names[host] for host in legal[:NAMED_MEMBERS])
        return Reason(
            f'{_counted(len(legal), "legal destination")} ({some}), but none '
            'brings the group closer to its rule without worsening a policy '
            'that would then be over its threshold',
            Code.GROUP_NOT_REPAIRED,
        )
    if not group.is_together or not reasons:
        return every
    return every.worded(
        '; '.join(f'{names[host]}: {why}' for host, why in reasons.items())
    )


def _counted(number: int, what: str) -> str:
    return f'{number} {what}{"" if number == 1 else "s"}'
