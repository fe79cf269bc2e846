# SPDX-License-Identifier: Apache-2.0
"""How is the outcome of an audit told, in one sentence and in the log?"""

from collections import Counter

from kronos.engine import labels, types

SHOWN = 10
"""Names of one kind in a line of the log."""

# Nothing could be judged: that is a failure, not an even cluster.
_BLIND = {types.StopReason.NO_POLICY, types.StopReason.NO_SERVICES}


def is_blind(report: types.CycleReport) -> bool:
    """Whether not one scope could be judged."""
    return bool(report.scopes) and all(
        scope.stopped in _BLIND for scope in report.scopes
    )


def summary(report: types.CycleReport) -> str:
    """The outcome scope by scope; those that could not be judged first."""
    scopes = sorted(
        report.scopes, key=lambda scope: scope.stopped not in _BLIND
    )
    return '; '.join(_scope_summary(scope) for scope in scopes)


def _scope_summary(scope: types.AggregateResult) -> str:
    if not scope.steps:
        return f'{scope.name}: {scope.reason}'
    number = len(scope.steps)
    noun = 'migration' if number == 1 else 'migrations'
    return (
        f'{scope.name}: {number} {noun}, combined imbalance '
        f'{scope.combined_before:.2f} -> {scope.combined_after:.2f} '
        f'({scope.stopped.value})'
    )


def change(before: dict[str, float], after: dict[str, float]) -> str:
    """Imbalances per policy as text: ``cpu 0.62 -> 0.41, memory ...``."""
    return ', '.join(
        f'{name} {value:.3f} -> {after[name]:.3f}'
        for name, value in before.items()
    )


def report_lines(report: types.CycleReport) -> list[str]:
    """The whole report for the log, one line per fact (N12, A14, F2)."""
    lines = []
    for scope in report.scopes:
        lines += [f'scope {scope.name}: {line}' for line in _lines(scope)]
    return lines


def _lines(scope: types.AggregateResult) -> list[str]:
    zones = Counter(scope.availability_zones.values())
    lines = [
        f'{len(scope.availability_zones)} hosts, availability zones: '
        + ', '.join(f'{zone} ({n})' for zone, n in sorted(zones.items()))
    ]
    lines += [_policy_line(policy) for policy in scope.policies]
    lines += _reasons('unavailable host', scope.unavailable_hosts)
    lines += _reasons('unmovable instance', scope.unmovable)
    lines += [f'warning: {warning}' for warning in scope.warnings]
    phases = Counter(step.phase for step in scope.steps)
    for phase in types.MigrationPhase:
        if phases[phase]:
            lines.append(f'phase {phase.value}: {phases[phase]} migrations')
    lines += [_step_line(scope, step) for step in scope.steps]
    lines.append(
        f'stopped ({scope.stopped.value}): {scope.reason}; combined '
        f'imbalance {scope.combined_before:.3f} -> '
        f'{scope.combined_after:.3f}, hosts over a threshold '
        f'{scope.hosts_over_before} -> {scope.hosts_over_after}'
    )
    return lines


def _policy_line(policy: types.PolicyResult) -> str:
    if policy.skipped:
        return f'skipped: {policy.skipped}'
    missing = ''
    if policy.missing_hosts:
        missing = '; without a sample: ' + labels.some(
            policy.missing_hosts, SHOWN
        )
    if policy.unmatched_labels:
        missing += '; labels of no host of the scope: ' + labels.some(
            policy.unmatched_labels, SHOWN
        )
    return (
        f'policy {policy.name}: {policy.health.value}, imbalance '
        f'{policy.imbalance_before:.3f} -> {policy.imbalance_after:.3f}, '
        f'threshold {policy.threshold:.3f}, weight {policy.weight:.3f}, '
        f'{len(policy.scores)} hosts{missing}'
    )


def _reasons(what: str, found: dict[str, str]) -> list[str]:
    """One line per reason, with how many and the first of them."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(found.items()):
        by_reason.setdefault(reason, []).append(name)
    return [
        f'{len(names)} x {what} ({reason}): ' + labels.some(names, SHOWN)
        for reason, names in by_reason.items()
    ]


def _step_line(scope: types.AggregateResult, step: types.MigrationStep) -> str:
    def place(host: str) -> str:
        zone = scope.availability_zones.get(host)
        return f'{host} [{zone}]' if zone else host

    return (
        f'{step.phase.value} {step.instance} ({step.instance_name}) '
        f'{place(step.source)} -> {place(step.destination)}, '
        f'{step.memory_mb} MiB: '
        + change(step.imbalance_before, step.imbalance_after)
    )
