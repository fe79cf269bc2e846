# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-replay."""

from collections.abc import Mapping, Sequence

from kronos.cmd.tables import UNKNOWN, Row, aligned
from kronos.common import durations, plain_text
from kronos.engine import wording
from kronos.engine.planning import move_reasons
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationStep,
    PolicyResult,
)
from kronos.policies.models import Mode
from kronos.reports import certificates, limits, parts, rest, thresholds
from kronos.reports.document import counted as by_frequency

OTHERS = '  of the others'
"""Of the hosts that are not set aside."""
REASONS_SHOWN = 8
"""Reasons for not moving that the table lists, the most frequent first."""

LABELS_SHOWN = 5


def table(scope: AggregateResult, width: int | None = None) -> str:
    """The plan of one scope.

    :param width: of the terminal, in columns; None: no matter
    """
    uuids = wording.ShortUuids(_uuids(scope))
    lines = [f'Scope {scope.name}', *_policy_lines(scope, width)]
    lines += _step_lines(scope.steps, uuids, width)
    lines += [
        f'Closed before any server leaves: {closing.host}: {closing.reason}'
        for closing in scope.closings
    ]
    for part in parts.every():
        lines += part.lines(scope, uuids)
    lines.append(f'Why planning ended: {scope.reason}')
    lines += rest.sentences(scope.rest) + certificates.of(scope)
    lines += limits.sentences(scope)
    lines += _reason_lines('host left out', scope.unavailable_hosts)
    names = {
        uuid: uuids.named(instance.name, uuid)
        for uuid, instance in scope.instances.items()
    }
    unmovable = {
        names.get(uuid, uuid): why for uuid, why in scope.unmovable.items()
    }
    lines += _reason_lines('instance that cannot move', unmovable)
    lines += [f'Warning: {warning}' for warning in scope.warnings]
    return '\n'.join(map(plain_text.line, lines))


def _uuids(scope: AggregateResult) -> set[str]:
    """Those of all servers that a plan is about."""
    uuids = {*scope.instances, *(step.instance for step in scope.steps)}
    return uuids.union(*(part.uuids(scope) for part in parts.every()))


def rows(report: CycleReport) -> list[Row]:
    """The steps for programs, the names of the columns first."""
    result: list[Row] = []
    head = (
        'number',
        'scope',
        'instance',
        'name',
        'source',
        'destination',
        'phase',
        'memory_mb',
        'copied_mb',
        'seconds',
        'gain',
        'combined_after',
    )
    result.append(head)
    result += [
        (
            str(number),
            step.scope,
            step.instance,
            step.instance_name,
            step.source,
            step.destination,
            step.phase.value,
            str(step.memory_mb),
            str(step.copied_mb),
            f'{step.seconds:.0f}',
            gain(step),
            f'{step.combined_after:.4f}',
        )
        for scope in report.scopes
        for number, step in enumerate(scope.steps, start=1)
    ]
    return result


def gain(step: MigrationStep) -> str:
    """How far a step lowers the combined imbalance; below 0 it raises it."""
    return f'{step.combined_before - step.combined_after:+z.4f}'


def _policy_lines(scope: AggregateResult, width: int | None) -> list[str]:
    fills = any(policy.mode is Mode.PACK for policy in scope.policies)
    limit = 'ceiling' if fills else 'threshold'
    is_judged = scope.policies_used > 0
    table_rows: list[Row] = [('policy', 'weight', limit, 'imbalance', 'after')]
    for policy in scope.policies:
        table_rows.append(_policy_row(policy, fills))
        if scope.rest and policy.name in scope.rest.policies:
            before = scope.rest.imbalance_before[policy.name]
            after = scope.rest.imbalance_after[policy.name]
            table_rows.append((OTHERS, '', '', *_figures(True, before, after)))
    ends = scope.combined_before, scope.combined_after
    table_rows.append(('combined', '', '', *_figures(is_judged, *ends)))
    if scope.rest:
        ends = scope.rest.combined_before, scope.rest.combined_after
        table_rows.append((OTHERS, '', '', *_figures(True, *ends)))
    lines = aligned(table_rows, width)
    lines += [
        f'Not judged: {policy.skipped}'
        for policy in scope.policies
        if policy.skipped
    ]
    lines += [
        f'Labels of policy {policy.name} that match no host of the scope: '
        + wording.some(policy.unmatched_labels, LABELS_SHOWN)
        for policy in scope.policies
        if policy.unmatched_labels
    ]
    if fills:
        count = f'{scope.hosts_in_use_before} -> {scope.hosts_in_use_after}'
        return [*lines, f'Hosts in use: {count}']
    over = thresholds.of(scope).text if is_judged else UNKNOWN
    return [*lines, f'Policies over their threshold: {over}']


