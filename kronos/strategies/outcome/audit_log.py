# SPDX-License-Identifier: Apache-2.0
"""The log of an audit: how its outcome is told there.

One INFO line per scope and one per step, a WARNING per warning, the rest at
DEBUG; the whole is in the report.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from oslo_log import log as logging

from kronos.engine import types, wording
from kronos.reports import rest, thresholds
from kronos.strategies.outcome import status_messages
from kronos.strategies.outcome.additions import PLAIN, Additions

SHOWN = 10
"""Names of one kind in a line of the log."""


def lines(
    report: types.CycleReport, additions: Additions = PLAIN
) -> Iterator[tuple[int, str]]:
    """Every line with its level."""
    for scope in report.scopes:
        for level, text in _of_scope(scope, additions):
            yield level, f'scope {scope.name}: {text}'


def _of_scope(
    scope: types.AggregateResult, additions: Additions
) -> Iterator[tuple[int, str]]:
    yield logging.INFO, _scope_line(scope)
    for policy in scope.policies:
        yield logging.DEBUG, _policy_line(policy)
    for line in (
        _reasons('unavailable host', scope.unavailable_hosts)
        + _reasons('unmovable instance', scope.unmovable)
        + [f'broken before: {text}' for text in scope.violations_before]
        + [f'broken after: {text}' for text in scope.violations_after]
        + [_drain_line(drain) for drain in scope.drains]
    ):
        yield logging.DEBUG, line
    for text in status_messages.unjudged(scope):
        yield logging.WARNING, text
    for warning in scope.warnings:
        yield logging.WARNING, warning
    for closing in scope.closings:
        yield logging.INFO, f'close host {closing.host}: {closing.reason}'
    for step in scope.steps:
        yield logging.INFO, _step_line(scope, step)
    yield from additions.lines(scope)


def _scope_line(scope: types.AggregateResult) -> str:
    zones = Counter(scope.availability_zones.values())
    stages = ', '.join(f'{stage.name} {stage.count}' for stage in scope.stages)
    policies = '; '.join(_policy_words(policy) for policy in scope.policies)
    over = thresholds.of(scope)
    return (
        f'{len(scope.availability_zones)} hosts, availability zones: '
        + ', '.join(f'{zone} ({n})' for zone, n in sorted(zones.items()))
        + f'; stages: {stages}; {policies}; combined imbalance '
        f'{scope.combined_before:.3f} -> {scope.combined_after:.3f}, policies '
        f'over their threshold {over.before.policies} -> '
        f'{over.after.policies}, hosts in use {scope.hosts_in_use_before} -> '
        f'{scope.hosts_in_use_after}'
        + (rest.brief(scope.rest) if scope.rest else '')
        + '; stopped '
        f'({scope.stopped.value}): {scope.reason}'
    )


def _policy_words(policy: types.PolicyResult) -> str:
    if policy.skipped:
        return f'skipped: {policy.skipped}'
    return (
        f'policy {policy.name}: {policy.health.value}, imbalance '
        f'{policy.imbalance_before:.3f} -> {policy.imbalance_after:.3f}'
    )


def _policy_line(policy: types.PolicyResult) -> str:
    """Raw scores and normalised ones, and what is missing."""
    scores = ', '.join(
        f'{score.host} {score.value:.3f} ({score.normalized:.2f})'
        for score in policy.scores
    )
    text = (
        f'policy {policy.name}: threshold {policy.threshold:.3f}, weight '
        f'{policy.weight:.3f}, scores: {scores or "none"}'
    )
    if policy.missing_hosts:
        text += '; without a sample: ' + wording.some(
            policy.missing_hosts, SHOWN
        )
    if policy.unmatched_labels:
        text += '; labels of no host of the scope: ' + wording.some(
            policy.unmatched_labels, SHOWN
        )
    return text


def _reasons(what: str, reasons: Mapping[str, str]) -> list[str]:
    """One line per reason, with how many and the first of them."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(reasons.items()):
        by_reason.setdefault(reason, []).append(name)
    return [
        f'{len(names)} x {what} ({reason}): ' + wording.some(names, SHOWN)
        for reason, names in by_reason.items()
    ]


def _drain_line(drain: types.Drain) -> str:
    staying = '; '.join(_reasons('staying', drain.staying))
    return (
        f'host {drain.host} is emptied ({drain.reason}): {drain.leaving} of '
        f'{drain.instances} leave' + (f'; {staying}' if staying else '')
    )


def _step_line(scope: types.AggregateResult, step: types.MigrationStep) -> str:
    def place(host: str) -> str:
        zone = scope.availability_zones.get(host)
        return f'{host} [{zone}]' if zone else host

    return (
        f'{step.phase.value} {step.instance} ({step.instance_name}) '
        f'{place(step.source)} -> {place(step.destination)}, '
        f'{wording.gibibytes(step.memory_mb)}: '
        + status_messages.change(step.imbalance_before, step.imbalance_after)
    )
