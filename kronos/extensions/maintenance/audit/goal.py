# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_maintenance, and how its success is measured.

It is frozen, as :mod:`kronos.strategies.efficacy` says.
"""

from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.host_states import State
from kronos.strategies.efficacy import Measure, Share
from kronos.strategies.goals import MIGRATIONS, Goal, OfReport


def _hosts(*states: State) -> OfReport:
    return lambda report: outcome.count(report.scopes, *states)


def _of_runs(report: CycleReport, field: str) -> list[float]:
    return [getattr(outcome.of(scope), field) for scope in report.scopes]


def _to_move(report: CycleReport) -> float:
    return sum(outcome.of(scope).to_move for scope in report.scopes)


def _leaving(report: CycleReport) -> float:
    return len({step.instance for step in report.steps})


class Maintenance(Goal):
    """Hosts that are done, and open again."""

    NAME = 'kronos_maintenance'
    DISPLAY_NAME = 'Kronos: maintained hosts'
    MEASURES: ClassVar = (
        Measure(
            'hosts_to_do',
            'Hosts of the run that are not closed yet.',
            _hosts(State.TO_DO, State.OPENED, State.FOREIGN, State.DOWN),
        ),
        Measure(
            'hosts_emptying',
            'Hosts that the run has closed and that are being emptied.',
            _hosts(State.EMPTYING, State.OCCUPIED),
        ),
        Measure(
            'hosts_handed_over',
            'Hosts that are handed over to be maintained, or returning.',
            _hosts(State.HANDED_OVER, State.RETURNING),
        ),
        Measure(
            'hosts_done',
            'Hosts of the run that are done, and enabled.',
            _hosts(State.DONE),
        ),
        Measure(
            'hosts_late',
            'Hosts that are emptied or handed over for too long.',
            _hosts(State.LATE),
        ),
        Measure(
            'servers_to_move',
            'Servers on hosts that are not emptied, before the plan.',
            _to_move,
        ),
        Measure(
            'servers_to_move_after',
            'Servers among these that the plan does not move.',
            lambda report: max(0.0, _to_move(report) - _leaving(report)),
        ),
        Measure(
            'servers_moved',
            'Servers that the run has moved before the plan.',
            lambda report: max(_of_runs(report, 'moved'), default=0.0),
        ),
        Measure(
            'servers_moved_twice',
            'Servers that the run has moved more than once.',
            lambda report: max(_of_runs(report, 'moved_twice'), default=0.0),
        ),
        Measure(
            'moves_at_least',
            'The fewest moves that any run could make, from the audit on.',
            lambda report: sum(
                outcome.of(scope).forecast.least_moves
                for scope in report.scopes
            ),
        ),
        Measure(
            'most_at_once',
            'The largest at_once with which the run can begin.',
            lambda report: min(
                (
                    outcome.of(scope).look.most_at_once
                    for scope in report.scopes
                    if outcome.of(scope).states
                ),
                default=0.0,
            ),
        ),
        Measure(
            'seconds_to_end',
            'Seconds until the last host is expected to be open again.',
            lambda report: max(
                (
                    outcome.of(scope).forecast.seconds
                    for scope in report.scopes
                ),
                default=0.0,
            ),
        ),
        MIGRATIONS,
    )
    SHARE = Share(
        'servers_leaving',
        'Share of the servers on hosts that are not emptied that the plan '
        'moves.',
        before='servers_to_move',
        after='servers_to_move_after',
    )
