# SPDX-License-Identifier: Apache-2.0
"""The additions to a recovery: its actions, its summary, its log."""

from collections.abc import Iterator
from typing import Any

from oslo_log import log as logging

from kronos.engine import wording
from kronos.engine.types import AggregateResult, Closing, CycleReport
from kronos.extensions.recovery import outcome
from kronos.extensions.recovery.outcome import Restart
from kronos.extensions.recovery.readings.past_restarts import RESTART
from kronos.strategies.outcome import planned_actions, status_messages
from kronos.strategies.outcome.additions import Additions
from kronos.strategies.outcome.planned_actions import PlannedAction
from kronos.strategies.outcome.status_messages import WHY, cut

CLOSE_HOST = 'kronos_close_host'


class RecoveryAdditions(Additions):
    """What an audit that recovers does and says."""

    def ahead(self, report: CycleReport) -> list[PlannedAction]:
        """Hosts at fault are closed first."""
        return [
            _closing(number, scope, closing)
            for number, (scope, closing) in enumerate(report.closings, start=1)
        ]

    def arranged(
        self,
        report: CycleReport,
        ahead: list[PlannedAction],
        moves: list[PlannedAction],
    ) -> list[PlannedAction]:
        """What leaves a host waits until that is closed, and is told so.

        Watcher goes on with a plan of which an action failed.
        """
        closed = {action.resource: action for action in ahead}
        for action in moves:
            source = action.parameters['source_node']
            if source in closed:
                action.parameters['source_closed'] = True
                action.after.append(closed[source])
        actions = [*ahead, *moves]
        restarts = enumerate(
            outcome.restarts(report.scopes), start=len(actions) + 1
        )
        return actions + [
            PlannedAction(
                RESTART,
                _restart(number, scope, restart),
                restart.instance,
                _before_restart(restart, actions),
            )
            for number, (scope, restart) in restarts
        ]

    def acts(self, scope: AggregateResult) -> bool:
        return bool(outcome.of(scope).restarts)

    def is_described(self, scope: AggregateResult) -> bool:
        return bool(outcome.of(scope).restarts)

    def lines(self, scope: AggregateResult) -> Iterator[tuple[int, str]]:
        for restart in outcome.of(scope).restarts:
            yield logging.INFO, _restart_line(restart)


def _closing(number: int, scope: str, closing: Closing) -> PlannedAction:
    inputs = {
        'aggregate': scope,
        'sequence': number,
        'resource_name': closing.host,
        'source_node': closing.host,
        'reason': str(closing.reason),
    }
    return PlannedAction(CLOSE_HOST, inputs, closing.host)


def _before_restart(
    restart: Restart, actions: list[PlannedAction]
) -> list[PlannedAction]:
    """Its destination was planned with all moves there made."""
    if not restart.is_elsewhere:
        return []
    return planned_actions.beside([restart.destination], actions)


def _restart(number: int, scope: str, restart: Restart) -> dict[str, Any]:
    return {
        'aggregate': scope,
        'sequence': number,
        'resource_name': restart.instance_name,
        'source_node': restart.host,
        'destination_node': restart.destination,
        'attempt': restart.attempt,
        'failure': restart.failure,
        'failed_at': restart.failed_at,
        'stopped': restart.stopped,
        'reason': restart.reason,
    }


def _restart_line(restart: Restart) -> str:
    where = f'-> {restart.destination}' if restart.is_elsewhere else ''
    return (
        f'restart {restart.instance} ({restart.instance_name}) on '
        f'{restart.host} {where}, '
        f'attempt {restart.attempt}: {restart.reason}'
    )


def summary(scope: AggregateResult) -> str:
    """What a plan does for ``kronos_recovery``, host by host."""
    parts = [
        f'{closing.host} is closed ({cut(closing.reason, WHY)})'
        for closing in scope.closings
    ]
    if restarts := outcome.of(scope).restarts:
        elsewhere = sum(restart.is_elsewhere for restart in restarts)
        text = wording.counted(len(restarts), 'restart')
        parts.append(f'{text} ({elsewhere} elsewhere)' if elsewhere else text)
    if scope.drains or scope.not_drained:
        parts.append(status_messages.drained(scope))
    return ', '.join(parts)
