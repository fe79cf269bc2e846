# SPDX-License-Identifier: Apache-2.0
"""The thresholds of a scope: how many policies are over theirs, and how far.

What the tables, the page and the log show beside the imbalances. A move that
spreads never raises either number, whereas hosts that are counted from the
lowest one may become more when that one rises.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kronos.engine.types import AggregateResult

SAME = 1e-9
"""So far over its threshold a policy is within."""


@dataclass(frozen=True)
class Over:
    """The policies over their thresholds at one time."""

    policies: int
    excess: float
    """How far they are over, in combined imbalance."""


@dataclass(frozen=True)
class Change:
    """What a plan makes of it."""

    before: Over
    after: Over

    @property
    def text(self) -> str:
        """``3 -> 1, by 0.5600 -> 0.1000 of combined imbalance``"""
        text = f'{self.before.policies} -> {self.after.policies}'
        if not self.before.policies and not self.after.policies:
            return text
        return (
            f'{text}, by {self.before.excess:.4f} -> {self.after.excess:.4f} '
            'of combined imbalance'
        )


def of(scope: AggregateResult) -> Change:
    """That of a result; skipped policies are over nothing."""
    used = [policy for policy in scope.policies if policy.scores]
    return Change(
        _over((x.imbalance_before, x.threshold, x.weight) for x in used),
        _over((x.imbalance_after, x.threshold, x.weight) for x in used),
    )


def of_row(scope: Mapping[str, Any]) -> Change:
    """That of a scope in a report."""
    used = [row for row in scope['policies'] if row['scores']]
    before, after = (
        _over((row[key], row['threshold'], row['weight']) for row in used)
        for key in ('imbalance_before', 'imbalance_after')
    )
    return Change(before, after)


def _over(rows: Iterable[tuple[float, float, float]]) -> Over:
    """:param rows: imbalance, threshold and weight of each policy"""
    excesses = [
        (weight, value - threshold)
        for value, threshold, weight in rows
        if value > threshold + SAME
    ]
    return Over(
        len(excesses), math.fsum(weight * over for weight, over in excesses)
    )
