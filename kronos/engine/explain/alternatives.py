# SPDX-License-Identifier: Apache-2.0
"""The alternatives to a legal move: what it gains, and what was better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import EPSILON, Index, IntArray
from kronos.engine.effect import use
from kronos.engine.eligibility import begun_hosts
from kronos.engine.explain import effects
from kronos.engine.explain.scenario import Scenario, after_phase
from kronos.engine.explain.verdicts import Place, Verdict
from kronos.engine.extension import ReasonCode
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.search import ranking
from kronos.engine.reasons import Code
from kronos.engine.settings import SearchName, Settings
from kronos.engine.simulation.utilization import is_gain
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    MigrationStep,
    Phase,
    StopReason,
)


@dataclass
class Question:
    """A legal pair; the verdict is filled in."""

    verdict: Verdict
    place: Place


def answer(
    questions: Sequence[Question], result: AggregateResult, base: Scenario
) -> None:
    """Set why each was not chosen.

    :param base: the scope as the planner found it
    """
    open_ = []
    for question in questions:
        if question.verdict.code is Code.PLANNED:
            continue
        verdict = question.verdict
        verdict.code, verdict.text = _Answer(question, result).say()
        if verdict.code is Code.NO_GAIN and question.place.step is None:
            open_.append(question)
    if open_ and any(step.phase is SPREAD for step in result.steps):
        _Earlier(open_, result, base).look()


SPREAD = MigrationPhase.SPREAD
Said = tuple[ReasonCode, str]


class _Answer:
    def __init__(self, question: Question, result: AggregateResult) -> None:
        self._verdict = question.verdict
        self._place = question.place
        self._result = result
        self._utilization = utilization = question.place.moment.utilization
        self._placement = question.place.moment.placement
        self._settings = question.place.moment.phases.settings
        self._mode = question.place.moment.phases.inputs.mode
        self._at = utilization.index.instance[question.verdict.instance]
        self._host = utilization.index.host[question.verdict.destination]

    def say(self) -> Said:
        phase = self._place.moment.phase
        if not self._place.is_asked and not self._place.step:
            return self._not_asked()
        return QUESTIONS.get(phase, _Answer.in_drain)(self)

    def _not_asked(self) -> Said:
        return Code.NOT_ASKED, (
            'it is legal, but the strategy plans no such moves: '
            f'{self._result.reason}'
        )

    def in_drain(self) -> Said:
        return self._another() if self._place.step else self._no_budget()

    def in_spread(self) -> Said:
        gain = self._verdict.gain or 0.0
        if not is_gain(gain):
            return Code.NO_GAIN, f'it is legal, but {self._effect()}'
        cost = effects.price(self._place.moment, self._at, self._host)
        self._verdict.price = cost
        if not is_gain(gain - cost):
            return Code.SOFT_PENALTY, (
                f'it is legal, but {self._effect()}, which is not more than '
                f'the penalty of {cost:g} for the soft server groups whose '
                'rule it breaks'
            )
        if self._place.step:
            return self._another()
        if self._result.stopped is StopReason.STUCK:
            return self._stuck(gain - cost)
        if self._result.stopped is StopReason.BALANCED:
            return Code.SCOPE_BALANCED, (
                f'it is legal and {self._effect()}, but no further move is '
                f'needed: {self._result.reason}'
            )
        return self._no_budget()

    def _stuck(self, gain: float) -> Said:
        """Where the search ended without it, although it gains something."""
        utilization = self._utilization
        over = utilization.over_threshold()
        effect = self._effect()
        if utilization.has_aside and not self._verdict.of_rest:
            return Code.NEXT_AUDIT, (
                f'it is legal and {effect}, but only after the moves for the '
                'hosts that are not set aside; the next audit checks again'
            )
        asks = over.any() or self._settings.exhaust
        if utilization.has_aside and not asks:
            standing = stop_reasons.standing(utilization, ~over, named=False)
            return Code.SCOPE_BALANCED, (
                f'it is legal and {effect}, but these are within all '
                f'thresholds: {standing}'
            )
        memory = utilization.memory_mb[[self._at]]
        why = _too_little(gain, memory, self._settings)
        return Code.NO_GAIN, f'it is legal, but {effect}, {why}'

    def _effect(self) -> str:
        return effects.sentence(self._verdict, self._utilization)

    def _no_budget(self) -> Said:
        legal = f'it is legal and {self._effect()}, but'
        if limit := self._result.window_limit:
            return Code.WINDOW_TOO_SHORT, f'{legal} {limit}'
        steps, what = self._result.steps, 'no migration is left in the budget'
        phase, mode = self._place.moment.phase, self._mode
        if use.is_spent(self._result, phase, mode, self._settings):
            steps = use.balancing(steps, mode, self._settings)
            what = self._result.effect_limit
        instead = _instead(steps, self._utilization.index)
        return Code.BUDGET_USED, f'{legal} {what}{instead}'

    def _another(self) -> Said:
        step, number = self._place.step, self._place.number
        if step is None:
            raise ValueError('it does not move')
        self._verdict.better = number
        fell = step.gain
        text = (
            f'it is legal and {self._effect()}, but {step.destination} is '
            f'better: step {number} lowers it by {fell:.4f}'
        )
        if self._place.moment.phases.inputs.packs:
            text = self._other_in_use(step, number)
        elif fell < (self._verdict.gain or 0.0) - EPSILON:
            text = (
                f'it is legal and {self._effect()}, but the plan takes it to '
                f'{step.destination} in step {number}: {_whole(self._result)}'
            )
        elif abs(fell - (self._verdict.gain or 0.0)) <= EPSILON:
            text += (
                ', as much; of equal moves Kronos takes the one that lowers '
                'the variance most, then the first by name'
            )
        return Code.BETTER_DESTINATION, text

    def _other_in_use(self, step: MigrationStep, number: int | None) -> str:
        """Why another host is filled with it."""
        load = self._load(step.destination)
        other = self._load(self._verdict.destination)
        if load < other - EPSILON and self._placement.on(self._host).size:
            return (
                f'it is legal, but the plan takes it to {step.destination} in '
                f'step {number}, which is less full ({load:.4f} against '
                f'{other:.4f}), so that more instances fit'
            )
        return (
            f'it is legal, but {step.destination} is better: it is '
            f'fuller ({load:.4f} against {other:.4f}), or in use'
        )

    def _load(self, name: str) -> float:
        host = self._utilization.index.host[name]
        return float(
            self._utilization.weights @ self._utilization.scores[:, host]
        )

    def in_repair(self) -> Said:
        if self._host in self._place.waits:
            return Code.GROUP_WAITS, (
                'it would bring its server group closer to its rule, but the '
                'group is repaired only after the migration of a member has '
                'finished'
            )
        if self._host in self._place.repairs:
            if self._place.step:
                return self._another()
            reason = self._result.unmovable.get(self._verdict.instance)
            is_stuck = self._result.stopped is not StopReason.BUDGET
            if reason and reason.code is Code.GROUP_NOT_REPAIRED and is_stuck:
                return reason.code, str(reason)
            return self._no_budget()
        return Code.REPAIRS_NOTHING, (
            'it is legal, but does not bring a server group closer to its rule'
        )

    def in_pack(self) -> Said:
        if not self._is_target():
            return Code.PACK_NO_TARGET, (
                'it is legal, but pack fills only hosts that are in use, and '
                'this one is empty or being emptied'
            )
        if self._place.step:
            return self._another()
        uuid = self._verdict.instance
        reason = self._result.unmovable.get(uuid)
        if reason and reason.code not in (
            Code.NO_DESTINATION,
            Code.GROUP_NOT_REPAIRED,
        ):
            return reason.code, str(reason)
        reason = self._result.stayed.get(uuid)
        return Code.PACK_NO_TARGET, (
            'it is legal now, but was not when pack tried the host, and pack '
            f'tries each host only once: {reason}'
        )

    def _is_target(self) -> bool:
        """Whether pack fills the host at that moment."""
        if not self._utilization.counts[self._host] or (
            not self._placement.on(self._host).size
        ):
            return False
        name = self._verdict.destination
        if _is_emptied(name, self._place, self._result):
            return False
        if not self._settings.pack_partial_drains:
            return True
        return self._is_tried_later()

    def _is_tried_later(self) -> bool:
        """Whether the host's own turn comes after that of the source.

        Where half-drained hosts are left, each that had its turn takes
        nothing any more.
        """
        place = self._place
        before = after_phase(self._result, MigrationPhase.RELIEVE)
        scenario = place.blocked.scenario
        start = scenario.moment(MigrationPhase.PACK, before)
        order = start.phases.pack(start.simulation).order()
        source = self._placement.host_of[self._at]
        if source not in order or self._host not in order:
            return False
        return order.index(self._host) > order.index(source)


def _too_little(gain: float, memory: IntArray, settings: Settings) -> str:
    """The gain that the settings require of a move, or else of a plan.

    :param memory: [1], of the instance in MiB
    """
    cost = ranking.costs(memory, settings.cost_weight)[0]
    if settings.min_plan_gain and gain >= settings.min_gain + cost:
        return (
            'and no plan that the search found lowers a policy by '
            f'min_plan_gain ({settings.min_plan_gain:g})'
        )
    least = f'min_gain ({settings.min_gain:g})'
    if settings.cost_weight:
        least += ' plus the price of its memory (cost_weight)'
    return f'which is less than {least}'


def _instead(steps: Sequence[MigrationStep], index: Index) -> str:
    """The moves that a plan makes instead, as an addition."""
    if not steps:
        return ''
    moves = wording.counted(len(steps), 'move')
    return f'; the plan makes {moves} instead, first {_named(steps[0], index)}'


def _is_emptied(name: str, place: Place, result: AggregateResult) -> bool:
    """Whether pack empties a host, or has done so by then.

    But for the greedy search, hosts are chosen before the first move, and
    what leaves one that stays in use makes room there.
    """
    phases = place.moment.phases
    is_greedy = phases.settings.search == SearchName.GREEDY
    if not is_greedy and name in begun_hosts.of(phases.snapshot):
        return True
    emptied = False
    for step in result.steps[: place.after if is_greedy else None]:
        if step.phase is MigrationPhase.PACK and step.destination == name:
            emptied = False
        if step.phase is MigrationPhase.PACK and step.source == name:
            emptied = True
    return emptied


QUESTIONS: dict[Phase, Callable[[_Answer], Said]] = {
    MigrationPhase.EVACUATE: _Answer.in_drain,
    MigrationPhase.AFFINITY: _Answer.in_repair,
    MigrationPhase.RELIEVE: _Answer.in_drain,
    MigrationPhase.SPREAD: _Answer.in_spread,
    MigrationPhase.PACK: _Answer.in_pack,
}
"""What is to be asked of a legal move in each phase of the trunk."""


class _Earlier:
    """Which moves gained something before another was made instead."""

    def __init__(
        self,
        questions: Sequence[Question],
        result: AggregateResult,
        base: Scenario,
    ) -> None:
        self._questions = list(questions)
        self._result = result
        before = after_phase(result, MigrationPhase.AFFINITY)
        self._start = len(before)
        self._moment = base.moment(SPREAD, before, is_shared=False)
        index = self._moment.simulation.utilization.index
        verdicts = [question.verdict for question in questions]
        instances = [index.instance[v.instance] for v in verdicts]
        hosts = [index.host[v.destination] for v in verdicts]
        self._instances: IntArray = np.array(instances, dtype=np.intp)
        self._hosts: IntArray = np.array(hosts, dtype=np.intp)
        self._best = np.full(len(verdicts), EPSILON)

    def look(self) -> None:
        for number, step in enumerate(self._result.steps, start=1):
            if number > self._start:
                if not step.requires:
                    self._before(number, step)
                self._moment.make(step)

    def _before(self, number: int, step: MigrationStep) -> None:
        simulation, utilization = (
            self._moment.simulation,
            self._moment.utilization,
        )
        sources = simulation.placement.host_of[self._instances]
        ends = utilization.scores_after(self._instances, sources, self._hosts)
        gains, objected = utilization.judge(sources, self._hosts, *ends)
        good = (gains > self._best) & ~objected
        for position in np.flatnonzero(good).tolist():
            instance = int(self._instances[position])
            host = int(self._hosts[position])
            gain = float(gains[position])
            if not is_gain(gain - effects.price(self._moment, instance, host)):
                continue
            if simulation.constraints.reasons(instance, host, hard=True):
                continue
            self._best[position] = gain
            fell = step.gain
            verdict = self._questions[position].verdict
            verdict.code, verdict.better = Code.BETTER_MOVE, number
            now = utilization.combined()
            but = (
                f'another move was better: {_named(step, utilization.index)} '
                f'lowers it by {fell:.4f}'
            )
            if fell < gain - EPSILON:
                but = f'another move was made: {_whole(self._result)}'
            whose = effects.whose(utilization.has_aside)
            verdict.text = (
                f'before step {number} it would have lowered the combined '
                f'imbalance{whose} by {gain:.4f}, from {now:.4f} to '
                f'{now - gain:.4f}, but {but}; at the end of the plan it has '
                'no gain'
            )


def _whole(result: AggregateResult) -> str:
    """What counts where a step gains less than another move."""
    return (
        f'the search {result.search} optimizes the plan as a whole, and '
        f'brings it to {result.combined_after:.4f}'
    )


def _named(step: MigrationStep, index: Index) -> str:
    name = index.server(index.instance[step.instance])
    return f'{name} from {step.source} to {step.destination}'
