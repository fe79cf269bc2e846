# SPDX-License-Identifier: Apache-2.0
"""The overview of very many hosts, before and after."""

import math
import statistics
from dataclasses import dataclass, field

from kronos.reports.html import formatting, scale
from kronos.reports.html.scale import Band

BINS = 20
HEIGHT = 300
"""Units of the skyline from foot to top."""


@dataclass
class Side:
    """The hosts of a bin, before or after."""

    hosts: int = 0
    over: int = 0
    """Of them, those further than the threshold above the lowest."""
    width: float = 0.0
    """Percent of the fullest bin."""


@dataclass
class Bin:
    """Values of at least ``low`` and less than ``high``."""

    low: float
    high: float
    before: Side = field(default_factory=Side)
    after: Side = field(default_factory=Side)


@dataclass
class Summary:
    lowest: float
    median: float
    highest: float
    over: int


@dataclass
class Skyline:
    """All hosts side by side, the highest first."""

    top: float
    before: formatting.Drawing
    """The path of an area."""
    after: formatting.Drawing
    """The path of a line; each state in its own order."""
    band_y: float
    band_height: float


@dataclass
class Overview:
    bins: list[Bin]
    before: Summary
    after: Summary | None
    skyline: Skyline


def overview(
    befores: list[float], afters: list[float], before: Band, after: Band | None
) -> Overview:
    """:param afters: of the same hosts; empty if they are not known"""
    return Overview(
        _bins(befores, afters, before, after),
        _summary(befores, before),
        _summary(afters, after) if after else None,
        _skyline(befores, afters, after or before),
    )


def _summary(values: list[float], band: Band) -> Summary:
    over = sum(band.over(value) for value in values)
    middle = statistics.median(values)
    return Summary(band.lowest, middle, band.highest, over)


def _bins(
    befores: list[float], afters: list[float], before: Band, after: Band | None
) -> list[Bin]:
    values = befores + afters
    low = min(values)
    step = scale.step_for(max(values) - low, BINS)
    first = math.floor(low / step + formatting.EPSILON)
    last = math.floor(max(values) / step + formatting.EPSILON)
    bins = [
        Bin(round(index * step, 6), round((index + 1) * step, 6))
        for index in range(last, first - 1, -1)
    ]

    def side_of(value: float, name: str) -> Side:
        index = last - math.floor(value / step + formatting.EPSILON)
        side: Side = getattr(bins[index], name)
        return side

    for name, some, band in (
        ('before', befores, before),
        ('after', afters, after),
    ):
        for value in some:
            side = side_of(value, name)
            side.hosts += 1
            side.over += band is not None and band.over(value)
    sides = [side for row in bins for side in (row.before, row.after)]
    most = max(side.hosts for side in sides)
    for side in sides:
        side.width = round(100.0 * side.hosts / most, 2)
    return bins


def _skyline(befores: list[float], afters: list[float], band: Band) -> Skyline:
    top = scale.scale([*befores, *afters, band.ceiling]).top

    def y(value: float) -> float:
        share = min(max(value / top, 0.0), 1.0)
        return round(HEIGHT * (1.0 - share), 1)

    def steps(values: list[float]) -> str:
        wide = scale.WIDTH / len(values)
        return ''.join(
            f'V{y(value):g}H{(index + 1) * wide:.4g}'
            for index, value in enumerate(sorted(values, reverse=True))
        )

    area = f'M0 {HEIGHT}{steps(befores)}V{HEIGHT}Z'
    line = ''
    if afters:
        line = f'M0 {y(max(afters)):g}{steps(afters)}'
    ceiling = y(band.ceiling)
    return Skyline(
        top,
        formatting.Drawing(area),
        formatting.Drawing(line),
        ceiling,
        round(y(band.lowest) - ceiling, 1),
    )
