# SPDX-License-Identifier: Apache-2.0
"""The packing: it empties hosts by filling others.

First fit decreasing: the least loaded host is emptied first, its heaviest
instance is placed first, and each goes to the fullest host that may have
it. An empty host is never filled anew, nor is one that is being emptied.
"""

from collections import Counter

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import BoolArray, Index, IntArray
from kronos.engine.eligibility import in_flight
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import Begun, StopReason

SHOWN_HOSTS = 10
"""Emptied hosts that the reason names one by one."""

Placed = tuple[int, int, int]
"""An instance, its source and its destination."""
Drained = tuple[list[Placed], dict[int, Reason], Reason | None]
"""What leaves a host, the reason of each that stays for now, and why
nothing leaves at all."""


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Empty hosts until none can be emptied, or the budget is used."""
    return Pack(simulation, given).run()


class Pack:
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

    def __init__(self, simulation: Simulation, given: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._settings = given.settings
        self._fixed = given.fixed
        hosts = len(self._utilization.index.hosts)
        self._drained: BoolArray = np.zeros(hosts, dtype=bool)
        """[H]: takes nothing, since it is emptied, or was to be"""
        self._moved: BoolArray = np.zeros(len(simulation.movable), dtype=bool)
        """[V]: moved in this plan, by whichever phase"""
        self._moved[[made.undo.instance for made in simulation.steps]] = True
        self._awaited: BoolArray = np.zeros(hosts, dtype=bool)
        self._awaited[_awaited(given, self._utilization.index)] = True
        self._gone: IntArray = np.zeros(hosts, dtype=np.intp)
        for host, number in _gone(given, self._utilization.index).items():
            self._gone[host] = number
        self._begun: list[Begun] = []
        self._stayed: dict[int, Reason] = {}
        self._is_budget_short = False

    def run(self) -> PhaseResult:
        """Empty hosts until none can be emptied, or the budget is used."""
        start = len(self._simulation.steps)
        order = self.order()
        for host in order:
            if reason := self._why_kept(host) or self._drain(host):
                kept = reason.worded(
                    f'{self._name(host)} is not emptied: {reason}'
                )
                for instance in self._simulation.on(host).tolist():
                    if not self._moved[instance]:
                        self._stayed.setdefault(instance, kept)
        stopped = StopReason.PACKED
        if self._is_budget_short:
            stopped = StopReason.BUDGET
        moves = len(self._simulation.steps) - start
        said = self._reason(order, moves)
        return PhaseResult(
            stopped, said, dict(self._stayed), begun=list(self._begun)
        )

    def order(self) -> list[int]:
        """The hosts to empty, the least loaded first.

        Of a host that is emptied over several audits only the share counts
        of those that are still there, so that no noise in the metrics, and
        no window that still shows what has left, makes the next audit
        begin with another one.
        """
        hosts = np.flatnonzero(self._in_use())
        load = self._utilization.weights @ self._utilization.scores[:, hosts]
        there = self._number()[hosts]
        rest = there / np.maximum(there + self._gone[hosts], 1)
        load = np.where(load > 0.0, load * rest, load)
        found: list[int] = hosts[
            np.argsort(ranking.rounded(load), kind='stable')
        ].tolist()
        return found

    def _in_use(self) -> BoolArray:
        """[H]: the hosts that count and have an instance, or soon will."""
        return (
            (self._number() > 0) | self._awaited
        ) & self._utilization.counts

    def _number(self) -> IntArray:
        """[H]: how many instances are on each host."""
        hosts = len(self._utilization.index.hosts)
        return np.bincount(self._placement.host_of, minlength=hosts)

    def _why_kept(self, host: int) -> Reason | None:
        if self._awaited[host]:
            text = 'an instance is on its way there'
            return Reason(text, Code.PACK_AWAITED)
        in_use = int(self._in_use().sum())
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
        there = np.flatnonzero(np.equal(self._placement.host_of, host))
        hosts = self._in_use() & ~self._drained
        hosts[host] = False
        drain = self._drain_whole
        if self._settings.pack_partial_drains:
            drain = self._drain_some
        moves, stayed, reason = drain(there, hosts)
        if reason:
            return reason
        for instance, _, destination in moves:
            self._simulation.move(instance, destination)
            self._moved[instance] = True
        self._drained[host] = True
        self._stayed |= stayed
        return None

    def _drain_some(self, there: IntArray, hosts: BoolArray) -> Drained:
        with self._placement.trial():
            packing = BinPacking(self._simulation)
            stayed = self._place_some(packing, there, hosts)
            return packing.moves, stayed, self._why_not_safe(packing)

    def _drain_whole(self, there: IntArray, hosts: BoolArray) -> Drained:
        """All of a host, or as many now as the budget allows."""
        if reason := self._why_not_tried(there):
            return [], {}, reason
        order = BinPacking(self._simulation).heaviest_first(there)
        moves, reason = self._place_all(order, hosts)
        left = self._simulation.left
        if reason or len(order) <= left:
            return moves, {}, reason
        now, later = order[: int(left)], order[int(left) :]
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
        budget = _migrations(self._simulation.budget or 0)
        text = (
            f'{begun.told}; it leaves with a later audit, since the budget '
            f'of {budget} is used'
        )
        reason = Reason(text, Code.BUDGET_USED)
        return dict.fromkeys(later.tolist(), reason)

    def _why_not_tried(self, there: IntArray) -> Reason | None:
        """Why a host cannot be emptied whole, known without a trial."""
        for instance in there.tolist():
            uuid = self._uuid(instance)
            if self._moved[instance]:
                text = f'this plan moves its instance {uuid} there'
                return Reason(text, Code.PACK_RECEIVES, uuid)
            if not self._simulation.movable[instance]:
                text = f'its instance {uuid} stays: {self._fixed[uuid]}'
                return Reason(text, Code.PACK_NOT_WHOLE, uuid)
        if self._simulation.left > 0:
            return None
        self._is_budget_short = True
        return Reason(
            f'that takes {_migrations(len(there))}, and the budget of '
            f'{self._simulation.budget} has 0 left',
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
            uuid = self._uuid(stuck)
            text = f'its instance {uuid} has {self._no_destination(stuck)}'
            return packing.moves, Reason(text, Code.PACK_NOT_WHOLE, uuid)

    def _place_some(
        self, packing: BinPacking, there: IntArray, hosts: BoolArray
    ) -> dict[int, Reason]:
        """Place what fits, until the budget is used.

        :returns: of the others the reason
        """
        able = there[self._simulation.movable[there] & ~self._moved[there]]
        stuck, untried = packing.place_some(
            packing.heaviest_first(able), hosts, self._simulation.left
        )
        if untried:
            self._is_budget_short = True
        used = _migrations(self._simulation.budget or 0)
        text = Reason(f'the budget of {used} is used', Code.BUDGET_USED)
        return dict.fromkeys(untried, text) | {
            instance: self._no_destination(instance) for instance in stuck
        }

    def _why_not_safe(self, packing: BinPacking) -> Reason | None:
        """Why the scope could not lose its fullest hosts after a trial.

        All that is on them, fixed instances too, is placed on the others
        that are left in use. What has no profile needs no more there than
        what it asks Placement for.

        :param packing: what leaves the host that is tried
        """
        number = self._settings.headroom_hosts
        if not number:
            return None
        left = self._in_use()
        hosts = np.flatnonzero(left)
        order = np.argsort(
            -ranking.rounded(packing.load[hosts]), kind='stable'
        )
        lost = hosts[order[:number]]
        left[lost] = False
        there = np.flatnonzero(np.isin(self._placement.host_of, lost))
        rules = self._simulation.constraints
        with (
            rules.without_hosts(lost.tolist()) as binding,
            self._placement.trial(),
        ):
            rebuild = BinPacking(self._simulation, binding)
            rebuild.load = packing.load.copy()
            stuck = rebuild.place(rebuild.heaviest_first(there), left)
        if stuck is None:
            return None
        source = int(self._placement.host_of[stuck])
        return Reason(
            f'without {_hosts(len(lost))} of the fullest then left '
            f'(headroom_hosts is {number}), instance {self._uuid(stuck)} of '
            f'{self._name(source)} would have no place',
            Code.PACK_HEADROOM_HOSTS,
        )

    def _no_destination(self, instance: int) -> Reason:
        """Why, with the hosts that no rule forbids and pack still does."""
        return stop_reasons.no_destination(
            self._simulation, instance, 'it is empty, or being emptied'
        )

    def _reason(self, order: list[int], moves: int) -> str:
        left = self._in_use()
        emptied = [self._name(host) for host in order if not left[host]]
        after = f' by {_migrations(moves)}' if moves else ''
        names = f' ({wording.some(emptied, SHOWN_HOSTS)})' if emptied else ''
        text = f'{_hosts(len(emptied))} emptied{after}{names}'
        further = 'no further host can be emptied'
        if self._is_budget_short:
            budget = _migrations(self._simulation.budget or 0)
            further = f'the budget of {budget} is used'
        for begun in self._begun:
            further = f'{begun.told}, and the next audit goes on; {further}'
        number = int(left.sum())
        stay = f'{_hosts(number)} stay{"s" if number == 1 else ""} in use'
        return f'{text}, {stay}; {further}'

    def _name(self, host: int) -> str:
        return self._utilization.index.hosts[host]

    def _uuid(self, instance: int) -> str:
        return self._utilization.index.instances[instance]


def _hosts(number: int) -> str:
    return f'{number} host{"" if number == 1 else "s"}'


def _migrations(number: int) -> str:
    return f'{number} migration{"" if number == 1 else "s"}'


def _awaited(given: PhaseInput, index: Index) -> list[int]:
    """Positions of the hosts to which an instance is on its way.

    By another plan or by hand.
    """
    return [
        index.host[host]
        for hosts in in_flight.destinations(given.snapshot).values()
        for host in hosts
        if host in index.host
    ]


def _gone(given: PhaseInput, index: Index) -> Counter[int]:
    """How many instances left a host lately, by its position.

    Those that the return guard keeps from coming back.
    """
    return Counter(
        index.host[host]
        for uuid, hosts in given.memory.returns.items()
        for host in hosts
        if uuid in index.instance and host in index.host
    )
