# SPDX-License-Identifier: Apache-2.0
"""How does a plan look on a terminal?"""

from collections.abc import Sequence

from kronos.engine import explain, report
from kronos.engine.types import AggregateResult, MigrationStep
from kronos.policies.models import Mode

REASONS_SHOWN = 8
"""Reasons for not moving that the table lists, the most frequent first."""


def table(scope: AggregateResult, budget: int | None) -> str:
    """The plan of one scope.

    :param budget: migrations that could be planned; None: no matter
    """
    lines = [f'Scope {scope.name}']
    lines += _policy_lines(scope)
    lines += _step_lines(scope.steps)
    lines.append(f'Stopped ({scope.stopped.value}): {scope.reason}')
    if budget is not None:
        floor = explain.floor(scope.policies, budget)
        lines.append(
            f'No plan of {budget} migrations can get the combined imbalance '
            f'below {floor:.4f}.'
        )
    lines += _reason_lines('unavailable hosts', scope.unavailable_hosts)
    lines += _reason_lines('instances that cannot move', scope.unmovable)
    lines += [f'Warning: {warning}' for warning in scope.warnings]
    return '\n'.join(lines)


def _policy_lines(scope: AggregateResult) -> list[str]:
    fills = any(one.mode is Mode.PACK for one in scope.policies)
    limit = 'ceiling' if fills else 'threshold'
    rows = [('policy', 'weight', limit, 'imbalance', 'after')]
    skipped = []
    for one in scope.policies:
        if one.skipped:
            skipped.append(f'Skipped: {one.skipped}')
            continue
        rows.append(
            (
                one.name,
                f'{one.weight:.3f}',
                f'{one.capacity_threshold if fills else one.threshold:.3f}',
                f'{one.imbalance_before:.4f}',
                f'{one.imbalance_after:.4f}',
            )
        )
    rows.append(
        (
            'combined',
            '',
            '',
            f'{scope.combined_before:.4f}',
            f'{scope.combined_after:.4f}',
        )
    )
    if fills:
        count = f'{scope.hosts_in_use_before} -> {scope.hosts_in_use_after}'
        return [*aligned(rows), *skipped, f'Hosts in use: {count}']
    return [
        *aligned(rows),
        *skipped,
        f'Hosts over a threshold: {scope.hosts_over_before} -> '
        f'{scope.hosts_over_after}',
    ]


def _step_lines(steps: list[MigrationStep]) -> list[str]:
    if not steps:
        return ['No migration.']
    names = list(steps[0].imbalance_after)
    rows = [
        ('', 'instance', 'source', 'destination', 'phase', 'MiB', 'combined')
        + tuple(names)
    ]
    for number, step in enumerate(steps, start=1):
        label = step.instance
        if step.instance_name not in ('', step.instance):
            label += f' ({step.instance_name})'
        rows.append(
            (
                str(number),
                label,
                step.source,
                step.destination,
                step.phase.value,
                str(step.memory_mb),
                f'{step.combined_after:.4f}',
            )
            + tuple(f'{step.imbalance_after[name]:.4f}' for name in names)
        )
    total = sum(step.memory_mb for step in steps) / 1024
    return [
        *aligned(rows),
        f'{len(steps)} migrations, {total:.1f} GiB of memory.',
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines whose columns begin below each other."""
    widths = [
        max(len(cell) for cell in column) for column in zip(*rows, strict=True)
    ]
    return [
        '  '.join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _reason_lines(what: str, reasons: dict[str, str]) -> list[str]:
    if not reasons:
        return []
    counted = report.counted(reasons)
    lines = [f'{len(reasons)} {what}:']
    for reason, number in counted[:REASONS_SHOWN]:
        example = min(one for one, why in reasons.items() if why == reason)
        others = f' and {number - 1} more' if number > 1 else ''
        lines.append(f'  {example}{others}: {reason}')
    rest = sum(number for _, number in counted[REASONS_SHOWN:])
    if rest:
        lines.append(f'  and {rest} more, for other reasons')
    return lines
