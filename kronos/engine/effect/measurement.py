# SPDX-License-Identifier: Apache-2.0
"""The effect of one plan: what its moves changed, beside what they should."""

import statistics
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kronos.engine.types import Shares

LEAST_UNTOUCHED = 3
"""Hosts that a common drift is taken from; fewer may have one of their own."""
LEAST_LEFT = 0.5
"""Share of the predicted change that must be on hosts that count."""


class Unmeasured(StrEnum):
    """Why the effect of a plan on a policy cannot be measured."""

    text: str

    def __new__(cls, code: str, text: str) -> 'Unmeasured':
        member = str.__new__(cls, code)
        member._value_, member.text = code, text
        return member

    NO_FORECAST = (
        'effect_no_forecast',
        'its actions do not contain what they should change',
    )
    OFFLINE = (
        'effect_offline',
        'its instances were shut down to move, and that changes their load, '
        'too',
    )
    FORMER_QUERY = (
        'effect_former_query',
        'the queries of the policy have changed since the plan was made',
    )
    NOT_SETTLED = (
        'effect_not_settled',
        'the plan runs, or effect_settling_seconds have not passed',
    )
    NO_MOVES = 'effect_no_moves', 'no instance arrived'
    NO_CHANGE = (
        'effect_no_change',
        'its moves should not change the values of the policy',
    )
    NO_SAMPLES = (
        'effect_no_samples',
        'Prometheus has no usable samples from before and after the plan',
    )
    NO_HISTORY = (
        'effect_no_history',
        'Nova did not list what else changed on the hosts',
    )
    DISTURBED = (
        'effect_disturbed',
        'other instances came to or left hosts with more than half of the '
        'predicted change',
    )


@dataclass(frozen=True)
class PastMove:
    """A move of a plan."""

    instance: str
    source: str
    destination: str
    shares: Mapping[str, Shares]
    """By name of a policy."""
    is_done: bool
    """Whether the instance arrived."""


@dataclass(frozen=True)
class HostChange:
    """The change of the score of one host."""

    host: str
    predicted: float
    realised: float
    """Less the common drift."""


@dataclass(frozen=True)
class PolicyEffect:
    """The effect of one plan on one policy."""

    policy: str
    changes: list[HostChange] = field(default_factory=list)
    drift: float = 0.0
    """Common change of the hosts that the plan did not touch."""
    unmeasured: Unmeasured | None = None

    @property
    def predicted(self) -> float:
        """How far scores should move, summed over the hosts."""
        return sum(abs(change.predicted) for change in self.changes)

    @property
    def realised(self) -> float:
        """How far they did, in the predicted direction."""
        return sum(
            change.realised if change.predicted > 0 else -change.realised
            for change in self.changes
        )

    @property
    def product(self) -> float:
        """Sum over the hosts of predicted times realised changes."""
        return sum(
            change.predicted * change.realised for change in self.changes
        )

    @property
    def square(self) -> float:
        """Sum over the hosts of the squared predicted changes."""
        return sum(change.predicted**2 for change in self.changes)

    @property
    def ratio(self) -> float | None:
        """Realised over predicted of this plan alone."""
        return self.product / self.square if self.square else None


def predicted(moves: Iterable[PastMove], policy: str) -> dict[str, float]:
    """By host the change that moves should bring about.

    A host to and from which a policy knows no share is among them, at 0.
    """
    changes: dict[str, float] = {}
    nothing = Shares(0.0, 0.0)
    for move in moves:
        shares = move.shares.get(policy, nothing)
        for host, change in (
            (move.source, -shares.leaving),
            (move.destination, shares.arriving),
        ):
            changes[host] = changes.get(host, 0.0) + change
    return changes


def measure(
    policy: str,
    moves: Collection[PastMove],
    before: Mapping[str, float],
    after: Mapping[str, float],
    disturbed: Collection[str] = (),
) -> PolicyEffect:
    """Compare what the moves of a plan changed with what they should.

    :param moves: those that are to count, whether a plan wanted them all or
        not: of a plan that never started, all of it
    :param before: scores by host when the plan was made
    :param after: the same when it had ended and settled
    :param disturbed: hosts that other instances came to or left
    """
    expected = predicted(moves, policy)
    whole = sum(map(abs, expected.values()))
    if not expected:
        return PolicyEffect(policy, unmeasured=Unmeasured.NO_MOVES)
    if not whole:
        return PolicyEffect(policy, unmeasured=Unmeasured.NO_CHANGE)
    measured = before.keys() & after.keys()
    untouched = measured - expected.keys() - set(disturbed)
    drift = 0.0
    if len(untouched) >= LEAST_UNTOUCHED:
        drift = statistics.median(
            after[host] - before[host] for host in sorted(untouched)
        )
    changes = [
        HostChange(host, change, after[host] - before[host] - drift)
        for host, change in sorted(expected.items())
        if host in measured and host not in disturbed
    ]
    reason = _lacking(expected, measured, changes, whole)
    return PolicyEffect(policy, changes if not reason else [], drift, reason)


def _lacking(
    expected: Mapping[str, float],
    measured: Collection[str],
    changes: Iterable[HostChange],
    whole: float,
) -> Unmeasured | None:
    sampled = sum(
        abs(change) for host, change in expected.items() if host in measured
    )
    if sampled < LEAST_LEFT * whole:
        return Unmeasured.NO_SAMPLES
    counting = sum(abs(change.predicted) for change in changes)
    return Unmeasured.DISTURBED if counting < LEAST_LEFT * whole else None
