# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-replay."""

from collections.abc import Mapping

from kronos.cmd import judged, terminal
from kronos.cmd.tables import Row, aligned
from kronos.engine.planning import stop_reasons
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationStep,
    PolicyResult,
)
from kronos.policies.models import Mode
from kronos.reports.document import counted as by_frequency

SHOWN_FLOOR = 0.00005
"""Less is printed as 0, which every plan keeps to."""
REASONS_SHOWN = 8
"""Reasons for not moving that the table lists, the most frequent first."""


def table(
    scope: AggregateResult, budget: int | None, width: int | None = None
) -> str:
    """The plan of one scope.

    :param budget: migrations that could be planned; None: no matter
    :param width: of the terminal, in columns; None: no matter
    """
    lines = [f'Scope {scope.name}', *_policy_lines(scope, width)]
    lines += _step_lines(scope.steps, width)
    lines.append(f'Why planning ended: {scope.reason}')
    floor = (
        0.0 if budget is None else stop_reasons.floor(scope.policies, budget)
    )
    if floor >= SHOWN_FLOOR:
        lines.append(
            f'No plan of {counted(budget or 0, "migration")} can get the '
            f'combined imbalance below {floor:.4f}.'
        )
    lines += _reason_lines('unavailable host', scope.unavailable_hosts)
    lines += _reason_lines('instance that cannot move', scope.unmovable)
    lines += [f'Warning: {warning}' for warning in scope.warnings]
    return '\n'.join(map(terminal.line, lines))


def rows(report: CycleReport) -> list[Row]:
    """The steps for programs, the names of the columns first."""
    found: list[Row] = []
    head = (
        'number',
        'scope',
        'instance',
        'name',
        'source',
        'destination',
        'phase',
        'memory_mb',
        'gain',
        'combined_after',
    )
    found.append(head)
    found += [
        (
            str(number),
            step.scope,
            step.instance,
            step.instance_name,
            step.source,
            step.destination,
            step.phase.value,
            str(step.memory_mb),
            gain(step),
            f'{step.combined_after:.4f}',
        )
        for scope in report.scopes
        for number, step in enumerate(scope.steps, start=1)
    ]
    return found


def gain(step: MigrationStep) -> str:
    """How far a step lowers the combined imbalance; below 0 it raises it."""
    return f'{step.combined_before - step.combined_after + 0.0:+.4f}'


def _policy_lines(scope: AggregateResult, width: int | None) -> list[str]:
    fills = any(one.mode is Mode.PACK for one in scope.policies)
    limit = 'ceiling' if fills else 'threshold'
    known = judged.of(scope).is_judged
    found: list[Row] = [('policy', 'weight', limit, 'imbalance', 'after')]
    found += [_policy_row(one, fills) for one in scope.policies]
    found.append(
        (
            'combined',
            '',
            '',
            *_known(known, scope.combined_before, scope.combined_after),
        )
    )
    lines = aligned(found, width)
    lines += [
        f'Not judged: {one.skipped}' for one in scope.policies if one.skipped
    ]
    if fills:
        count = f'{scope.hosts_in_use_before} -> {scope.hosts_in_use_after}'
        return [*lines, f'Hosts in use: {count}']
    count = judged.UNKNOWN
    if known:
        count = f'{scope.hosts_over_before} -> {scope.hosts_over_after}'
    return [
        *lines,
        'Hosts further above the lowest than a threshold of the policies: '
        + count,
    ]


def _policy_row(one: PolicyResult, fills: bool) -> Row:
    limit = one.capacity_threshold if fills else one.threshold
    is_known = bool(one.scores)
    return (
        one.name,
        f'{one.weight:.3f}' if is_known else judged.UNKNOWN,
        f'{limit:.3f}',
        *_known(is_known, one.imbalance_before, one.imbalance_after),
    )


def _known(is_known: bool, before: float, after: float) -> tuple[str, str]:
    if not is_known:
        return judged.UNKNOWN, judged.UNKNOWN
    return f'{before:.4f}', f'{after:.4f}'


def _step_lines(steps: list[MigrationStep], width: int | None) -> list[str]:
    if not steps:
        return ['No migration.']
    names = list(steps[0].imbalance_after)
    found: list[Row] = [
        (
            '',
            'instance',
            'source',
            'destination',
            'phase',
            'MiB',
            'gain',
            'combined',
            *names,
        )
    ]
    for number, step in enumerate(steps, start=1):
        label = step.instance
        if step.instance_name not in ('', step.instance):
            label += f' ({step.instance_name})'
        found.append(
            (
                str(number),
                label,
                step.source,
                step.destination,
                step.phase.value,
                str(step.memory_mb),
                gain(step),
                f'{step.combined_after:.4f}',
                *(f'{step.imbalance_after[name]:.4f}' for name in names),
            )
        )
    total = sum(step.memory_mb for step in steps) / 1024
    return [
        *aligned(found, width, extra=len(names)),
        f'{counted(len(steps), "migration")}, {total:.1f} GiB of memory.',
    ]


def counted(number: int, what: str) -> str:
    """``1 migration``, ``2 instances that cannot move``."""
    noun, _, rest = what.partition(' ')
    return f'{number} {noun}{"" if number == 1 else "s"} {rest}'.rstrip()


def _reason_lines(what: str, reasons: Mapping[str, str]) -> list[str]:
    if not reasons:
        return []
    by_number = by_frequency(reasons)
    lines = [f'{counted(len(reasons), what)}:']
    for reason, number in by_number[:REASONS_SHOWN]:
        example = min(one for one, why in reasons.items() if why == reason)
        others = f' and {number - 1} more' if number > 1 else ''
        lines.append(f'  {example}{others}: {reason}')
    rest = sum(number for _, number in by_number[REASONS_SHOWN:])
    if rest:
        lines.append(f'  and {rest} more, for other reasons')
    return lines
