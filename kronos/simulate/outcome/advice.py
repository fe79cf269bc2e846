# SPDX-License-Identifier: Apache-2.0
"""The advice: which window, threshold, budget and cooldown a load asks for.

Each is tried in the loop: the windows first, the others with the best of
them.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.common.exceptions import ConfigurationError
from kronos.engine.types import StopReason
from kronos.policies.windows import Window
from kronos.simulate import variants
from kronos.simulate.columns import Column, Result
from kronos.simulate.load import Load
from kronos.simulate.loop import SKIPPED
from kronos.simulate.outcome import forecast, results
from kronos.simulate.variants import Request

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
CEILINGS = (0.6, 0.7, 0.8, 0.9)
BUDGETS = (1, 3, 10, 20)
COOLDOWNS = (300, 600, 1800, 3600)
SLACK = 0.025
"""Share by which what is wanted small may be larger for fewer moves."""
HALF = 0.5
"""Of the plans."""
LACKING = 0.0015
"""Share of CPU that may be lacking where hosts are filled."""


@dataclass
class Trial:
    """A value that is tried."""

    question: str
    """``window``, ``threshold``, ``max_migrations``, ``cooldown``."""
    value: str
    words: str
    column: Column
    error: float | None = None
    """Of a window: of its forecast, as ratio of the mean usage."""


@dataclass
class Answer:
    """A trial with what it came to."""

    trial: Trial
    result: Result
    is_best: bool = False

    @property
    def balanced(self) -> float:
        """Ratio of the plans that ended since all was even, or packed."""
        ends = dict(self.result.ends)
        for end in (StopReason.COOLDOWN.value, SKIPPED):
            ends.pop(end, None)
        total = sum(ends.values())
        good = sum(
            ends.get(end.value, 0)
            for end in (StopReason.BALANCED, StopReason.PACKED)
        )
        return good / total if total else 0.0


@dataclass
class Advice:
    """All trials, those of one question after another."""

    answers: list[Answer] = field(default_factory=list)

    def of(self, question: str) -> list[Answer]:
        return [each for each in self.answers if _asks(each, question)]


def _asks(answer: Answer, question: str) -> bool:
    return answer.trial.question == question


def windows(load: Load, request: Request) -> list[Trial]:
    """The trials of the first round.

    :raises ConfigurationError: as :func:`variants.columns`
    """
    policies = enabled(load, request)
    tried = dict.fromkeys([*forecast.CANDIDATES, *_in_force(load, request)])
    errors = forecast.errors(
        load.usage[policies[0]],
        load.meta.step,
        sorted(tried, key=lambda window: window.seconds),
    )
    if not errors:
        raise ConfigurationError(
            reason='--advise: the load has too few samples, or too little '
            f'usage, to compare windows; it has {load.ticks} ticks. Fetch at '
            'least a day'
        )
    return [
        Trial(
            'window',
            str(window),
            window.words,
            _column(load, request, _window(policies, window)),
            error,
        )
        for window, error in errors.items()
    ]


def _in_force(load: Load, request: Request) -> list[Window]:
    """The windows of the servers' queries, as the call would have them."""
    [audit, *_] = variants.columns(load, request)[variants.BASE].audits
    return [queries.servers for queries in audit.windows.values()]


def others(load: Load, request: Request, best: Answer) -> list[Trial]:
    """The trials of the second round, with the best window."""
    policies = enabled(load, request)
    base = [
        *request.base,
        *((f'window.{name}', best.trial.value) for name in policies),
    ]
    request = dataclasses.replace(request, base=base)
    fills = fills_hosts(load, request)
    limit = 'capacity_threshold' if fills else 'threshold'
    tried = [
        (
            limit,
            f'{value:g}',
            [(f'{limit}.{name}', f'{value:g}') for name in policies],
        )
        for value in (CEILINGS if fills else THRESHOLDS)
    ]
    tried += [
        (name, str(value), [(name, str(value))])
        for name, values in (
            ('max_migrations', BUDGETS),
            ('cooldown', COOLDOWNS),
        )
        for value in values
    ]
    return [
        Trial(
            question,
            value,
            f'{question} = {value}',
            _column(load, request, settings),
        )
        for question, value, settings in tried
    ]


def enabled(load: Load, request: Request) -> list[str]:
    """The names of the policies that are planned by."""
    policies = request.policies or load.recording.policies
    return [policy.name for policy in policies if policy.enabled]


