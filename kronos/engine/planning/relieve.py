# SPDX-License-Identifier: Apache-2.0
"""The relief: hosts that are overfull give servers away.

Pack fills hosts up to one limit, ``capacity_threshold``, and relieves those
above another one, ``relief_threshold``. It leaves hosts between the two alone,
so that servers do not move back and forth as load varies. A relieved host
gives as few servers away as bring it below the first limit: the smallest that
alone suffices, else the largest. Each goes to the fullest host in use that
stays below that limit, or to an empty one if there is none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.eligibility import in_flight, young_instances
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing import lost_hosts
from kronos.engine.planning.search.packing.pack_scope import PackScope
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import Snapshot, StopReason
from kronos.policies.models import Policy

SHOWN_HOSTS = 10
"""Relieved hosts that the reason names one by one."""


def is_needed(
    card: Scorecard, policies: Sequence[Policy], settings: Settings
) -> bool:
    """Whether a host that counts is overfull by a policy in use."""
    if settings.extension.phases or not settings.rebalance:
        return False
    return any(
        card.loads[policy.name].get(host, 0.0) > policy.relief_limit + EPSILON
        for policy in policies
        if policy.name in card.values
        for host in card.values[policy.name]
    )


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Relieve hosts until none is overfull, or the budget or places end."""
    return Relief(simulation, inputs).run()


