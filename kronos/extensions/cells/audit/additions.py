# SPDX-License-Identifier: Apache-2.0
"""The additions to a cell drain: its actions, its summary, its log."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from oslo_log import log as logging

from kronos.engine import wording
from kronos.engine.types import AggregateResult, CycleReport
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.audit import cell_actions
from kronos.extensions.cells.cell_drain import (
    CellMove,
    ForeignMove,
    UnfinishedMove,
    confirming,
)
from kronos.strategies.outcome import planned_actions, status_messages
from kronos.strategies.outcome.additions import Additions
from kronos.strategies.outcome.planned_actions import PlannedAction


class CellAdditions(Additions):
    """What an audit that empties a cell does and says."""

    def ahead(self, report: CycleReport) -> list[PlannedAction]:
        """Moves that were left half done are finished first."""
        begun = enumerate(cell_drain.finishing(*report.scopes), start=1)
        finishing = [
            cell_actions.finishing(number, scope, move)
            for number, (scope, move) in begun
        ]
        closings = [cell_actions.closing(host) for _, host in report.closings]
        return finishing + closings

    def arranged(
        self,
        report: CycleReport,
        ahead: list[PlannedAction],
        moves: list[PlannedAction],
    ) -> list[PlannedAction]:
        """All are cold, and wait for what is done at their hosts before."""
        outcomes = cell_drain.outcomes(report.scopes)
        closings = [
            action
            for action in ahead
            if action.action_type == cell_actions.SERVICE_STATE
        ]
        for action in moves:
            step = action.step
            if step is None or not isinstance(step.how, CellMove):
                continue
            action.action_type = cell_drain.CELL_MOVE
            cell = outcomes[step.scope]
            action.parameters |= cell_actions.move(
                step.how, cell.targets, cell.confirm
            )
            ends = [step.source, step.destination]
            # Nova would resize inside the cell while one of them is open.
            action.after += planned_actions.beside(ends, ahead) + closings
        return [*ahead, *moves]

    def acts(self, scope: AggregateResult) -> bool:
        return bool(cell_drain.finishing(scope))

    def hosts(self, scope: AggregateResult) -> Collection[str]:
        return {
            host
            for _, move in cell_drain.finishing(scope)
            for host in (move.source, move.destination)
        }

    def is_over(self, scope: AggregateResult) -> bool:
        cell = cell_drain.outcome_of(scope)
        return cell is not None and cell.is_empty

    def unfinished(self, scope: AggregateResult) -> list[str]:
        return _not_over(scope)

    def lines(self, scope: AggregateResult) -> Iterator[tuple[int, str]]:
        cell = cell_drain.outcome_of(scope)
        if cell is None:
            return
        for move in cell.finishing:
            yield logging.INFO, f'finish {_begun(move)}'
        for move in cell.unconfirmed:
            yield (
                logging.WARNING,
                f'not confirmed: {_begun(move)}: '
                f'"{confirming(move.instance)}", or revert',
            )
        for move in cell.going_on:
            why = scope.stayed.get(move.instance, f'it is {move.status}')
            yield logging.INFO, f'left as it is: {_begun(move)}: {why}'
        for other in cell.of_others:
            yield (
                logging.WARNING,
                f'server {other.instance} ({other.instance_name}) is in '
                f'VERIFY_RESIZE by somebody else ({other.source} -> '
                f'{other.destination}): confirm or revert it',
            )
        for server in cell.may_be_here:
            yield (
                logging.INFO,
                f'may be in the cell: {server.uuid} ({server.name})',
            )


def _begun(move: UnfinishedMove) -> str:
    return (
        f'{move.instance} ({move.instance_name}) {move.source} -> '
        f'{move.destination}, begun by action {move.action}'
    )


def summary(scope: AggregateResult) -> str:
    """What a plan does for ``kronos_cell``, or that nothing is left."""
    cell = cell_drain.outcome_of(scope)
    if cell is None:
        return ''
    shelved = len(cell.may_be_here)
    beside = f', {shelved} SHELVED_OFFLOADED may be there' if shelved else ''
    if cell.is_empty:
        return f'cell {cell.source} is empty{beside}'
    parts = [
        f'cell {cell.source}: servers {cell.servers_before} -> '
        f'{cell.servers_after}'
    ]
    if cell.staying:
        counts = Counter(scope.stayed[uuid] for uuid in cell.staying)
        reason = min(counts, key=lambda why: (-counts[why], why))
        verb = 'stays' if len(cell.staying) == 1 else 'stay'
        parts.append(f'{len(cell.staying)} {verb} ({reason})')
    parts += _not_over(scope)
    return ', '.join(parts + status_messages.not_drained(scope)) + beside


def _not_over(scope: AggregateResult) -> list[str]:
    """What becomes of moves to another cell that were begun before.

    ``1 move begun before is finished``, ``vm7 waits for you to confirm``
    """
    cell = cell_drain.outcome_of(scope)
    if cell is None:
        return []
    parts = []
    if number := len(cell.finishing):
        text = wording.counted(number, 'move begun before')
        parts.append(f'{text} {"is" if number == 1 else "are"} finished')
    if cell.unconfirmed:
        verb = 'waits' if len(cell.unconfirmed) == 1 else 'wait'
        names = _named(cell.unconfirmed)
        parts.append(f'{names} {verb} for you to confirm or revert')
    if cell.of_others:
        verb = 'is' if len(cell.of_others) == 1 else 'are'
        names = _named(cell.of_others)
        parts.append(
            f'{names} {verb} in VERIFY_RESIZE by somebody else: confirm or '
            'revert'
        )
    return parts


def _named(moves: Sequence[UnfinishedMove | ForeignMove]) -> str:
    return wording.some(
        [wording.named(move.instance_name, move.instance) for move in moves]
    )
