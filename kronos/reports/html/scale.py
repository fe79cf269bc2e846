# SPDX-License-Identifier: Apache-2.0
"""The scale of a figure, and what is within the threshold."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kronos.reports.html import formatting

WIDTH = 1000
"""Units of a figure from side to side; figures are stretched."""
_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


@dataclass
class Tick:
    label: str
    percent: float
    """Of the width."""


@dataclass
class Scale:
    """From 0, so that a bar twice as long is a value twice as large."""

    top: float
    """The value at the far end."""
    ticks: list[Tick]

    def position(self, value: float) -> float:
        """Units from the left; what is beyond the ends stands at them."""
        share = min(max(value / self.top, 0.0), 1.0)
        return round(share * WIDTH, 1)


def scale(
    values: Iterable[float], most_ticks: int = 4, least_step: float = 0.0
) -> Scale:
    """A scale for finite values.

    :param least_step: from tick to tick; 1: values are whole numbers
    """
    highest = max((0.0, *values))
    step = max(step_for(highest, most_ticks), least_step)
    number = max(1, math.ceil(highest / step - formatting.EPSILON))
    ticks = [
        Tick(
            formatting.plain(round(index * step, 6)),
            round(100.0 * index / number, 2),
        )
        for index in range(number + 1)
    ]
    return Scale(number * step, ticks)


def step_for(width: float, most: int) -> float:
    """The smallest round step of which no more than ``most`` are needed."""
    for step in _STEPS:
        if width <= step * most + formatting.EPSILON:
            return step
    return 10.0 ** math.ceil(math.log10(width / most))


@dataclass
class Band:
    """What is within a threshold of the lowest host."""

    lowest: float
    ceiling: float
    highest: float

    def over(self, value: float) -> bool:
        return value > self.ceiling + formatting.EPSILON


def band(values: list[float], threshold: float | None) -> Band | None:
    """None if there is no value.

    :param threshold: None: whatever a value is, it is within
    """
    if not values:
        return None
    lowest, highest = min(values), max(values)
    ceiling = highest if threshold is None else lowest + threshold
    return Band(lowest, ceiling, highest)
