# SPDX-License-Identifier: Apache-2.0
"""The arrays of the engine: types, positions, extremes, EPSILON."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronos.engine import wording
from kronos.engine.types import Snapshot

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

EPSILON = 1e-9
"""Scores that differ by less are equal: sums of the same shares in another
order differ by 1e-16, and no migration is worth a billionth."""


class Index:
    """Names to positions and back: hosts by name, instances by uuid."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.hosts = sorted(snapshot.hosts)
        self.instances = sorted(snapshot.instances)
        self.host = {
            name: position for position, name in enumerate(self.hosts)
        }
        self.instance = {
            uuid: position for position, uuid in enumerate(self.instances)
        }
        self._snapshot = snapshot

    @functools.cached_property
    def _names(self) -> wording.ServerNames:
        return wording.ServerNames(self._snapshot.instances)

    def server(self, position: int) -> str:
        """An instance by its position, as people call it."""
        return self._names.of(self.instances[position])


@dataclass
class Extremes:
    """The three highest or lowest of the counting hosts for one policy.

    Three, since a move touches two hosts: one of the three is left.
    """

    hosts: tuple[int, int, int]
    """-1 where there are fewer hosts."""
    values: tuple[float, float, float]

    def outlast(self, row: FloatArray, hosts: Sequence[int]) -> bool:
        """Whether they are the same although some hosts have changed.

        Never where some are equal, since it is open then which come first.

        :param row: [H], the values of now
        """
        first, second, third = self.values
        if first == second or second == third:
            return False
        sign = math.copysign(1.0, third - first)
        return all(
            host not in self.hosts and sign * row[host] > sign * third
            for host in hosts
        )

    def without(self, source: IntArray, other: IntArray) -> FloatArray:
        """The extreme over all hosts but two, for each pair of the two."""
        (first, second, _), (best, next_best, third) = self.hosts, self.values
        with_first = (source == first) | (other == first)
        with_second = (source == second) | (other == second)
        return np.where(
            with_first, np.where(with_second, third, next_best), best
        )


def extremes(row: FloatArray, hosts: IntArray, sign: float) -> Extremes:
    """The highest or the lowest values of a row at some hosts.

    :param row: [H]
    :param hosts: at least one
    :param sign: 1.0 for the lowest, -1.0 for the highest
    """
    values = row[hosts]
    last = min(3, len(hosts))
    signed = sign * values
    if last < len(hosts):
        positions = np.argpartition(signed, last - 1)[:last]
    else:
        positions = np.arange(last)
    positions = positions[np.argsort(signed[positions], kind='stable')]
    names = hosts[positions].tolist() + [-1] * (3 - last)
    scores = values[positions].tolist() + [sign * math.inf] * (3 - last)
    return Extremes(
        (names[0], names[1], names[2]), (scores[0], scores[1], scores[2])
    )
