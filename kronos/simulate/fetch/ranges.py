# SPDX-License-Identifier: Apache-2.0
"""The ranges of a query: what Prometheus has of a time, as an array.

An answer takes ten times its length in memory while it is read, so no request
is for more samples than :data:`MOST_SAMPLES`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kronos.clients.prometheus.client import Series
from kronos.common import exceptions, gc_pause

MOST_SAMPLES = 400_000
"""Of one request; one tick is asked for in any case."""
FEWER = 4
"""So many times fewer ticks are asked for after an answer was too much."""
Floats = npt.NDArray[np.float32]


class RangeSource(Protocol):
    """What answers range queries: Prometheus."""

    def range_query(
        self,
        query: str,
        start: float,
        end: float,
        step: float,
        label_key: str,
        skips_unlabelled: bool,
    ) -> list[Series]:
        """The values of each series over time.

        :raises PrometheusSizeError: a shorter time may be answered
        :raises PrometheusError: it refuses, or cannot be reached
        """


@dataclass
class Block:
    """Values by tick and label; NaN: there is none."""

    labels: list[str]
    values: Floats


class RangeReader:
    """Reads ranges, in requests as long as it goes.

    :param source: of the answers
    :param step: seconds from tick to tick
    :param series: in an answer, as far as is known
    """

    def __init__(
        self, source: RangeSource, step: int, series: int = MOST_SAMPLES
    ) -> None:
        self._source = source
        self._step = step
        self._series = series
        self._most_ticks = MOST_SAMPLES

    def read(self, query: str, label: str, start: float, ticks: int) -> Block:
        """The values at so many ticks.

        Of several series with one value of the label the largest counts.

        :param start: Unix seconds of the first tick
        :raises PrometheusError: Prometheus refuses, or cannot be reached
        """
        parts: list[Block] = []
        done = 0
        while done < ticks:
            number = min(ticks - done, self._request_ticks())
            begin = start + done * self._step
            try:
                parts.append(self._request(query, label, begin, number))
            except exceptions.PrometheusSizeError:
                if number == 1:
                    raise
                self._most_ticks = max(1, number // FEWER)
                continue
            done += number
        return _stacked(parts)

    @gc_pause.paused()
    def _request(
        self, query: str, label: str, begin: float, ticks: int
    ) -> Block:
        end = begin + (ticks - 1) * self._step
        series = self._source.range_query(
            query, begin, end, self._step, label, skips_unlabelled=True
        )
        self._series = max(len(series), 1)
        return _block(series, begin, ticks, self._step)

    def _request_ticks(self) -> int:
        return max(1, min(self._most_ticks, MOST_SAMPLES // self._series))


def _block(
    series: Sequence[Series], begin: float, ticks: int, step: int
) -> Block:
    every = itertools.chain.from_iterable(each.points for each in series)
    points = np.fromiter(itertools.chain.from_iterable(every), np.float64)
    times, numbers = points.reshape(-1, 2).T
    rows = np.rint((times - begin) / step).astype(np.int64)
    columns = np.repeat(
        np.arange(len(series)), [len(each.points) for each in series]
    )
    is_inside = (rows >= 0) & (rows < ticks)
    values = np.full((ticks, len(series)), np.nan, np.float32)
    with np.errstate(over='ignore'):
        values[rows[is_inside], columns[is_inside]] = numbers[is_inside]
    return _distinct([each.label for each in series], values)


def _distinct(labels: list[str], values: Floats) -> Block:
    """The largest value where several columns have one label."""
    first: dict[str, int] = {}
    for column, label in enumerate(labels):
        place = first.setdefault(label, column)
        if place != column:
            values[:, place] = np.fmax(values[:, place], values[:, column])
    if len(first) == len(labels):
        return Block(labels, values)
    return Block(list(first), values[:, list(first.values())])


def _stacked(parts: Sequence[Block]) -> Block:
    """One block of several, one after another."""
    names = dict.fromkeys(label for part in parts for label in part.labels)
    places = {label: number for number, label in enumerate(names)}
    ticks = sum(len(part.values) for part in parts)
    values = np.full((ticks, len(places)), np.nan, np.float32)
    row = 0
    for part in parts:
        columns = [places[label] for label in part.labels]
        values[row : row + len(part.values), columns] = part.values
        row += len(part.values)
    return Block(list(places), values)