def fills_hosts(load: Load, request: Request) -> bool:
    """Whether the columns pack."""
    return variants.columns(load, request)[variants.BASE].fills


def _window(policies: Sequence[str], window: Window) -> list[tuple[str, str]]:
    return [(f'window.{name}', str(window)) for name in policies]


def _column(
    load: Load, request: Request, settings: Sequence[tuple[str, str]]
) -> Column:
    alone = dataclasses.replace(request, settings=[settings], compare={})
    return variants.columns(load, alone)[variants.BASE + 1]


def judged(
    trials: Sequence[Trial], outcome: Sequence[Result], fills: bool
) -> list[Answer]:
    """The answers to one round, the best value of each question marked."""
    answers = [
        Answer(trial, result)
        for trial, result in zip(trials, outcome, strict=True)
    ]
    for question in dict.fromkeys(trial.question for trial in trials):
        of_it = [each for each in answers if _asks(each, question)]
        least = min(_cost(each, fills) for each in of_it)
        good = [
            each for each in of_it if _cost(each, fills) <= least * (1 + SLACK)
        ]
        best = min(good, key=_moves_and_error)
        best.is_best = True
    return answers


def _moves_and_error(answer: Answer) -> tuple[int, float]:
    """Where nothing is to be moved, the better forecast is advised."""
    return answer.result.figures.moves, answer.trial.error or 0.0


def _cost(answer: Answer, fills: bool) -> float:
    """What is to be small: the imbalance; else the hosts in use.

    Of hosts that are filled, where that lets CPU be lacking: how much more.
    """
    result = answer.result
    if not fills:
        return _imbalance(answer)
    lacking = max(1.0, result.figures.not_given / LACKING)
    return results.mean(result.in_use) * lacking


def _imbalance(answer: Answer) -> float:
    """The mean one of the policies that are planned by."""
    [audit, *_] = answer.trial.column.audits
    means = [
        results.mean(answer.result.imbalance[policy.name])
        for policy in audit.enabled
    ]
    return sum(means) / len(means)


def sentences(advice: Advice, fills: bool) -> list[str]:
    """What is advised, with the numbers."""
    text = []
    for best in advice.answers:
        if not best.is_best:
            continue
        others_of_it = [
            each for each in advice.of(best.trial.question) if each is not best
        ]
        line = f'{best.trial.question}: {best.trial.value}; '
        line += _outcome(best, fills)
        if others_of_it:
            busiest = max(
                others_of_it, key=lambda each: each.result.figures.moves
            )
            line += f' ({busiest.trial.value}: {_outcome(busiest, fills)})'
        if best.trial.question == 'threshold':
            line += _reached(advice.of('threshold'))
        text.append(f'{line}.')
    return text


def _reached(answers: Sequence[Answer]) -> str:
    """Which threshold plans reach at all."""
    reached = [each for each in answers if each.balanced >= HALF]
    if not reached:
        most = max(answers, key=lambda each: each.balanced)
        return (
            f'; no threshold that was tried is reached by half of the plans: '
            f'{most.trial.value} is by {most.balanced:.0%}'
        )
    least = min(reached, key=lambda each: float(each.trial.value))
    return (
        f'; the least that half of the plans reach is {least.trial.value}: '
        f'{least.balanced:.0%} do'
    )


def _outcome(answer: Answer, fills: bool) -> str:
    result = answer.result
    moves = f'{result.figures.moves_per_day:.0f} moves a day'
    if fills:
        return (
            f'{moves}, {results.mean(result.in_use):.1f} hosts in use, '
            f'{100 * result.figures.not_given:.2f} % of CPU not given'
        )
    return f'{moves} at an imbalance of {_imbalance(answer):.3f}'


def document(advice: Advice, fills: bool) -> dict[str, Any]:
    """All of it for programs."""
    return {
        'sentences': sentences(advice, fills),
        'trials': [
            {
                'question': each.trial.question,
                'value': each.trial.value,
                'is_best': each.is_best,
                'moves_per_day': each.result.figures.moves_per_day,
                'imbalance': {
                    name: results.mean(series)
                    for name, series in each.result.imbalance.items()
                },
                'hosts_in_use': results.mean(each.result.in_use),
                'hot_host_hours': each.result.figures.hot_hours,
                'cpu_not_given': each.result.figures.not_given,
                'balanced': each.balanced,
                'forecast_error': each.trial.error,
            }
            for each in advice.answers
        ],
    }
