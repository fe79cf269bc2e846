# SPDX-License-Identifier: Apache-2.0
"""The reasons of a drain: how it ended, what stays, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import IntArray
from kronos.engine.planning import stop_reasons
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.simulation.utilization import objects
from kronos.engine.types import StopReason

MAX_HOSTS = 4
"""So many hosts are named one by one in the sentence of a phase."""
MAX_REASONS = 3
"""So many reasons a host, in a warning."""


class DrainReasons:
    """What leaves the hosts that are drained, in words.

    :param simulation: before the first move of the phase
    :param sources: the hosts that are drained
    :param fixed: instance uuid to the reason why no phase may move it
    """

    def __init__(
        self,
        simulation: Simulation,
        sources: Sequence[int],
        fixed: Mapping[str, Reason],
    ) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._sources = sorted(sources)
        self._fixed = fixed
        self._number = self._on_hosts()

    def end(self, instances: IntArray) -> PhaseResult:
        """The end of the phase, as the simulation is now.

        :param instances: the movable instances that have not left
        """
        waiting: dict[int, Reason] = {}
        stuck: dict[int, Reason] = {}
        for instance in instances.tolist():
            if reason := self._obstacle(instance):
                stuck[instance] = reason
            else:
                waiting[instance] = self._no_budget()
        cannot = self._on_hosts() - self._on_hosts(waiting)
        return PhaseResult(
            self._stopped(waiting, cannot),
            self._reason(waiting, cannot),
            waiting | stuck,
            self._warnings(stuck, waiting),
        )

    def _on_hosts(
        self, instances: Mapping[int, Reason] | None = None
    ) -> Counter[int]:
        """How many instances are on each of the hosts, all or some."""
        hosts = self._placement.host_of
        if instances is not None:
            hosts = hosts[np.array(list(instances), dtype=np.intp)]
        counts = Counter(hosts.tolist())
        return Counter({host: counts[host] for host in self._sources})

    def _no_budget(self) -> Reason:
        number = self._simulation.budget
        used = wording.counted(number or 0, 'migration')
        text = f'the budget of {used} is used'
        if not number:
            # It is less by what is under way, and was at least 1.
            text = (
                'no migration is left in the budget: migrations that are '
                'under way use it up'
            )
        return Reason(text, Code.BUDGET_USED)

    def _stopped(
        self, waiting: Mapping[int, Reason], cannot: Counter[int]
    ) -> StopReason:
        if waiting:
            return StopReason.BUDGET
        return StopReason.STUCK if cannot.total() else StopReason.DONE

    def _reason(
        self, waiting: Mapping[int, Reason], cannot: Counter[int]
    ) -> str:
        if not self._sources:
            return 'there is no host to drain'
        late = self._on_hosts(waiting)
        if len(self._sources) > MAX_HOSTS:
            return self._sentence(
                f'{len(self._sources)} hosts',
                self._number.total(),
                cannot.total(),
                late.total(),
            )
        names = self._utilization.index.hosts
        return '; '.join(
            self._sentence(
                names[host], self._number[host], cannot[host], late[host]
            )
            for host in self._sources
        )

    def _sentence(
        self, where: str, number: int, cannot: int, late: int
    ) -> str:
        """``cmp5: 10 of 12 instances leave, 2 cannot``"""
        if not number:
            return f'{where}: no instance is left there'
        leaving = number - cannot - late
        if leaving == number == 1:
            return f'{where}: its only instance leaves'
        if leaving == number:
            return f'{where}: all {number} instances leave'
        text = f'{where}: {leaving} of {number} instances leave'
        if cannot:
            text += f', {cannot} cannot'
        if late:
            text += f', {self._no_budget()}'
        return text

    def _obstacle(self, instance: int) -> Reason | None:
        """Why an instance cannot leave now; None if it can."""
        instances = np.array([instance])
        rules = self._simulation.constraints
        legal = np.flatnonzero(rules.hard_rows(instances)[0])
        if not legal.size:
            return stop_reasons.no_destination(self._simulation, instance)
        if not self._simulation.rules.thresholds_object:
            return None
        source = self._placement.host_of[instances]
        ends = self._utilization.scores_after(instances, source, legal)
        gains, objected = self._utilization.judge(source, legal, *ends)
        if not objected.all():
            return None
        best = legal[np.argsort(-gains, kind='stable')].tolist()
        texts = [
            self._objection(instance, host) for host in best[:MAX_REASONS]
        ]
        texts += [''] * (legal.size - len(texts))
        some = '1 legal destination, it'
        if legal.size > 1:
            some = f'{legal.size} legal destinations, each'
        return Reason(
            f'{some} would push a policy past its threshold: '
            f'{wording.some(texts, MAX_REASONS)}; '
            'drain_may_exceed_threshold is false',
            Code.WORSENS_POLICY,
        )

    def _objection(self, instance: int, host: int) -> str:
        """``cpu 0.210 > 0.15 on cmp2``"""
        utilization = self._utilization
        before = utilization.veto
        source = int(self._placement.host_of[instance])
        undo = utilization.move(instance, source, host)
        after = utilization.imbalances
        utilization.take_back(undo)
        objecting = np.flatnonzero(
            objects(before, after, utilization.thresholds)
        )
        texts = [
            f'{utilization.policies[p]} {after[p]:.3f} > '
            f'{utilization.thresholds[p]:g}'
            for p in objecting.tolist()
        ]
        return f'{" and ".join(texts)} on {utilization.index.hosts[host]}'

    def _warnings(
        self, stuck: Mapping[int, Reason], waiting: Mapping[int, Reason]
    ) -> list[str]:
        """One line for each host that something cannot leave."""
        index = self._utilization.index
        reasons: dict[int, dict[str, str]] = {}
        for instance, host in enumerate(self._placement.host_of.tolist()):
            if host in self._number and instance not in waiting:
                uuid = index.instances[instance]
                reason = stuck.get(instance) or self._fixed.get(uuid)
                reasons.setdefault(host, {})[index.server(instance)] = (
                    reason or 'it may not be moved'
                )
        return [
            f'host {index.hosts[host]}: {len(by_server)} of '
            f'{self._number[host]} instances cannot leave: '
            f'{_most_frequent(by_server)}'
            for host, by_server in sorted(reasons.items())
        ]


def _most_frequent(reasons: Mapping[str, str]) -> str:
    """``5 instances: REASON; NAME: REASON; and 2 more``"""
    number = Counter(reasons.values())
    example = {
        reason: name for name, reason in reversed(list(reasons.items()))
    }
    ordered = sorted(
        number, key=lambda reason: (-number[reason], example[reason])
    )
    parts = [
        f'{number[reason]} instances: {reason}'
        if number[reason] > 1
        else f'{example[reason]}: {reason}'
        for reason in ordered[:MAX_REASONS]
    ]
    more = sum(number[reason] for reason in ordered[MAX_REASONS:])
    return '; '.join(parts) + (f'; and {more} more' if more else '')
