# SPDX-License-Identifier: Apache-2.0
"""The repair of server groups whose rule is broken.

Each repair move brings its group one member closer to its rule, so no plan
is longer than needed. Where the host with most members of a group cannot
take the rest, the whole group is gathered on another of its hosts; where none
can, its moves are taken back.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from kronos.engine.planning import group_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.group_moves import (
    BrokenGroup,
    GroupMove,
    Regroup,
    watched,
)
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason

BUDGET_USED = Reason(
    'the budget was used before its server group was repaired',
    Code.GROUP_NOT_REPAIRED,
)
MOVED = Reason('this plan already moves it', Code.PLANNED)


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Repair until all groups keep their rules, or nothing more helps."""
    return Repair(simulation, inputs).run()


class Repair:
    """The repair of one scope; it changes the simulation.

    What could not leave a host that is to be emptied may leave it for its
    group.

    One class, since repairing, gathering and taking back share the steps made
    and the groups that the budget falls short of, or that are given up.

    :param simulation: in phase affinity
    """

    def __init__(self, simulation: Simulation, inputs: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._moves = Regroup(
            simulation,
            inputs.packs,
            inputs.draining,
            inputs.settings.cost_weight,
        )
        self._short: dict[str, group_reasons.Shortfall] = {}
        """By uuid of a group that the budget does not suffice for."""
        self._given_up: dict[str, dict[int, Reason]] = {}
        """By uuid of a group that cannot be brought together: who cannot
        come, by position, and why."""
        self._draining = inputs.draining
        self._fixed = inputs.fixed
        self._start = len(simulation.steps)
        self._for: list[BrokenGroup] = []
        """The group for whose sake each move of this phase was made."""
        self._groups, self._waiting = watched(self._moves, simulation, inputs)
        excess, budget = self._moves.excess, simulation.budget or math.inf
        self._endless = [
            group for group in self._groups if excess(group) > budget
        ]
        """Those that no audit could repair at once."""

    def run(self) -> PhaseResult:
        """Repair until nothing is broken, the budget is used or none helps.

        Every round takes the move that leaves the combined imbalance lowest,
        whichever group it is for, as long as the budget suffices for all.
        """
        self._repair()
        while group := self._half_done():
            self._give_up(group)
            self._repair()
        return self._end(self._broken())

    def _repair(self) -> None:
        self._short = {}
        while (broken := self._hopeful()) and self._simulation.remaining > 0:
            self._short = {}
            if not self._step(broken) and not any(
                self._gather(group) for group in broken if group.is_together
            ):
                break

    def _half_done(self) -> BrokenGroup | None:
        """A group that was begun, and is not going to be whole.

        But for those that the next audits go on with.
        """
        for group in self._hopeful():
            if group.is_together and self._for.count(group):
                hosts = self._moves.ends(group)[1]
                is_used = self._simulation.remaining <= 0
                if not (is_used and group in self._endless) or not any(
                    self._moves.can_meet(group, host) for host in hosts
                ):
                    return group
        return None

    def _give_up(self, group: BrokenGroup) -> None:
        """Take the moves of a group back, so that others may be made.

        Those off hosts that are to be emptied stay, and all of them where
        the moves of other groups are not legal without them.
        """
        is_stuck = self._simulation.remaining > 0
        why = self._why_left(group) if is_stuck else {}
        hosts = self._moves.ends(group)[1]
        moves = self._unwind(self._start)
        others = [
            move
            for move in moves
            if move.group is not group
            or self._draining[self._placement.host_of[move.instance]]
        ]
        if not self._replay(others):
            self._unwind(self._start)
            for move in moves:
                self._make(move)
        if hosts and group in self._endless and not is_stuck:
            why = group_reasons.why_not_whole(
                self._simulation, group, hosts[0], self._fixed
            )
        self._given_up[group.server_group.uuid] = {
            member: reason
            for member, reason in why.items()
            if reason is not MOVED
        }

    def _hopeful(self) -> list[BrokenGroup]:
        """The broken groups that are not given up."""
        return [
            group
            for group in self._broken()
            if group.server_group.uuid not in self._given_up
        ]

    def helpful_hosts(self, instance: int) -> dict[int, str]:
        """Where a move of an instance brings a group closer to its rule now.

        :returns: hosts to the uuid of the group, the first of several
        """
        return self._ends(instance, self._broken())

    def waiting(self, instance: int) -> dict[int, str]:
        """The same for groups that have a member on its way."""
        return self._ends(instance, self._waiting)

    def _ends(
        self, instance: int, broken: Sequence[BrokenGroup]
    ) -> dict[int, str]:
        uuids: dict[int, str] = {}
        for group in broken:
            if instance in group.members:
                members, hosts = self._moves.ends(group)
                if instance in members:
                    for host in hosts:
                        uuids.setdefault(host, group.server_group.uuid)
        return uuids

    def _broken(self) -> list[BrokenGroup]:
        return [group for group in self._groups if self._moves.excess(group)]

    def _step(self, broken: Sequence[BrokenGroup]) -> bool:
        """Make the best move that brings a group closer to its rule.

        Where the budget does not suffice for all, those come first that need
        the fewest, so that as many as can be are repaired.
        """
        legal, ends = self._moves.legal, self._moves.ends
        needed = [self._moves.excess(group) for group in broken]
        limits = [max(needed)]
        if sum(needed) > self._simulation.remaining:
            limits = sorted(set(needed))
        return any(
            self._make_best(
                [
                    move
                    for group, moves in zip(broken, needed, strict=True)
                    if moves == limit or len(limits) == 1
                    if self._may_end(group)
                    for move in legal(group, *ends(group))
                ]
            )
            for limit in limits
        )

    def _may_end(self, group: BrokenGroup) -> bool:
        """Whether it is of use to begin with a group.

        One half together is none, so the budget is left to others, unless no
        budget would do.
        """
        if not group.is_together or group in self._endless:
            return True
        return self._moves.excess(group) <= self._simulation.remaining

    def _note_shortfall(self, group: BrokenGroup) -> None:
        """Note that a group was left, whatever else may forbid it."""
        _, hosts = self._moves.ends(group)
        if hosts and not self._may_end(group):
            shortfall = group_reasons.Shortfall(
                self._utilization.index.hosts[hosts[0]],
                self._moves.excess(group),
                int(self._simulation.remaining),
            )
            self._short.setdefault(group.server_group.uuid, shortfall)

    def _make_best(self, moves: list[GroupMove]) -> bool:
        if moves:
            self._make(self._moves.best(moves))
        return bool(moves)

    def _make(self, move: GroupMove) -> None:
        self._simulation.move(move.instance, move.destination)
        self._for.append(move.group)

    def _gather(self, group: BrokenGroup) -> bool:
        """Bring a group that is stuck together on another of its hosts.

        Its moves so far are made undone for that. Whole and within the
        budget, or all stays as it is.
        """
        before = sum(map(self._moves.excess, self._groups))
        moves = self._unwind(self._start)
        if self._replay([move for move in moves if move.group is not group]):
            start = len(self._simulation.steps)
            on = self._moves.on(group)
            for host in sorted(on, key=lambda host: (-on[host], host)):
                if not self._is_worth_trying(group, on, host):
                    continue
                closer = self._gather_on(group, host) and before > sum(
                    map(self._moves.excess, self._groups)
                )
                if closer:
                    return True
                self._unwind(start)
        self._unwind(self._start)
        for move in moves:
            self._make(move)
        return False

    def _is_worth_trying(
        self, group: BrokenGroup, on: Mapping[int, int], host: int
    ) -> bool:
        """Whether a group may be gathered on a host, by its counts.

        Where only the budget is too small, that is noted: of the hosts on
        which the fewest moves would do, the first.
        """
        moves, budget = sum(on.values()) - on[host], self._simulation.remaining
        short = self._short.get(group.server_group.uuid)
        if moves > budget and short is not None and short.moves <= moves:
            return False
        if not self._moves.can_meet(group, host):
            return False
        if moves <= budget:
            return True
        name = self._utilization.index.hosts[host]
        self._short[group.server_group.uuid] = group_reasons.Shortfall(
            name, moves, int(budget)
        )
        return False

    def _gather_on(self, group: BrokenGroup, host: int) -> bool:
        """Move all other members to a host; False if that cannot be."""
        while others := [
            member
            for member in group.members
            if self._placement.host_of[member] != host
        ]:
            if not self._make_best(self._moves.legal(group, others, [host])):
                return False
        return True

    def _unwind(self, start: int) -> list[GroupMove]:
        """Take moves of this phase back.

        :param start: how many moves of the simulation are to stay
        :returns: these, in order
        """
        steps = self._simulation.steps[start:]
        own = self._for[start - self._start :]
        for _ in steps:
            self._simulation.take_back()
        del self._for[start - self._start :]
        return [
            GroupMove(move.undo.instance, move.undo.destination, group)
            for move, group in zip(steps, own, strict=True)
        ]

    def _replay(self, moves: Iterable[GroupMove]) -> bool:
        """Make moves again, as long as each is legal."""
        return all(
            self._make_best(
                self._moves.legal(
                    move.group, [move.instance], [move.destination]
                )
            )
            for move in moves
        )

    def _end(self, broken: list[BrokenGroup]) -> PhaseResult:
        """How it ended, and why what is left is left."""
        for group in broken if self._simulation.remaining > 0 else ():
            if not self._given_up.get(group.server_group.uuid):
                self._note_shortfall(group)
        moves = len(self._simulation.steps) - self._start
        stopped = StopReason.DONE
        if broken:
            used = self._simulation.remaining <= 0 or self._short
            stopped = StopReason.BUDGET if used else StopReason.STUCK
        end = PhaseResult(
            stopped,
            group_reasons.summary(
                stopped,
                len(self._groups),
                len(broken),
                len(self._waiting),
                moves,
                self._simulation.budget,
                int(self._simulation.remaining) if self._short else 0,
            ),
        )
        for group in broken:
            self._tell(group, end)
        on = self._moves.on
        end.warnings += [
            group_reasons.waiting(group, on(group), self._utilization)
            for group in self._waiting
        ]
        return end

    def _tell(self, group: BrokenGroup, end: PhaseResult) -> None:
        """Add to the end of the phase why a group was left."""
        why = self._why_left(group)
        end.stayed |= {
            member: reason
            for member, reason in why.items()
            if self._simulation.movable[member]
        }
        on, uuid = self._moves.on(group), group.server_group.uuid
        given_up = self._given_up.get(uuid)
        if short := self._short.get(uuid):
            end.warnings.append(
                f'{group_reasons.described(group, on, self._utilization)}: '
                f'{short.reason}'
            )
        elif self._simulation.remaining > 0 or given_up:
            why = given_up or why
            end.warnings.append(
                group_reasons.unrepaired(group, on, self._utilization, why)
            )
        elif group.is_together and (moves := self._for.count(group)):
            text = group_reasons.described(group, on, self._utilization)
            whole = moves + self._moves.excess(group)
            end.warnings.append(group_reasons.first_part(text, moves, whole))

    def _why_left(self, group: BrokenGroup) -> dict[int, Reason]:
        """Why each offending member of a group was left, by position."""
        if short := self._short.get(group.server_group.uuid):
            return dict.fromkeys(group.members, short.reason)
        if stuck := self._given_up.get(group.server_group.uuid):
            whole = group_reasons.whole_or_not(self._utilization.index, stuck)
            return dict.fromkeys(group.members, whole) | stuck
        names = self._utilization.index.instances
        used = self._simulation.remaining <= 0
        members, hosts = self._moves.ends(group)
        moved = {step.undo.instance for step in self._simulation.steps}
        reasons = {}
        for member in members:
            if hosts == [self._placement.host_of[member]]:
                continue
            if self._simulation.movable[member]:
                reasons[member] = (
                    BUDGET_USED
                    if used
                    else group_reasons.why_refused(
                        self._simulation, group, member, hosts
                    )
                )
            elif member in moved:
                reasons[member] = MOVED
            else:
                reasons[member] = self._fixed.get(
                    names[member], group_reasons.UNMOVABLE
                )
        return reasons
