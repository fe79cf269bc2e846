# SPDX-License-Identifier: Apache-2.0
"""The judged policies of a scope, in words.

Of a policy that was skipped nothing is known: an imbalance of 0 without a
policy in use is no balance.
"""

from dataclasses import dataclass, field

from kronos.engine.types import AggregateResult

UNKNOWN = '-'


@dataclass
class Judged:
    """The policies of a scope, enabled ones only."""

    used: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    """Name to the reason."""

    @property
    def is_judged(self) -> bool:
        """Whether anything is known of its imbalance."""
        return self.used > 0


def of(scope: AggregateResult) -> Judged:
    """What was judged in a scope.

    A policy that is in use without a value of any host tells nothing.
    """
    return Judged(
        sum(bool(one.scores) for one in scope.policies),
        {one.name: one.skipped for one in scope.policies if one.skipped},
    )
