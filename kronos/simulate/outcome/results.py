# SPDX-License-Identifier: Apache-2.0
"""The results of a simulation: the sentence that decides, and all figures."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kronos.simulate.columns import Kind, Result

SAME = 0.01
"""Share by which an imbalance may be higher and pass for as good."""
SAME_HOURS = 1.0
"""Host-hours a day above all of a host that pass for none."""


MEANINGS = {
    Kind.AS_IT_WAS.value: 'servers where they were in the load',
    Kind.NOTHING.value: 'servers stay where they start',
    Kind.PLAIN_RULE.value: 'the rule of workload_stabilization, every '
    'audit, without cooldowns',
    'as recorded': 'the policies and options of the load',
}
"""Of the columns that are always there, by their names."""


@dataclass
class FigureRow:
    """A figure of all columns."""

    key: str
    """In documents."""
    label: str
    values: list[float | int | None]
    digits: int = 0
    """Behind the point, where people read it."""


def rows(results: Sequence[Result]) -> list[FigureRow]:
    """What every column came to, figure by figure; the weightiest first."""
    table = [
        FigureRow(key, label, [value(each) for each in results], digits)
        for key, label, digits, value in _FIGURES
    ]
    first, *others = table
    return [first, *_imbalances(results), *others]


def _imbalances(results: Sequence[Result]) -> list[FigureRow]:
    """Two rows for each policy."""
    table = []
    for policy in results[0].imbalance if results else ():
        series = [each.imbalance[policy] for each in results]
        table += [
            FigureRow(
                f'imbalance_{policy}',
                f'imbalance {policy}, mean',
                [mean(each) for each in series],
                3,
            ),
            FigureRow(
                f'imbalance_{policy}_95',
                f'imbalance {policy}, 95 %',
                [_high(each) for each in series],
                3,
            ),
        ]
    return table


def worth_reading(results: Sequence[Result]) -> list[FigureRow]:
    """The rows for people: without those in which nothing happened."""
    return [
        row
        for row in rows(results)
        if any(
            value is not None and (value or row.key not in _RARE)
            for value in row.values
        )
    ]


def _high(series: Any) -> float:
    """What is exceeded in one twentieth of the time."""
    return float(np.quantile(series, 0.95))


def mean(series: Any) -> float:
    """The mean of a series of floats of 32 bits, as exact as it can be."""
    return float(np.mean(series, dtype=np.float64))


def _percent(part: float, whole: float) -> float | None:
    return 100.0 * part / whole if whole else None


def _a_day(value: float, result: Result) -> float:
    days = result.figures.days
    return value / days if days else 0.0


Value = Callable[[Result], float | int | None]
_FIGURES: Sequence[tuple[str, str, int, Value]] = (
    ('moves_per_day', 'moves a day', 1, lambda r: r.figures.moves_per_day),
    (
        'moves_per_server_day',
        'moves a server and day',
        3,
        lambda r: r.figures.moves_per_instance_day,
    ),
    (
        'most_of_one_server',
        'most moves of one server',
        0,
        lambda r: r.figures.most_moves,
    ),
    ('first_plan', 'moves of the first plan', 0, lambda r: r.first_plan),
    (
        'back_percent',
        'back within 24 h, %',
        1,
        lambda r: _percent(r.figures.returns, r.figures.moves),
    ),
    (
        'gone_percent',
        'gone within 1 h after, %',
        1,
        lambda r: _percent(r.figures.gone, r.figures.moves),
    ),
    ('failed', 'failed moves', 0, lambda r: r.figures.failed),
    (
        'gib_per_day',
        'GiB copied a day',
        0,
        lambda r: _a_day(r.figures.gib, r),
    ),
    (
        'hot_host_hours_per_day',
        'host-hours above 90 % a day',
        2,
        lambda r: _a_day(r.figures.hot_hours, r),
    ),
    (
        'full_host_hours_per_day',
        'host-hours above 100 % a day',
        2,
        lambda r: _a_day(r.figures.full_hours, r),
    ),
    (
        'cpu_not_given_percent',
        'CPU not given, %',
        3,
        lambda r: 100.0 * r.figures.not_given,
    ),
    ('hosts_in_use', 'hosts in use', 1, lambda r: mean(r.in_use)),
    ('kwh_per_day', 'kWh a day', 1, lambda r: _kwh(r)),
    (
        'boots_elsewhere',
        'boots that went elsewhere',
        0,
        lambda r: r.boots.elsewhere,
    ),
    (
        'boots_without_room',
        'boots without room',
        0,
        lambda r: r.boots.without_room,
    ),
    (
        'seconds_per_plan',
        'seconds a plan',
        3,
        lambda r: r.plan_seconds / r.plans if r.plans else None,
    ),
    (
        'longest_plan_seconds',
        'seconds of the longest plan',
        3,
        lambda r: r.longest_plan if r.plans else None,
    ),
)
"""Key, label, digits and value of each figure but the imbalances."""
_RARE = (
    'gone_percent',
    'failed',
    'boots_elsewhere',
    'boots_without_room',
)


def _kwh(result: Result) -> float | None:
    kwh = result.figures.kwh
    return None if kwh is None else _a_day(kwh, result)


def imbalance(result: Result) -> float:
    """The mean imbalance of all policies."""
    means = [mean(series) for series in result.imbalance.values()]
    return sum(means) / len(means) if means else 0.0


def best(results: Sequence[Result], fills: bool) -> Result | None:
    """The column of the engine that decides; None: there is none.

    :param fills: whether hosts are to be filled: then, of the columns under
        which no more CPU is lacking, the one with the fewest hosts in use;
        else, of those that are as even as the first, the one with the fewest
        moves, if none is much more even
    """
    of_engine = [each for each in results if each.kind is Kind.ENGINE]
    if not of_engine:
        return None
    base = of_engine[0]
    limit = _worth(base, fills)
    good = [each for each in of_engine if _is_as_good(each, base, fills)]
    best_one = min(
        good,
        key=lambda each: (
            mean(each.in_use) if fills else 0.0,
            each.figures.moves,
            _worth(each, fills),
        ),
    )
    if best_one is base:
        other = min(of_engine, key=lambda each: _worth(each, fills))
        if _worth(other, fills) < limit * (1 - 5 * SAME):
            return other
    return best_one


def _worth(result: Result, fills: bool) -> float:
    """What is to be small."""
    if fills:
        return _a_day(result.figures.full_hours, result) + SAME_HOURS
    return imbalance(result)


def _is_as_good(result: Result, base: Result, fills: bool) -> bool:
    if fills:
        return _worth(result, fills) <= _worth(base, fills) + SAME_HOURS
    return imbalance(result) <= imbalance(base) * (1 + SAME)


def sentence(results: Sequence[Result], fills: bool = False) -> str:
    """What decides, in one sentence."""
    chosen = best(results, fills)
    if chosen is None:
        return 'No audit was simulated.'
    base = next(each for each in results if each.kind is Kind.ENGINE)
    if chosen is base:
        nothing = [each for each in results if each.kind is Kind.NOTHING]
        base = nothing[0] if nothing else base
    text = (
        f'With {chosen.words}: {_moves(chosen)} a day instead of '
        f'{_count(base)}'
    )
    for policy, series in chosen.imbalance.items():
        name = '' if len(chosen.imbalance) == 1 else f' {policy}'
        text += (
            f', imbalance{name} {mean(series):.2f} instead of '
            f'{mean(base.imbalance[policy]):.2f}'
        )
    if fills:
        hours = [
            _a_day(each.figures.full_hours, each) for each in (chosen, base)
        ]
        text += (
            f', {mean(chosen.in_use):.1f} hosts in use instead of '
            f'{mean(base.in_use):.1f}, {hours[0]:.1f} host-hours a day above '
            f'100 % instead of {hours[1]:.1f}'
        )
    return f'{text}{_reference(base)}.'


def _reference(base: Result) -> str:
    """Beside what, where that is no column of audits."""
    return '' if base.kind is Kind.ENGINE else ' without any move'


def _moves(result: Result) -> str:
    count = _count(result)
    return f'{count} move{"" if count == "1.0" else "s"}'


def _count(result: Result) -> str:
    number = result.figures.moves_per_day
    return f'{number:.0f}' if number >= 10 or not number else f'{number:.1f}'


def document(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The columns for programs."""
    return [
        {
            'name': result.name,
            'kind': result.kind.value,
            'figures': {key: value(result) for key, _, _, value in _FIGURES},
            'imbalance': {
                policy: {'mean': mean(series), 'percentile_95': _high(series)}
                for policy, series in result.imbalance.items()
            },
            'audits_by_end': dict(sorted(result.ends.items())),
            'plans': result.plans,
            'boots': dataclasses.asdict(result.boots),
            'most_moved': [
                dataclasses.asdict(each) for each in most_moved(result)
            ],
        }
        for result in results
    ]


@dataclass
class Wanderer:
    """A server that moved often."""

    instance: str
    """Its uuid."""
    instance_name: str
    moves: int
    route: list[str]
    """The hosts that it was on, the first one first."""


def most_moved(result: Result, most: int = 10) -> list[Wanderer]:
    """The servers that moved most, with their routes."""
    routes: dict[str, list[str]] = {}
    for journey in sorted(result.journeys, key=lambda each: each.at):
        route = routes.setdefault(journey.instance, [journey.source])
        if route[-1] != journey.source:
            route.append(journey.source)
        route.append(journey.destination)
    counts = Counter(journey.instance for journey in result.journeys)
    names = {each.instance: each.name for each in result.journeys}
    often = sorted(counts, key=lambda uuid: (-counts[uuid], uuid))[:most]
    return [
        Wanderer(uuid, names[uuid], counts[uuid], routes[uuid])
        for uuid in often
    ]
