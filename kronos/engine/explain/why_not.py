# SPDX-License-Identifier: Apache-2.0
"""The explainer: why an instance did not go to a host, one code a pair.

A pair is judged at one moment of the plan: an instance that moves just
before its move, one that stays at the end of the phase that asks for it.
First come the rules, in a fixed order; what is legal then was weighed by
the search (:mod:`.alternatives`). So a reason is about the placement that the
plan leads to, like the plan itself.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kronos.engine.constraints.same_host import THERE
from kronos.engine.explain import alternatives, effects
from kronos.engine.explain.blockers import Blocked, Blockers, is_of_host
from kronos.engine.explain.scenario import (
    PlanningMoment,
    Scenario,
    after_phase,
)
from kronos.engine.explain.verdicts import Place, Verdict
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring.evaluation import asks_capacity
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    Phase,
    PlanningInput,
)

MADE_UP = frozenset(
    {
        Code.SCOPE_NO_POLICY,
        Code.INSTANCE_NO_PROFILE,
        Code.HOST_NO_SAMPLE,
        Code.HOST_NO_CAPACITY,
    }
)
"""Without these reasons something would be known that is not."""


class Explainer:
    """The answers about one scope.

    :param case: what the planner was given
    :param result: what it made of that
    """

    def __init__(self, case: PlanningInput, result: AggregateResult) -> None:
        self.result = result
        self.blockers = Blockers(case, result.rest)
        self.hosts = sorted(case.snapshot.hosts)
        self._own = {
            step.instance: position
            for position, step in enumerate(result.steps)
        }
        self._until = {
            phase: after_phase(result, phase)
            for phase in [*MigrationPhase, *case.settings.extension.phases]
        }

    def verdict(self, uuid: str, host: str) -> Verdict:
        """One pair.

        :raises KeyError: if one of them is not in the scope
        """
        return self.verdicts([uuid], [host])[0]

    def verdicts(
        self, uuids: Iterable[str], hosts: Sequence[str], quick: bool = False
    ) -> list[Verdict]:
        """All pairs, instance by instance.

        :param quick: with the same codes, but maybe not all of ``reasons``
            where that takes preparing the scope once more
        """
        return self.some(dict.fromkeys(uuids, hosts), quick)

    def some(
        self, destinations: Mapping[str, Sequence[str]], quick: bool = False
    ) -> list[Verdict]:
        """The same of some pairs.

        :param destinations: uuid to the destinations that are asked about
        """
        if len(self.hosts) == 1:
            # It stands still, and there is nothing to lift.
            return [
                self._alone(uuid)
                for uuid in destinations
                if destinations[uuid]
            ]
        moved = [uuid for uuid in destinations if uuid in self._own]
        moved.sort(key=lambda uuid: self._own[uuid])
        verdicts: dict[str, list[Verdict]] = {}
        for uuid in moved:
            verdicts |= self._answered({uuid: destinations[uuid]}, quick)
        verdicts |= self._answered(
            {
                uuid: hosts
                for uuid, hosts in destinations.items()
                if uuid not in self._own
            },
            quick,
        )
        return [verdict for uuid in destinations for verdict in verdicts[uuid]]

    def _alone(self, uuid: str) -> Verdict:
        [host] = self.hosts
        return Verdict(uuid, host, host, Code.ALREADY_THERE, THERE)

    def _answered(
        self, destinations: Mapping[str, Sequence[str]], quick: bool
    ) -> dict[str, list[Verdict]]:
        verdicts: dict[str, list[Verdict]] = {
            uuid: [] for uuid in destinations
        }
        places: dict[int, list[tuple[Verdict, Place]]] = {}
        for uuid, hosts in destinations.items():
            for place, names in self._places(uuid, hosts, quick):
                same = places.setdefault(id(place.moment), [])
                for name in names:
                    verdict = _blank(uuid, name, place)
                    verdicts[uuid].append(verdict)
                    same.append((verdict, place))
        pairs = [pair for same in places.values() for pair in same]
        for same in places.values():
            if same:
                self._judge(same)
        questions = [
            alternatives.Question(verdict, place)
            for verdict, place in pairs
            if not verdict.reasons
        ]
        alternatives.answer(questions, self.result, self.blockers.base)
        return verdicts

    def _places(
        self, uuid: str, hosts: Sequence[str], quick: bool
    ) -> list[tuple[Place, list[str]]]:
        blocked = self.blockers.of(uuid, quick)
        steps = self.result.steps
        position = self._own.get(uuid)
        if position is not None:
            if steps[position].phase is MigrationPhase.RELIEVE:
                blocked.waits_for_nothing()
            moment = blocked.scenario.passing(
                steps[position].phase, steps[:position]
            )
            place = Place(
                blocked, moment, position, steps[position], position + 1
            )
            place.repairs = _repairs(moment, uuid)
            return [(place, list(hosts))]
        return self._of_unmoved(uuid, hosts, blocked)

    def _of_unmoved(
        self, uuid: str, hosts: Sequence[str], blocked: Blocked
    ) -> list[tuple[Place, list[str]]]:
        phases = blocked.scenario.phases
        if phases is None:
            raise ValueError(f'the scope is not planned: {blocked.reasons}')
        order, index = phases.order(), phases.utilization.index
        host = phases.host_of_before[index.instance[uuid]]
        if phases.draining[host]:
            place = self._at_end(blocked, order[0])
            return [(place, list(hosts))]
        last = self._at_end(blocked, order[-1])
        last.is_asked = phases.settings.rebalance
        if MigrationPhase.AFFINITY not in order:
            return [(last, list(hosts))]
        repair = self._at_end(blocked, MigrationPhase.AFFINITY)
        if repair.moment.repair is not None:
            instance = index.instance[uuid]
            repair.repairs = repair.moment.repair.helpful_hosts(instance)
            repair.waits = repair.moment.repair.waiting(instance)
        for_group = {
            index.hosts[host] for host in repair.repairs | repair.waits
        }
        return [
            (repair, [name for name in hosts if name in for_group]),
            (last, [name for name in hosts if name not in for_group]),
        ]

    def _at_end(self, blocked: Blocked, phase: Phase) -> Place:
        steps = self._until[phase]
        return Place(
            blocked, blocked.scenario.moment(phase, steps), len(steps)
        )

    def _judge(self, pairs: Sequence[tuple[Verdict, Place]]) -> None:
        """Judge pairs of one moment."""
        moment = pairs[0][1].moment
        index = moment.utilization.index
        instances = np.array([index.instance[v.instance] for v, _ in pairs])
        hosts = np.array([index.host[v.destination] for v, _ in pairs])
        effects_of = effects.of(moment, instances, hosts)
        for (verdict, place), instance, host, effect in zip(
            pairs,
            instances.tolist(),
            hosts.tolist(),
            effects_of,
            strict=True,
        ):
            if effect.is_known and not _is_made_up(place.blocked):
                verdict.gain = effect.gain
                verdict.widths, verdict.before = effect.after, effect.before
                verdict.of_rest = effect.of_rest
                verdict.heard = moment.rules.thresholds_object
            against = self._against(verdict, place, instance, host)
            if effect.is_objected and verdict.heard:
                against += effects.objections(moment, instance, host)
            _forbid(verdict, place, against)

    def _against(
        self, verdict: Verdict, place: Place, instance: int, host: int
    ) -> list[Reason]:
        moment, origin = place.moment, place.blocked.origin
        rules = moment.simulation.constraints
        with rules.repairing(verdict.repairing):
            stated = rules.reasons(instance, host, hard=True)
        if stated and stated[0].code is Code.ALREADY_THERE:
            return [stated[0]]
        against = self.blockers.against(place.blocked, verdict.destination)
        return against + [
            reason
            for reason in stated
            if not is_of_host(reason)
            and not _is_idle(reason, origin, verdict.destination)
        ]


def _is_idle(reason: Reason, scenario: Scenario, host: str) -> bool:
    """Whether the policy of a ceiling would not be used with this host."""
    if reason.code not in (Code.CEILING_UNKNOWN, Code.OVER_CEILING):
        return False
    if reason.about in scenario.ignored_policies(host):
        return True
    # Its capacity in use is read off its score: that is what is lacking.
    return reason.code is Code.CEILING_UNKNOWN and not any(
        asks_capacity(policy, scenario.case.settings)
        for policy in scenario.case.policies
        if policy.name == reason.about
    )


def _repairs(moment: PlanningMoment, uuid: str) -> dict[int, str]:
    if moment.repair is None:
        return {}
    return moment.repair.helpful_hosts(
        moment.simulation.utilization.index.instance[uuid]
    )


def _blank(uuid: str, host: str, place: Place) -> Verdict:
    utilization = place.moment.utilization
    source = place.moment.placement.host_of[utilization.index.instance[uuid]]
    repairing = ''
    if place.repairs or place.waits:
        groups = place.repairs | place.waits
        repairing = groups.get(utilization.index.host[host], '')
    return Verdict(
        uuid,
        utilization.index.hosts[source],
        host,
        Code.NO_GAIN,
        '',
        phase=place.moment.phase,
        after=place.after,
        repairing=repairing,
    )


def _forbid(verdict: Verdict, place: Place, against: list[Reason]) -> None:
    """Enter into the verdict what forbids the move, if anything does."""
    if place.step and place.step.destination == verdict.destination:
        verdict.code = Code.PLANNED
        verdict.text = f'step {place.number} of the plan moves it there'
        return
    verdict.reasons = [*place.blocked.reasons, *against]
    if against and against[0].code is Code.ALREADY_THERE:
        verdict.gain, verdict.widths = None, {}
        verdict.reasons = against[:1]
    if verdict.reasons:
        verdict.code = verdict.reasons[0].code
        verdict.text = str(verdict.reasons[0])


def _is_made_up(blocked: Blocked) -> bool:
    """Whether some of its values are not known but made up."""
    return blocked.is_supposed or any(
        reason.code in MADE_UP for reason in blocked.reasons
    )
