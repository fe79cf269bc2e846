# SPDX-License-Identifier: Apache-2.0
"""What would Kronos do with this recording? Offline, and changing nothing.

Exit status: 0 when the recording was planned, whatever the outcome; 1 when
it cannot be read; 2 when the arguments are wrong.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from kronos.common.exceptions import KronosException
from kronos.engine import explain, report
from kronos.engine.propose import propose
from kronos.engine.settings import Settings, TieBreak
from kronos.engine.types import AggregateResult, CycleReport, MigrationStep
from kronos.snapshots import cluster

REASONS_SHOWN = 8
"""Reasons for not moving that the table lists, the most frequent first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parsed = _parser().parse_args(arguments)
    try:
        recording = cluster.read(parsed.file)
    except KronosException as error:
        print(f'kronos-replay: {error}', file=sys.stderr)
        return 1
    plan = propose([recording.snapshot], recording.policies, _settings(parsed))
    for scope in plan.scopes:
        scope.warnings += recording.warnings
    budget = parsed.max_migrations or max(
        policy.max_migrations_per_cycle for policy in recording.policies
    )
    if parsed.format == 'json':
        text = json.dumps(document(plan, budget), indent=2)
    else:
        text = '\n\n'.join(_table(one, budget) for one in plan.scopes)
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader has seen enough; nothing may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='kronos-replay',
        description='Plan the migrations of a recorded cluster, offline.',
    )
    parser.add_argument(
        'file', metavar='FILE', help='format cluster/1, JSON, maybe gzipped'
    )
    parser.add_argument(
        '--max-migrations',
        type=_positive,
        metavar='N',
        help="migrations to plan at most (default: the policies')",
    )
    parser.add_argument(
        '--plain',
        action='store_true',
        help='the literal rule: the first of equally good migrations, no '
        'plateau moves, no swaps, an instance may move again',
    )
    parser.add_argument(
        '--exhaust',
        action='store_true',
        help='go on when every policy is at its threshold',
    )
    parser.add_argument('--format', choices=['table', 'json'], default='table')
    return parser


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a whole number of at least 1'
        )
    return number


def _settings(parsed: argparse.Namespace) -> Settings:
    settings = Settings(
        max_migrations=parsed.max_migrations,
        exhaust=parsed.exhaust,
        require_headroom=True,
    )
    if parsed.plain:
        settings.tie_break = TieBreak.FIRST
        settings.plateau_moves = settings.swap_moves = False
        settings.repeat_moves = True
    return settings


def document(plan: CycleReport, budget: int) -> dict[str, Any]:
    """The report for programs.

    :param budget: the migrations that could be planned; ``floor`` is what
        no plan of so many can get the combined imbalance below
    """
    found = report.document(plan)
    for scope, row in zip(plan.scopes, found['scopes'], strict=True):
        row['floor'] = explain.floor(scope.policies, budget)
    return found


def _table(scope: AggregateResult, budget: int) -> str:
    lines = [f'Scope {scope.name}']
    lines += _policy_lines(scope)
    lines += _step_lines(scope.steps)
    lines.append(f'Stopped ({scope.stopped.value}): {scope.reason}')
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
    rows = [('policy', 'weight', 'threshold', 'imbalance', 'after')]
    skipped = []
    for one in scope.policies:
        if one.skipped:
            skipped.append(f'Skipped: {one.skipped}')
            continue
        rows.append(
            (
                one.name,
                f'{one.weight:.3f}',
                f'{one.threshold:.3f}',
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
    return [
        *_aligned(rows),
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
        *_aligned(rows),
        f'{len(steps)} migrations, {total:.1f} GiB of memory.',
    ]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
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


if __name__ == '__main__':
    sys.exit(main())