def _policy_row(policy: PolicyResult, fills: bool) -> Row:
    limit = policy.capacity_threshold if fills else policy.threshold
    is_known = bool(policy.scores)
    return (
        policy.name,
        f'{policy.weight:.3f}' if is_known else UNKNOWN,
        f'{limit:.3f}',
        *_figures(is_known, policy.imbalance_before, policy.imbalance_after),
    )


def _figures(is_known: bool, before: float, after: float) -> tuple[str, str]:
    if not is_known:
        return UNKNOWN, UNKNOWN
    return f'{before:.4f}', f'{after:.4f}'


def _step_lines(
    steps: list[MigrationStep], uuids: wording.ShortUuids, width: int | None
) -> list[str]:
    if not steps:
        return ['No migration.']
    names = list(steps[0].imbalance_after)
    of_rest = any(step.rest_after is not None for step in steps)
    table_rows: list[Row] = [
        (
            '',
            'instance',
            'source',
            'destination',
            'phase',
            'memory',
            'lasts',
            'gain',
            'combined',
            *(['of the others'] if of_rest else []),
            *names,
        )
    ]
    table_rows += [
        _step_row(number, step, uuids, names, of_rest)
        for number, step in enumerate(steps, start=1)
    ]
    total = wording.gibibytes(sum(step.memory_mb for step in steps))
    migrations = wording.counted(len(steps), 'migration')
    return [
        *aligned(table_rows, width, extra=len(names)),
        *move_reasons.plateaus(steps),
        f'{migrations}, {total} of memory.',
        *_work(steps),
    ]


def _step_row(
    number: int,
    step: MigrationStep,
    uuids: wording.ShortUuids,
    policies: Sequence[str],
    of_rest: bool,
) -> Row:
    return (
        str(number),
        uuids.named(step.instance_name, step.instance),
        step.source,
        step.destination,
        step.phase.value,
        wording.gibibytes(step.memory_mb),
        durations.rounded(step.seconds) if step.seconds else UNKNOWN,
        gain(step),
        f'{step.combined_after:.4f}',
        *([_rest_after(step)] if of_rest else []),
        *(f'{step.imbalance_after[name]:.4f}' for name in policies),
    )


def _rest_after(step: MigrationStep) -> str:
    return '' if step.rest_after is None else f'{step.rest_after:.4f}'


def _work(steps: Sequence[MigrationStep]) -> list[str]:
    """What is copied, and how long that takes one after another."""
    copied = wording.gibibytes(sum(step.copied_mb for step in steps))
    seconds = sum(step.seconds for step in steps)
    if not seconds:
        return []
    return [
        f'{copied} are copied, in about {durations.rounded(seconds)} one '
        'after another.'
    ]


def _reason_lines(what: str, reasons: Mapping[str, str]) -> list[str]:
    if not reasons:
        return []
    by_number = by_frequency(reasons)
    lines = [f'{wording.counted(len(reasons), what)}:']
    for reason, number in by_number[:REASONS_SHOWN]:
        example = min(name for name, why in reasons.items() if why == reason)
        others = f' and {number - 1} more' if number > 1 else ''
        lines.append(f'  {example}{others}: {reason}')
    rest = sum(number for _, number in by_number[REASONS_SHOWN:])
    if rest:
        lines.append(f'  and {rest} more, for other reasons')
    return lines