class Relief:
    """The search in one scope; it changes the simulation.

    :param simulation: in phase relieve; its rules hold the capacity ceilings
    """

    def __init__(self, simulation: Simulation, inputs: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._inputs = inputs
        self._scope = PackScope.of(simulation, inputs)
        self._limits = _column(
            policy.relief_limit for policy in inputs.policies
        )
        self._ceilings = _column(
            policy.capacity_threshold for policy in inputs.policies
        )
        index = self._utilization.index
        young = young_instances.of(inputs.snapshot, inputs.settings)
        self._young: BoolArray = np.isin(index.instances, list(young))
        self._usage = np.array(
            [usage for usage, _ in simulation.constraints.ceilings()]
        )
        self._leaving, self._coming = _in_flight(
            simulation, inputs.snapshot, self._usage
        )

    def run(self) -> PhaseResult:
        """Relieve one host after the other, the fullest first."""
        start, overfull = len(self._simulation.steps), self._overfull()
        for host in overfull:
            self._relieve(host)
        moves = len(self._simulation.steps) - start
        staying = [host for host in self._overfull() if host in overfull]
        stayed = {
            instance: self._why_stays(instance, host)
            for host in staying
            for instance in self._simulation.on(host).tolist()
        }
        relieved = [host for host in overfull if host not in staying]
        reason = self._reason(relieved, staying, moves)
        standstill = self._inputs.cooldowns.standstill
        if standstill:
            reason = f'{standstill}; {reason}'
        stopped = StopReason.DONE
        if standstill:
            stopped = StopReason.COOLDOWN
        elif staying and self._simulation.remaining <= 0:
            stopped = StopReason.BUDGET
        return PhaseResult(stopped, reason, stayed)

    def _overfull(self) -> list[int]:
        """The hosts above a limit now, by what they are above it."""
        excess: FloatArray = (self._loads() - self._limits).max(axis=0)
        hosts = np.flatnonzero((excess > EPSILON) & self._utilization.counts)
        order: list[int] = hosts[
            np.argsort(-ranking.rounded(excess[hosts]), kind='stable')
        ].tolist()
        return order

    def _loads(self) -> FloatArray:
        """[P, H]: readings of the hosts without what is on its way away.

        One that is not known is taken for the ceiling.
        """
        free = np.array(
            [free for _, free in self._simulation.constraints.ceilings()]
        )
        loads: FloatArray = (
            self._ceilings - free / self._utilization.capacity - self._leaving
        )
        return loads

    def _relieve(self, host: int) -> None:
        """Take servers off a host until it is below the ceilings."""
        while self._simulation.remaining > 0:
            excess = (self._loads() - self._ceilings)[:, host]
            if not (excess > EPSILON).any():
                return
            instances = self._simulation.on(host)
            is_young = self._young[instances]
            move = self._best(instances[~is_young], host, excess)
            if move is None:
                move = self._best(instances[is_young], host, excess)
            if move is None:
                return
            self._simulation.move(*move)

    def _best(
        self, instances: IntArray, host: int, excess: FloatArray
    ) -> tuple[int, int] | None:
        """The server that helps most with its destination; None for none.

        :param excess: [P], what the host is above each ceiling
        """
        shares = (
            self._usage[:, instances] / self._utilization.capacity[:, [host]]
        )
        needs = np.maximum(excess, 0.0)[:, None]
        helps = np.minimum(shares, needs).sum(axis=0)
        suffices = (shares >= needs - EPSILON).all(axis=0)
        sizes = self._utilization.weights @ shares
        keys = np.where(suffices, sizes, -helps)
        order = np.lexsort((instances, ranking.rounded(keys), ~suffices))
        order = order[helps[order] > EPSILON]
        if not order.size:
            return None
        instances = instances[order]
        allowed = self._simulation.constraints.rows(instances)
        for instance, row in zip(instances.tolist(), allowed, strict=True):
            destination = self._destination(instance, row)
            if destination is not None:
                return instance, destination
        return None

    def _destination(self, instance: int, allowed: BoolArray) -> int | None:
        """The fullest host in use that may take it, else an empty one."""
        used = self._usage[:, [instance]] / self._utilization.capacity
        after = self._loads() + self._leaving + self._coming + used
        allowed = allowed & (after < self._ceilings - EPSILON).all(axis=0)
        in_use = self._scope.in_use()
        weights = self._utilization.weights
        load = weights @ (self._utilization.scores + self._coming)
        for hosts, keys in (
            (in_use & ~self._scope.begun, -load),
            (self._utilization.counts & ~in_use, weights @ used),
        ):
            places = np.flatnonzero(allowed & hosts)
            order = np.argsort(ranking.rounded(keys[places]), kind='stable')
            for host in places[order].tolist():
                if self._is_safe(instance, host):
                    return int(host)
        return None

    def _is_safe(self, instance: int, host: int) -> bool:
        """Whether the scope may lose as many hosts as before."""
        number = self._inputs.settings.headroom_hosts
        if not number:
            return True
        packing = BinPacking(self._simulation)
        if lost_hosts.why_not_safe(self._scope, packing, number):
            return True
        with self._placement.trial():
            packing.put(instance, host)
            return not lost_hosts.why_not_safe(self._scope, packing, number)

    def _why_stays(self, instance: int, host: int) -> Reason:
        if self._simulation.remaining <= 0:
            text = f'{self._standing(host)}; {self._used_up()}'
            return Reason(text, Code.BUDGET_USED)
        why = stop_reasons.no_destination(
            self._simulation,
            instance,
            'it is being emptied, or would be above its capacity_threshold '
            'after the migrations that are under way to it',
        )
        text = f'{self._standing(host)}; {why}'
        return Reason(text, Code.NOT_RELIEVED)

    def _used_up(self) -> str:
        budget = self._simulation.budget or 0
        return f'the {self._simulation.limit(str(budget))} is used'

    def _standing(self, host: int) -> str:
        """``cmp1 is at 0.953 by cpu, above 0.9``"""
        loads = self._loads()[:, host]
        p = int((loads - self._limits[:, 0]).argmax())
        return (
            f'{self._utilization.index.hosts[host]} is at {loads[p]:.3f} by '
            f'{self._utilization.policies[p]}, above '
            f'{self._limits[p, 0]:g}'
        )

    def _reason(
        self, relieved: list[int], staying: list[int], moves: int
    ) -> str:
        names = [self._utilization.index.hosts[host] for host in relieved]
        text = f'{wording.counted(len(relieved), "host")} relieved'
        if moves:
            text += f' by {wording.counted(moves, "migration")}'
        if names:
            text += f' ({wording.some(names, SHOWN_HOSTS)})'
        if not staying:
            return text
        why = 'no other host can take any of its servers'
        if self._simulation.remaining <= 0:
            why = self._used_up()
        more = len(staying) - 1
        others = f' and {more} more' if more else ''
        return f'{text}; {self._standing(staying[0])}{others}: {why}'


def _column(values: Any) -> FloatArray:
    """[P, 1]"""
    column: FloatArray = np.array(list(values), dtype=float)[:, None]
    return column


def _in_flight(
    simulation: Simulation, snapshot: Snapshot, usage: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """[P, H] twice: what is on its way away from hosts, and to them."""
    utilization, host_of = simulation.utilization, simulation.placement.host_of
    index, capacity = utilization.index, utilization.capacity
    leaving, coming = np.zeros(capacity.shape), np.zeros(capacity.shape)
    for uuid, names in in_flight.destinations(snapshot).items():
        if uuid not in index.instance:
            continue
        instance = index.instance[uuid]
        source, used = int(host_of[instance]), usage[:, instance]
        leaving[:, source] += used / capacity[:, source]
        for name in names & index.host.keys():
            host = index.host[name]
            coming[:, host] += used / capacity[:, host]
    return leaving, coming
