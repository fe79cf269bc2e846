# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: each column over time, and who moved most."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.reports.html import formatting, page, scale
from kronos.reports.html.formatting import Drawing
from kronos.reports.html.scale import Scale
from kronos.simulate.accounting import Floats
from kronos.simulate.columns import Kind, Result
from kronos.simulate.outcome import results

BINS = 144
"""Points of a line at most: more of a noisy load could not be read."""
HEIGHT = 300
"""Units of a figure from top to bottom."""
STEPS = (0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672, 1344)
"""Hours from tick to tick."""
MOST_STEPS = 7
SHOWN_ROUTE = 12
"""Hosts of a route that are shown."""


@dataclass
class Curve:
    """A policy in a column, over time."""

    policy: str
    text: str
    """What it shows, in words."""
    line: Drawing
    beside: Drawing
    """The same of the column in which nothing moved; empty: it is that."""
    scale: Scale


@dataclass
class Lane:
    """A low figure of numbers over time."""

    text: str
    """What it shows, in words."""
    drawing: Drawing
    """Empty: nothing is to be seen."""
    style: str
    top: int
    """The number at its upper end, the same in all columns."""


@dataclass
class Picture:
    """What is drawn of a column."""

    name: str
    meaning: str
    curves: list[Curve]
    lanes: list[Lane]
    wanderers: list[results.Wanderer]


@dataclass
class Frame:
    """What all columns have in common."""

    start: float
    step: float
    nothing: Result | None
    scales: Mapping[str, Scale]
    moves: int
    """In the busiest stretch of time."""
    hot: int
    in_use: int

    @classmethod
    def of(cls, outcome: Sequence[Result], load: Mapping[str, Any]) -> 'Frame':
        start, step = load['start'], load['step']
        counts = [_counts(each, start, step) for each in outcome]
        return cls(
            start,
            step,
            next((e for e in outcome if e.kind is Kind.NOTHING), None),
            _scales(outcome),
            max((int(each.max()) for each in counts), default=0),
            int(max((each.hot.max() for each in outcome), default=0)),
            int(max((each.in_use.max() for each in outcome), default=0)),
        )

    def stretch(self, result: Result) -> str:
        """How long a point of a line is."""
        ticks = len(result.in_use)
        return formatting.duration(ticks * self.step / _bins(ticks))


def render(
    document: Mapping[str, Any], outcome: Sequence[Result], title: str
) -> str:
    """A simulation as HTML.

    :param document: as of ``-f json``
    :param outcome: of the same columns
    :returns: a whole page, which can be encoded as UTF-8
    """
    load = document['load']
    frame = Frame.of(outcome, load)
    return (
        page.environment()
        .get_template('simulation.html')
        .render(
            title=title,
            document=document,
            rows=results.worth_reading(outcome),
            pictures=[_picture(each, frame) for each in outcome],
            begin=datetime.datetime.fromtimestamp(
                load['start'], datetime.UTC
            ).strftime('%Y-%m-%d %H:%M UTC'),
            stretch=frame.stretch(outcome[0]) if outcome else '',
            times=_times(load['days'] * 24),
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


def _picture(result: Result, frame: Frame) -> Picture:
    return Picture(
        result.name,
        results.MEANINGS.get(result.name, ''),
        [
            _curve(policy, series, frame, frame.nothing is result)
            for policy, series in result.imbalance.items()
        ],
        [
            _moves(result, frame),
            _hot(result, frame),
            _in_use(result, frame),
        ],
        results.most_moved(result),
    )


def _curve(
    policy: str, series: npt.NDArray[Any], frame: Frame, is_nothing: bool
) -> Curve:
    scale_of_it = frame.scales[policy]
    beside = Drawing()
    if frame.nothing and not is_nothing:
        other = _binned(frame.nothing.imbalance[policy])
        beside = _line(other / scale_of_it.top)
    return Curve(
        policy,
        f'{formatting.score(results.mean(series))} on average, at most '
        f'{formatting.score(float(series.max()))}',
        _line(_binned(series) / scale_of_it.top),
        beside,
        scale_of_it,
    )


def _moves(result: Result, frame: Frame) -> Lane:
    counts = _counts(result, frame.start, frame.step)
    moves = len(result.journeys)
    text = f'Moves: {formatting.whole(moves)}'
    if moves:
        text += (
            f', at most {formatting.whole(int(counts.max()))} in '
            f'{frame.stretch(result)}'
        )
    return Lane(
        text, _marks(counts / max(frame.moves, 1)), 's-mark', frame.moves
    )


def _hot(result: Result, frame: Frame) -> Lane:
    most = formatting.whole(int(result.hot.max()))
    return Lane(
        f'Hosts above 90 %: at most {most} at a time, '
        f'{result.figures.hot_hours:.1f} host-hours',
        _area(_binned(result.hot, np.maximum) / max(frame.hot, 1)),
        's-hot',
        frame.hot,
    )


def _in_use(result: Result, frame: Frame) -> Lane:
    least, most = int(result.in_use.min()), int(result.in_use.max())
    if least == most:
        text = f'Hosts in use: {formatting.whole(most)} all the time'
        return Lane(text, Drawing(), 's-area', frame.in_use)
    return Lane(
        f'Hosts in use: {results.mean(result.in_use):.1f} on average, '
        f'{formatting.whole(least)} to {formatting.whole(most)}',
        _area(_binned(result.in_use) / frame.in_use),
        's-area',
        frame.in_use,
    )


def _counts(result: Result, start: float, step: float) -> npt.NDArray[np.intp]:
    """Moves by stretch of time."""
    ticks = len(result.in_use)
    when = [(journey.at - start) / step for journey in result.journeys]
    counts, _ = np.histogram(when, _bins(ticks), (0.0, float(ticks)))
    return counts


def _bins(ticks: int) -> int:
    return max(1, min(ticks, BINS))


def _binned(series: npt.NDArray[Any], of: np.ufunc = np.add) -> Floats:
    """Means, or the highest values, over equal stretches of time."""
    edges = np.linspace(0, len(series), _bins(len(series)) + 1).astype(int)
    values: Floats = of.reduceat(series.astype(float), edges[:-1])
    return values / np.diff(edges) if of is np.add else values


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


def _marks(shares: Floats) -> Drawing:
    width = scale.WIDTH / len(shares)
    return Drawing(
        ''.join(
            f'M{(place + 0.5) * width:.1f} {HEIGHT}v{-HEIGHT * share:.1f}'
            for place, share in enumerate(shares.tolist())
            if share
        )
    )


def _times(hours: float) -> list[scale.Tick]:
    """The ticks of time; none at the end, where its label had no room."""
    step = next((s for s in STEPS if hours / s <= MOST_STEPS), STEPS[-1])
    return [
        scale.Tick(
            f'{number * step / 24:g} d'
            if step >= 24
            else f'{number * step:g} h',
            100 * number * step / hours,
        )
        for number in range(int(hours / step) + 1)
        if number * step < hours * 0.93
    ]
