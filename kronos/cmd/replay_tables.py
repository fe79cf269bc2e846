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
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    CellOutcome,
    UnfinishedMove,
    confirming,
)
from kronos.extensions.recovery import outcome
from kronos.policies.models import Mode
from kronos.reports import certificates, rest, thresholds
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
    lines += _recovery_lines(scope, uuids) + _cell_lines(scope, uuids)
    lines.append(f'Why planning ended: {scope.reason}')
    lines += rest.sentences(scope.rest) + certificates.of(scope)
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
    if (cell := cell_drain.outcome_of(scope)) is not None:
        moves = (cell.finishing, cell.unconfirmed, cell.going_on)
        uuids.update(move.instance for some in moves for move in some)
    return uuids


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
    return f'{step.combined_before - step.combined_after + 0.0:+.4f}'


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


def _recovery_lines(
    scope: AggregateResult, uuids: wording.ShortUuids
) -> list[str]:
    """What a recovery does besides the migrations."""
    lines = [
        f'Closed before anything leaves: {closing.host}: {closing.reason}'
        for closing in scope.closings
    ]
    for restart in outcome.of(scope).restarts:
        label = uuids.named(restart.instance_name, restart.instance)
        where = f'on {restart.host}'
        if restart.is_elsewhere:
            where = f'{restart.host} -> {restart.destination}'
        lines.append(f'Restart: {label} {where}: {restart.reason}')
    return lines


def _cell_lines(
    scope: AggregateResult, uuids: wording.ShortUuids
) -> list[str]:
    """What becomes of the cell that is emptied, and where servers go."""
    cell = cell_drain.outcome_of(scope)
    if cell is None:
        return []
    lines = [
        f'Cell {cell.source}: {cell.servers_before} servers -> '
        f'{cell.servers_after}; {len(cell.staying)} cannot leave'
    ]
    if cell.is_empty:
        lines = [f'Cell {cell.source} is empty.']
    lines += _begun_lines(cell, uuids)
    lines += [
        'May be in this cell or in another (SHELVED_OFFLOADED): '
        + _named(server.name, server.uuid)
        for server in cell.may_be_here
    ]
    for step in scope.steps:
        if (move := step.how) is None:
            continue
        how = 'keeps its flavor'
        if move.is_resize:
            how = f'{move.source_flavor} -> {move.destination_flavor}'
        lines.append(
            f'{uuids.named(step.instance_name, step.instance)}: '
            f'{move.source_cell} -> {move.destination_cell}, {how}'
            + (f', unpinned from {move.source_zone}' if move.unpins else '')
        )
    return lines


def _begun_lines(cell: CellOutcome, uuids: wording.ShortUuids) -> list[str]:
    """The moves that were begun before."""
    lines = [f'Finished: {_begun(move, uuids)}' for move in cell.finishing]
    lines += [
        f'To be confirmed: {_begun(move, uuids)}: '
        f'"{confirming(move.instance)}", or revert'
        for move in cell.unconfirmed
    ]
    lines += [
        f'Left as it is: {_begun(move, uuids)}' for move in cell.going_on
    ]
    return lines + [
        f'By somebody else: {_named(move.instance_name, move.instance)} '
        f'{move.source} -> {move.destination} is in VERIFY_RESIZE: confirm or '
        'revert it'
        for move in cell.of_others
    ]


def _named(name: str, uuid: str) -> str:
    """The name first; with all of the uuid, which has to be typed."""
    return uuid if name in ('', uuid) else f'{name} ({uuid})'


def _begun(move: UnfinishedMove, uuids: wording.ShortUuids) -> str:
    return (
        f'{uuids.named(move.instance_name, move.instance)} {move.source} -> '
        f'{move.destination} is {move.status}'
    )


def _step_lines(
    steps: list[MigrationStep],
    uuids: wording.ShortUuids,
    width: int | None,
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
