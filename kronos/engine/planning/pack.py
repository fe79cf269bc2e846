# SPDX-License-Identifier: Apache-2.0
"""The packing: it empties hosts by filling others.

First fit decreasing: the least loaded host is emptied first, its heaviest
instance is placed first, and each goes to the fullest host that may have
it. An empty host is never filled anew, nor is one that is being emptied.
"""

from dataclasses import replace

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.proof import emptied_hosts
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing import lost_hosts
from kronos.engine.planning.search.packing.emptying import Placed
from kronos.engine.planning.search.packing.host_sets import HostSets
from kronos.engine.planning.search.packing.pack_scope import PackScope
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import Begun, StopReason

SHOWN_HOSTS = 10
"""Emptied hosts that the reason names one by one."""

Drained = tuple[list[Placed], dict[int, Reason], Reason | None]
"""What leaves a host, the reason of each that stays for now, and why
nothing leaves at all."""


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Empty hosts until none can be emptied, or the budget is used."""
    return Consolidation(simulation, inputs).run()


class Consolidation:
    """The search in one scope; it changes the simulation.

    By default only hosts are begun with that can be emptied whole, so that
    budgets end in empty hosts. One for which the budget is too small is
    emptied over several audits; the next goes on with it, since what left
    it lately counts (:meth:`order`). With ``pack_partial_drains`` each
    instance that fits moves until the budget is used. A host that is left
    half-drained takes nothing in either case.

    One round over the hosts is all: every move leaves less room on the
    hosts that may take something, so what did not fit never fits later.

    One class, since each drain depends on what the drains before it emptied,
    filled and used of the budget.

    :param simulation: in phase pack; its rules hold the capacity ceilings and
        its movable instances are on hosts that count
    """

    def __init__(self, simulation: Simulation, inputs: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._settings = inputs.settings
        self._fixed = inputs.fixed
        self.scope = PackScope.of(simulation, inputs)
        """The hosts that may be emptied."""
        self._is_greedy = inputs.settings.search == SearchName.GREEDY
        hosts = len(self._utilization.index.hosts)
        self._drained: BoolArray = np.zeros(hosts, dtype=bool)
        """[H]: takes nothing, since it is emptied, or was to be"""
        if not self._is_greedy:
            self._drained |= self.scope.begun
        self._moved: BoolArray = np.zeros(len(simulation.movable), dtype=bool)
        """[V]: moved in this plan, by whichever phase"""
        self._moved[[step.undo.instance for step in simulation.steps]] = True
        self._begun: list[Begun] = []
        self._stayed: dict[int, Reason] = {}
        self._is_budget_short = False

    def run(self) -> PhaseResult:
        """Empty hosts until none can be emptied, or the budget is used."""
        start, order = len(self._simulation.steps), self.order()
        bound = emptied_hosts.bound(self.scope)
        if not self._is_greedy:
            self._go_on()
            self._empty_together(bound.at_most)
        self._empty_in_turn(self.order())
        in_use = self.scope.in_use()
        emptied = [host for host in order if not in_use[host]]
        moves = len(self._simulation.steps) - start
        return PhaseResult(
            StopReason.BUDGET if self._is_budget_short else StopReason.PACKED,
            self._reason(emptied, moves),
            dict(self._stayed),
            begun=list(self._begun),
            packing=replace(bound, emptied=len(emptied)),
        )

    def _go_on(self) -> None:
        """Empty first what an earlier plan has begun with."""
        begun = self.scope.begun
        self._empty_in_turn([host for host in self.order() if begun[host]])

    def _empty_together(self, most: int) -> None:
        """Empty the hosts that a search has chosen."""
        search = HostSets(
            self.scope, most, lambda packing: not self._why_not_safe(packing)
        )
        emptying = search.best()
        for instance, _, destination in emptying.moves:
            self._move(instance, destination)
        self._drained[emptying.hosts] = True

    def _empty_in_turn(self, order: list[int]) -> None:
        """Try each host, and remember why one keeps what is on it."""
        for host in order:
            if reason := self._why_kept(host) or self._drain(host):
                sentence = reason.worded(
                    f'{self._name(host)} is not emptied: {reason}'
                )
                for instance in self._simulation.on(host).tolist():
                    if not self._moved[instance]:
                        self._stayed[instance] = sentence

    def order(self) -> list[int]:
        """The hosts to empty, in the order in which they are tried.

        Those that are in use now: the least loaded first.
        Of a host that is emptied over several audits only the share counts
        of those that are still there, so that no noise in the metrics, and
        no window that still shows what has left, makes the next audit
        begin with another one. But for the greedy search those come first,
        then those with the fewest instances.
        """
        hosts = np.flatnonzero(self.scope.in_use())
        load = self._utilization.weights @ self._utilization.scores[:, hosts]
        numbers = self.scope.number()[hosts]
        rest = numbers / np.maximum(numbers + self.scope.gone[hosts], 1)
        load = np.where(load > 0.0, load * rest, load)
        keys: list[FloatArray | IntArray | BoolArray]
        keys = [ranking.rounded(load)]
        if not self._is_greedy:
            keys += [numbers, ~self.scope.begun[hosts]]
        order: list[int] = hosts[np.lexsort(keys)].tolist()
        return order

    def _why_kept(self, host: int) -> Reason | None:
        if self.scope.awaited[host]:
            text = 'an instance is migrating to it'
            return Reason(text, Code.PACK_AWAITED)
        in_use = int(self.scope.in_use().sum())
        if in_use > self._settings.keep_hosts:
            return None
        return Reason(
            f'{_hosts(in_use)} in use, keep_hosts is '
            f'{self._settings.keep_hosts}',
            Code.PACK_KEEP_HOSTS,
        )

    def _drain(self, host: int) -> Reason | None:
        """Plan what leaves a host.

        :returns: why nothing does; what a partial drain leaves has its
            reasons in ``_stayed``
        """
        instances = np.flatnonzero(np.equal(self._placement.host_of, host))
        hosts = self.scope.in_use() & ~self._drained
        hosts[host] = False
        drain = self._drain_whole
        if self._settings.pack_partial_drains:
            drain = self._drain_some
        moves, stayed, reason = drain(instances, hosts)
        if reason:
            return reason
        for instance, _, destination in moves:
            self._move(instance, destination)
        self._drained[host] = True
        self._stayed |= stayed
        return None

    def _move(self, instance: int, destination: int) -> None:
        self._simulation.move(instance, destination)
        self._moved[instance] = True

    def _drain_some(self, instances: IntArray, hosts: BoolArray) -> Drained:
        with self._placement.trial():
            packing = BinPacking(self._simulation)
            stayed = self._place_some(packing, instances, hosts)
            return packing.moves, stayed, self._why_not_safe(packing)

    def _drain_whole(self, instances: IntArray, hosts: BoolArray) -> Drained:
        """All of a host, or as many now as the budget allows."""
        if reason := self._why_not_tried(instances):
            return [], {}, reason
        order = BinPacking(self._simulation).heaviest_first(instances)
        moves, reason = self._place_all(order, hosts)
        budget = self._simulation.remaining
        if reason or len(order) <= budget:
            return moves, {}, reason
        now, later = order[: int(budget)], order[int(budget) :]
        # Half-way, too, it has to be safe.
        moves, reason = self._place_all(now, hosts)
        if reason:
            return [], {}, reason
        return moves, self._begin(len(order), later), None

    def _begin(self, number: int, later: IntArray) -> dict[int, Reason]:
        """Note that a host is emptied over several audits.

        :param number: of its instances, of which some leave later
        :returns: the reason of these
        """
        self._is_budget_short = True
        host = int(self._placement.host_of[later[0]])
        begun = Begun(self._name(host), number, number - len(later))
        self._begun.append(begun)
        text = (
            f'{begun.text}; it leaves with a later audit, because '
            f'{self._used_up()}'
        )
        reason = Reason(text, Code.BUDGET_USED)
        return dict.fromkeys(later.tolist(), reason)

    def _why_not_tried(self, instances: IntArray) -> Reason | None:
        """Why a host cannot be emptied whole, known without a trial."""
        for instance in instances.tolist():
            uuid = self._uuid(instance)
            if self._moved[instance]:
                name = self._utilization.index.server(instance)
                text = f'this plan moves instance {name} there'
                return Reason(text, Code.PACK_RECEIVES, uuid)
            if not self._simulation.movable[instance]:
                name = self._utilization.index.server(instance)
                text = f'its instance {name} stays: {self._fixed[uuid]}'
                return Reason(text, Code.PACK_NOT_WHOLE, uuid)
        if self._simulation.remaining > 0:
            return None
        self._is_budget_short = True
        return Reason(
            f'that takes {_migrations(len(instances))}, and the '
            f'{self._simulation.limit(str(self._simulation.budget))} has 0 '
            'left',
            Code.BUDGET_USED,
        )

    def _place_all(
        self, order: IntArray, hosts: BoolArray
    ) -> tuple[list[Placed], Reason | None]:
        """Where they would go; and why not, where one finds no place."""
        with self._placement.trial():
            packing = BinPacking(self._simulation)
            stuck = packing.place(order, hosts)
            if stuck is None:
                return packing.moves, self._why_not_safe(packing)
            name = self._utilization.index.server(stuck)
            text = f'its instance {name} has {self._no_destination(stuck)}'
            return packing.moves, Reason(
                text, Code.PACK_NOT_WHOLE, self._uuid(stuck)
            )

    def _place_some(
        self, packing: BinPacking, instances: IntArray, hosts: BoolArray
    ) -> dict[int, Reason]:
        """Place what fits, until the budget is used.

        :returns: of the others the reason
        """
        able = instances[
            self._simulation.movable[instances] & ~self._moved[instances]
        ]
        stuck, untried = packing.place_some(
            packing.heaviest_first(able), hosts, self._simulation.remaining
        )
        if untried:
            self._is_budget_short = True
        text = Reason(self._used_up(), Code.BUDGET_USED)
        return dict.fromkeys(untried, text) | {
            instance: self._no_destination(instance) for instance in stuck
        }

    def _why_not_safe(self, packing: BinPacking) -> Reason | None:
        """Why the scope could not lose its fullest hosts after a trial."""
        number = self._settings.headroom_hosts
        return lost_hosts.why_not_safe(self.scope, packing, number)

    def _no_destination(self, instance: int) -> Reason:
        """Why, with the hosts that no rule forbids and pack still does."""
        return stop_reasons.no_destination(
            self._simulation, instance, 'it is empty, or being emptied'
        )

    def _reason(self, emptied: list[int], moves: int) -> str:
        after = f' by {_migrations(moves)}' if moves else ''
        named = [self._name(host) for host in emptied]
        names = f' ({wording.some(named, SHOWN_HOSTS)})' if named else ''
        text = f'{_hosts(len(emptied))} emptied{after}{names}'
        further = 'no further host can be emptied'
        if self._is_budget_short:
            further = self._used_up()
        for begun in self._begun:
            further = f'{begun.text}, and the next audit goes on; {further}'
        number = int(self.scope.in_use().sum())
        stay = f'{_hosts(number)} stay{"s" if number == 1 else ""} in use'
        return f'{text}, {stay}; {further}'

    def _used_up(self) -> str:
        budget = _migrations(self._simulation.budget or 0)
        return f'the {self._simulation.limit(budget)} is used'

    def _name(self, host: int) -> str:
        return self._utilization.index.hosts[host]

    def _uuid(self, instance: int) -> str:
        return self._utilization.index.instances[instance]


def _hosts(number: int) -> str:
    return wording.counted(number, 'host')


def _migrations(number: int) -> str:
    return wording.counted(number, 'migration')
