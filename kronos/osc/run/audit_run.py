# SPDX-License-Identifier: Apache-2.0
"""The run of an audit: it is created, and followed to its plan."""

from kronos.clients.rest import Json
from kronos.clients.watcher import WatcherClient
from kronos.common import durations, exceptions, plain_text
from kronos.common.shell_commands import ShellCommand
from kronos.osc import plans
from kronos.osc.plans import Plan
from kronos.osc.run import refused_parameters
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.polling import NoServiceError, Polling
from kronos.osc.run.request import AuditRequest
from kronos.osc.run.views import View

SUCCEEDED = 'SUCCEEDED'
OVER = (SUCCEEDED, 'FAILED', 'CANCELLED', 'DELETED', 'SUSPENDED')


class AuditRun:
    """One audit, from the request to its plan."""

    def __init__(
        self,
        watcher: WatcherClient,
        dialogue: Dialogue,
        polling: Polling,
        request: AuditRequest,
    ) -> None:
        self._watcher = watcher
        self._dialogue = dialogue
        self._polling = polling
        self._request = request
        self.message = ''
        """What the audit says about its result."""

    def run(self) -> Plan | None:
        """Create the audit, and wait for its end.

        :returns: its plan; None if it planned no action
        :raises KeyboardInterrupt: by Ctrl-C; the audit may go on
        :raises NoServiceError: no decision engine takes it
        :raises KronosException: it failed, or Watcher refuses
        """
        self._dialogue.show(View(f'creating the audit {self._request.name}'))
        self._create()
        row = self._followed()
        self.message = plain_text.line(row.get('status_message') or '')
        if row['state'] != SUCCEEDED:
            raise exceptions.KronosException(
                f'the audit {self._request.name} is '
                f'{plain_text.line(row["state"])}: '
                f'{self.message or "it has no message"}'
            )
        planned = [
            plans.read(self._watcher, plan)
            for plan in self._watcher.plans_of(row['uuid'])
        ]
        return next((plan for plan in planned if plan.moves), None)

    def _create(self) -> None:
        try:
            self._watcher.create_audit(self._request.fields)
        except exceptions.ClientError as error:
            raise refused_parameters.explained(error, self._request) from error

    def _followed(self) -> Json:
        """Its row, once it is over."""
        limit = self._polling.pickup_limit()
        name = self._request.name
        for row in self._polling.looks(
            lambda: self._watcher.audit(name),
            self._dialogue.remark,
            self._going_on,
        ):
            state = plain_text.line(row.get('state') or '')
            if state in OVER:
                return row
            self._dialogue.show(View(f'the audit {name} is {state}'))
            if limit.is_over(state):
                waited = durations.exact(self._polling.pickup_seconds)
                raise NoServiceError(
                    f'the audit {name} has been PENDING for {waited}: no '
                    'decision engine has taken it. Check the service '
                    'watcher-decision-engine and its message queue; it may '
                    'also be busy with other audits. To cancel the audit: '
                    f'{ShellCommand.AUDIT_CANCEL.of(audit=name)}'
                )
        raise AssertionError('the looks have no end')

    def interrupted(self) -> None:
        """Ask whether the audit is cancelled; it goes on by default."""
        name = self._request.name
        row = self._row()
        if row is None:
            self._dialogue.remark('No audit was created.')
            return
        if row['state'] in OVER:
            self._dialogue.remark(
                f'The audit {name} has ended, and no plan was started.'
            )
            return
        if self._dialogue.is_interactive and self._dialogue.confirm(
            f'Cancel the audit {name}?'
        ):
            self._watcher.set_audit_state(row['uuid'], 'CANCELLED')
            self._dialogue.remark(f'The audit {name} was cancelled.')
            return
        self.leave()

    def leave(self, reason: str = '') -> None:
        """:param reason: for which nobody decides about it"""
        self._dialogue.remark(reason + self._going_on)

    @property
    def _going_on(self) -> str:
        name = self._request.name
        return (
            f'The audit {name} goes on, and starts no move. To cancel it: '
            f'{ShellCommand.AUDIT_CANCEL.of(audit=name)}'
        )

    def _row(self) -> Json | None:
        """None: Watcher has not got the request."""
        try:
            return self._watcher.audit(self._request.name)
        except exceptions.ClientError as error:
            if error.kwargs['status'] != 404:
                raise
            return None
