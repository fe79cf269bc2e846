# SPDX-License-Identifier: Apache-2.0
"""The changes of a run by its operator: paused, resumed, finished."""

from collections.abc import Callable
from dataclasses import dataclass

from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.client.run_status import RunStatus
from kronos.extensions.maintenance.client.runs import Run
from kronos.snapshots import watcher_actions

CANCELLED = 'CANCELLED'
STOPPABLE = (*watcher_actions.STARTED, watcher_actions.RECOMMENDED)


def pause(watcher: WatcherClient, run: Run) -> None:
    """Have the run plan nothing until it is resumed.

    :raises KronosException: it has ended, or has not begun
    """
    audit = _live(run)
    if audit.state == runs.PENDING:
        raise exceptions.KronosException(
            f'the audit {audit.uuid} is PENDING, and Watcher pauses none '
            'that no decision engine has taken; try again, or finish the run'
        )
    if audit.state != runs.SUSPENDED:
        watcher.set_audit_state(audit.uuid, runs.SUSPENDED)


def resume(watcher: WatcherClient, run: Run) -> None:
    """:raises KronosException: the run has ended"""
    audit = _live(run)
    if audit.state == runs.SUSPENDED:
        watcher.set_audit_state(audit.uuid, runs.ONGOING)


def _live(run: Run) -> runs.RunAudit:
    if not run.is_live:
        raise exceptions.KronosException(
            f'the run {run.name} has ended: its audit {run.audit.uuid} is '
            f'{run.audit.state}; start it again under its name to go on'
        )
    return run.audit


@dataclass
class Finish:
    """The end of a run: it plans and moves nothing any more.

    :param wait: waits between two looks at its plan, until it returns False
    """

    watcher: WatcherClient
    wait: Callable[[str], bool]

    def carry_out(self, run: Run) -> None:
        """Cancel its audits and what is under way; closed hosts stay."""
        for audit in run.audits:
            if not audit.is_live:
                continue
            if audit.state == runs.SUSPENDED:
                # Watcher cancels no audit that is suspended.
                self.watcher.set_audit_state(audit.uuid, runs.ONGOING)
            self.watcher.set_audit_state(audit.uuid, runs.CANCELLED)
        for audit in run.audits:
            for plan in self.watcher.plans_of(audit.uuid):
                if plan['state'] in STOPPABLE:
                    self._stop(plan['uuid'])

    def _stop(self, plan: str) -> None:
        """Cancel a plan, and wait for the end of what it does."""
        row = self.watcher.plan(plan)
        while row['state'] in STOPPABLE:
            if row['state'] == watcher_actions.ONGOING:
                self.watcher.set_plan_state(plan, watcher_actions.CANCELLING)
            elif row['state'] != watcher_actions.CANCELLING:
                self.watcher.set_plan_state(plan, CANCELLED)
            if not self.wait(f'the plan {plan} is being cancelled'):
                raise exceptions.KronosException(
                    f'the plan {plan} is still {row["state"]}, and may close '
                    'or open hosts; give the command again'
                )
            row = self.watcher.plan(plan)


def remedies(status: RunStatus) -> list[str]:
    """A sentence for each host that an ended run leaves closed."""
    return [
        f'{row.host} stays closed ({row.state}): once it is done, open it by '
        f'"{ShellCommand.SERVICE_ENABLE.of(host=row.host)}", or start the '
        f'run {status.run.name} again'
        for row in status.own
    ]
