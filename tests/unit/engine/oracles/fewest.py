# SPDX-License-Identifier: Apache-2.0
"""The fewest migrations that bring all policies within their thresholds.

A solver says it of final placements alone: in which order they may be
reached, and whether a policy objects on the way, does not matter.
"""

import math
from dataclasses import dataclass

import numpy as np

from tests.builders.stalls import Stall

NEAR = 1e-5
"""So much above its threshold a policy is still within: the solver rounds by
less, and all that the set is made of are multiples of .001."""


@dataclass(frozen=True)
class Fewest:
    """What the solver found."""

    migrations: int | None
    """None: it found no such placement"""
    at_least: int
    """No placement needs fewer."""
    is_proven: bool
    """Whether its time sufficed."""


def fewest(stall: Stall, budget: int, seconds: float) -> Fewest:
    """How few migrations do, of at most so many.

    :param seconds: that the solver may take
    """
    from scipy import optimize, sparse

    model = _Model(stall)
    no_more = np.zeros(model.extremes)
    moves = np.append(model.moves, no_more)
    is_placed = np.append(np.ones_like(model.moves), no_more)
    anything = np.append(np.zeros_like(model.moves), no_more + math.inf)
    found = optimize.milp(
        moves,
        constraints=optimize.LinearConstraint(
            sparse.csr_array(np.array([*model.rows, moves])),
            np.array([*model.least, 0.0]),
            np.array([*model.most, budget]),
        ),
        integrality=is_placed,
        bounds=optimize.Bounds(-anything, is_placed + anything),
        options={'time_limit': seconds, 'mip_rel_gap': 0},
    )
    # 1: its time was over.
    is_proven = found.status != 1
    bound = found.mip_dual_bound
    if bound is None or not math.isfinite(bound):
        bound = 0.0
    at_least = math.ceil(bound - NEAR)
    if found.x is None:
        return Fewest(None, at_least, is_proven)
    return Fewest(round(found.fun), at_least, is_proven)


class _Model:
    """Instance v on host h is variable v * H + h.

    Behind these stand the highest and the lowest score of each policy.
    """

    def __init__(self, stall: Stall) -> None:
        names = list(stall.hosts)
        self._hosts = len(names)
        home = np.array([names.index(one.host) for one, _ in stall.vms])
        self._usage = np.array([usage for _, usage in stall.vms])
        self._rest = np.array(list(stall.hosts.values()))
        for at, host in enumerate(home):
            self._rest[host] -= self._usage[at]
        self._policies = len(stall.policies)
        self.extremes = 2 * self._policies
        self.moves = np.ones(len(home) * self._hosts)
        """What each variable counts as a migration."""
        self.moves[np.arange(len(home)) * self._hosts + home] = 0.0
        self.rows: list[np.ndarray] = []
        self.least: list[float] = []
        self.most: list[float] = []
        """Between which the sum of each row must lie."""
        for at in range(len(home)):
            row = self._row()
            row[at * self._hosts : (at + 1) * self._hosts] = 1.0
            self._add(row, 1.0, 1.0)
        for at, policy in enumerate(stall.policies):
            self._keep_within(at, policy.threshold)

    def _row(self) -> np.ndarray:
        return np.zeros(len(self.moves) + self.extremes)

    def _add(self, row: np.ndarray, least: float, most: float) -> None:
        self.rows.append(row)
        self.least.append(least)
        self.most.append(most)

    def _keep_within(self, policy: int, threshold: float) -> None:
        highest = len(self.moves) + policy
        lowest = highest + self._policies
        for host in range(self._hosts):
            score = self._row()
            score[host : len(self.moves) : self._hosts] = self._usage[
                :, policy
            ]
            rest = float(self._rest[host, policy])
            below, above = score.copy(), score.copy()
            below[highest] = above[lowest] = -1.0
            self._add(below, -math.inf, -rest)
            self._add(above, -rest, math.inf)
        row = self._row()
        row[highest], row[lowest] = 1.0, -1.0
        self._add(row, -math.inf, threshold + NEAR)
