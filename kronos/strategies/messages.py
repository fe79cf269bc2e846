# SPDX-License-Identifier: Apache-2.0
"""How is the outcome of an audit told, in one sentence?"""

from collections import Counter
from collections.abc import Callable

from kronos.engine import types

REASON = 120
"""Characters of a reason where a warning has to be told beside it."""

Outcome = Callable[[types.AggregateResult], str]
"""Tells what the plan of a scope does for the goal of its audit."""

# Nothing could be judged: that is a failure, not an even cluster.
_BLIND = {types.StopReason.NO_POLICY, types.StopReason.NO_SERVICES}


def is_blind(report: types.CycleReport) -> bool:
    """Whether not one scope could be judged."""
    return bool(report.scopes) and all(
        scope.stopped in _BLIND for scope in report.scopes
    )


def summary(report: types.CycleReport, outcome: Outcome) -> str:
    """The outcome scope by scope; those that could not be judged first."""
    scopes = sorted(
        report.scopes, key=lambda scope: scope.stopped not in _BLIND
    )
    return '; '.join(_scope_summary(scope, outcome) for scope in scopes)


def _scope_summary(scope: types.AggregateResult, outcome: Outcome) -> str:
    if scope.stopped is types.StopReason.COOLDOWN:
        return scope.reason  # it names the scope itself
    if not scope.steps:
        return f'{scope.name}: {_standstill(scope)}'
    return f'{scope.name}: {_migrations(scope)}, {outcome(scope)}'


def _standstill(scope: types.AggregateResult) -> str:
    """The reason, and the warnings where nothing else tells of them.

    The last warnings are those of the phases: what could not be done.
    """
    if scope.stopped in _BLIND or not scope.warnings:
        return scope.reason
    reason = scope.reason
    if len(reason) > REASON:
        reason = f'{reason[: REASON - 3]}...'
    return f'{reason}; warning: ' + '; '.join(reversed(scope.warnings))


def _migrations(scope: types.AggregateResult) -> str:
    """``5 migrations (3 evacuate, 2 spread)``; one phase goes unnamed."""
    number = len(scope.steps)
    text = f'{number} migration{"" if number == 1 else "s"}'
    phases = Counter(step.phase for step in scope.steps)
    if len(phases) == 1:
        return text
    parts = [
        f'{phases[phase]} {phase.value}'
        for phase in types.MigrationPhase
        if phases[phase]
    ]
    return f'{text} ({", ".join(parts)})'


def imbalance(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_balance``."""
    return (
        f'combined imbalance {scope.combined_before:.2f} -> '
        f'{scope.combined_after:.2f} ({scope.stopped.value})' + _beside(scope)
    )


def hosts_in_use(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_consolidate``."""
    return (
        f'hosts in use {scope.hosts_in_use_before} -> '
        f'{scope.hosts_in_use_after}' + _beside(scope)
    )


def drained(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_drain``, host by host."""
    return ', '.join(_drain(one) for one in scope.drains)


def repaired(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_affinity``."""
    return _groups(scope) + ''.join(
        f', {text}' for text in scope.violations_after[:1]
    )


def _beside(scope: types.AggregateResult) -> str:
    """What the other phases leave undone or repair."""
    parts = [_drain(one) for one in scope.drains if one.staying]
    if scope.violations_before:
        parts.append(_groups(scope))
    return ''.join(f', {part}' for part in parts)


def _drain(one: types.Drain) -> str:
    """``h1: 5 leave, 1 stays (the instance is locked)``."""
    verb = 'leaves' if one.leaving == 1 else 'leave'
    text = f'{one.host}: {one.leaving} {verb}'
    if not one.staying:
        return text
    number = len(one.staying)
    # The most frequent reason; of equally frequent ones the first.
    counts = Counter(one.staying.values())
    reason = min(counts, key=lambda why: (-counts[why], why))
    return f'{text}, {number} {"stays" if number == 1 else "stay"} ({reason})'


def _groups(scope: types.AggregateResult) -> str:
    return (
        f'broken server groups {len(scope.violations_before)} -> '
        f'{len(scope.violations_after)}'
    )


def change(before: dict[str, float], after: dict[str, float]) -> str:
    """Imbalances per policy as text: ``cpu 0.62 -> 0.41, memory ...``."""
    return ', '.join(
        f'{name} {value:.3f} -> {after[name]:.3f}'
        for name, value in before.items()
    )
