# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: each column over time, and who moved most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.reports.html import page, scale
from kronos.reports.html.formatting import Drawing
from kronos.reports.html.scale import Scale
from kronos.simulate.accounting import Floats
from kronos.simulate.columns import Kind, Result
from kronos.simulate.outcome import results

BINS = 480
"""Points of a line at most: half of the units of its width."""
HEIGHT = 300
"""Units of a figure from top to bottom."""
MARKS = 0.16
"""Share of the height that the busiest moment's moves have."""
SHOWN_ROUTE = 12
"""Hosts of a route that are shown."""


@dataclass
class Curve:
    """A policy in a column, over time."""

    policy: str
    line: Drawing
    beside: Drawing
    """The same of the column in which nothing moved; empty: it is that."""
    mean: float
    highest: float
    scale: Scale


@dataclass
class Picture:
    """What is drawn of a column."""

    name: str
    curves: list[Curve]
    marks: Drawing
    """A tick wherever something moved, the higher the more."""
    moves: int
    busiest: int
    """Moves in the busiest stretch of time."""
    hot: Drawing
    """Hosts above 90 %."""
    hot_most: int
    in_use: Drawing
    in_use_most: int
    wanderers: list[results.Wanderer]


def render(
    document: Mapping[str, Any], outcome: Sequence[Result], title: str
) -> str:
    """A simulation as HTML.

    :param document: as of ``-f json``
    :param outcome: of the same columns
    :returns: a whole page, which can be encoded as UTF-8
    """
    scales = _scales(outcome)
    nothing = next(
        (each for each in outcome if each.kind is Kind.NOTHING), None
    )
    load = document['load']
    pictures = [
        _picture(each, nothing, scales, load['start'], load['step'])
        for each in outcome
    ]
    return (
        page.environment()
        .get_template('simulation.html')
        .render(
            title=title,
            document=document,
            rows=results.rows(outcome),
            pictures=pictures,
            days=_days(load['days']),
            height=HEIGHT,
            orders=0,
            shown_route=SHOWN_ROUTE,
        )
    )


def _scales(outcome: Sequence[Result]) -> dict[str, Scale]:
    """One for each policy, the same in all columns."""
    policies = outcome[0].imbalance if outcome else {}
    return {
        policy: scale.scale(
            [float(_binned(each.imbalance[policy]).max()) for each in outcome]
        )
        for policy in policies
    }


def _picture(
    result: Result,
    nothing: Result | None,
    scales: Mapping[str, Scale],
    start: float,
    step: float,
) -> Picture:
    ticks = len(result.in_use)
    when = [(journey.at - start) / step for journey in result.journeys]
    counts, _ = np.histogram(when, _bins(ticks), (0.0, float(ticks)))
    is_other = nothing is not None and nothing is not result
    hot, in_use = _binned(result.hot), _binned(result.in_use)
    hot_most = max(1, int(hot.max()))
    in_use_most = max(1, int(in_use.max()))
    return Picture(
        result.name,
        [
            Curve(
                policy,
                _line(_binned(series) / scales[policy].top),
                _line(_binned(nothing.imbalance[policy]) / scales[policy].top)
                if nothing and is_other
                else Drawing(),
                results.mean(series),
                float(series.max()),
                scales[policy],
            )
            for policy, series in result.imbalance.items()
        ],
        _marks(counts),
        len(result.journeys),
        int(counts.max()),
        _area(hot / hot_most),
        int(hot.max()),
        _area(in_use / in_use_most),
        int(in_use.max()),
        results.most_moved(result),
    )


def _bins(ticks: int) -> int:
    return max(1, min(ticks, BINS))


def _binned(series: npt.NDArray[Any]) -> Floats:
    """Means over equal stretches of time."""
    edges = np.linspace(0, len(series), _bins(len(series)) + 1).astype(int)
    sums = np.add.reduceat(series.astype(float), edges[:-1])
    means: Floats = sums / np.diff(edges)
    return means


def _points(shares: Floats) -> list[tuple[float, float]]:
    width = scale.WIDTH / len(shares)
    return [
        (round((place + 0.5) * width, 1), round(HEIGHT * (1 - share), 1))
        for place, share in enumerate(np.clip(shares, 0.0, 1.0).tolist())
    ]


def _line(shares: Floats) -> Drawing:
    points = ' '.join(f'{x:g} {y:g}' for x, y in _points(shares))
    return Drawing(f'M{points}')


def _area(shares: Floats) -> Drawing:
    """Steps above the ground, empty where all is 0."""
    if not shares.any():
        return Drawing()
    width = scale.WIDTH / len(shares)
    steps = ''.join(
        f'V{y:g}H{(place + 1) * width:.1f}'
        for place, (_, y) in enumerate(_points(shares))
    )
    return Drawing(f'M0 {HEIGHT}{steps}V{HEIGHT}Z')


def _marks(counts: npt.NDArray[np.intp]) -> Drawing:
    most, width = int(counts.max()), scale.WIDTH / len(counts)
    return Drawing(
        ''.join(
            f'M{(place + 0.5) * width:.1f} {HEIGHT}'
            f'v{-HEIGHT * MARKS * number / most:.1f}'
            for place, number in enumerate(counts.tolist())
            if number
        )
    )


def _days(days: float) -> list[scale.Tick]:
    """The ticks of time, in days; not the last, which may be anywhere."""
    width = scale.step_for(days, 7)
    return [
        scale.Tick(f'{number * width:g} d', 100 * number * width / days)
        for number in range(int(days / width) + 1)
        if number * width < days * 0.97
    ]
