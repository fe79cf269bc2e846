# SPDX-License-Identifier: Apache-2.0
"""The ranges of a query: what Prometheus has of a time, as an array.

An answer takes ten times its length in memory while it is read, so no request
is for more samples than :data:`MOST_SAMPLES`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kronos.clients.prometheus.client import Series
from kronos.common import exceptions

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
    """

    def __init__(self, source: RangeSource, step: int) -> None:
        self._source = source
        self._step = step
        self._series = MOST_SAMPLES
        """In an answer, as far as is known."""
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
                series = self._source.range_query(
                    query,
                    begin,
                    begin + (number - 1) * self._step,
                    self._step,
                    label,
                    skips_unlabelled=True,
                )
            except exceptions.PrometheusSizeError:
                if number == 1:
                    raise
                self._most_ticks = max(1, number // FEWER)
                continue
            parts.append(_block(series, begin, number, self._step))
            self._series = max(len(series), 1)
            done += number
        return _stacked(parts)

    def _request_ticks(self) -> int:
        return max(1, min(self._most_ticks, MOST_SAMPLES // self._series))


def _block(series: list[Series], begin: float, ticks: int, step: int) -> Block:
    columns: dict[str, Floats] = {}
    for each in series:
        points = np.array(each.points, np.float64).reshape(-1, 2)
        places = np.rint((points[:, 0] - begin) / step).astype(np.int64)
        is_inside = (places >= 0) & (places < ticks)
        column = np.full(ticks, np.nan, np.float32)
        with np.errstate(over='ignore'):
            column[places[is_inside]] = points[is_inside, 1]
        if each.label in columns:
            column = np.fmax(column, columns[each.label])
        columns[each.label] = column
        each.points = []
    if not columns:
        return Block([], np.empty((ticks, 0), np.float32))
    return Block(list(columns), np.stack(list(columns.values()), axis=1))


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
