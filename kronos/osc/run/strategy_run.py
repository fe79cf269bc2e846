# SPDX-License-Identifier: Apache-2.0
"""The run of a strategy: an audit, its plan, a question, the moves."""

from collections.abc import Callable
from dataclasses import dataclass

from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.osc.plans import Plan
from kronos.osc.run import plan_table
from kronos.osc.run.audit_run import AuditRun
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.exit_status import ExitStatus
from kronos.osc.run.plan_run import PlanRun
from kronos.osc.run.polling import Polling
from kronos.osc.run.request import AuditRequest
from kronos.osc.run.views import Percent


@dataclass
class Choice:
    """How far a run goes."""

    starts: bool = False
    """Whether the plan is started at all."""
    waits: bool = False
    """Whether its moves are followed to their end."""
    is_confirmed: bool = False
    """Whether it is started without a question."""


class StrategyRun:
    """One strategy from the question to the end.

    :param percent: makes what reads how far a move has come; it is called
        once moves are followed
    """

    def __init__(
        self,
        watcher: WatcherClient,
        dialogue: Dialogue,
        polling: Polling,
        choice: Choice,
        percent: Callable[[], Percent],
    ) -> None:
        self._watcher = watcher
        self._dialogue = dialogue
        self._polling = polling
        self._choice = choice
        self._percent = percent

    def run(self, request: AuditRequest) -> ExitStatus:
        """:raises KronosException: something kept it from its end"""
        audit = AuditRun(self._watcher, self._dialogue, self._polling, request)
        try:
            plan = audit.run()
        except KeyboardInterrupt:
            return self._interrupted(audit)
        if plan is None:
            self._dialogue.result(
                audit.message or 'The audit planned no action.'
            )
            return ExitStatus.NOTHING_PLANNED
        self._dialogue.result(plan_table.text(plan, audit.message))
        if not self._choice.starts:
            self._not_started(plan)
            return ExitStatus.DONE
        try:
            is_confirmed = self._is_confirmed(plan)
        except KeyboardInterrupt:
            self._dialogue.remark('')
            self._not_started(plan)
            return ExitStatus.INTERRUPTED
        if not is_confirmed:
            self._not_started(plan)
            return ExitStatus.NOT_STARTED
        return self._carry_out(plan)

    def _is_confirmed(self, plan: Plan) -> bool:
        if self._choice.is_confirmed:
            return True
        if not self._dialogue.is_interactive:
            self._dialogue.remark(
                'No terminal can confirm the start; use --yes to start the '
                'plan without a question.'
            )
            return False
        return self._dialogue.confirm(f'Start the plan {plan.uuid}?')

    def _not_started(self, plan: Plan) -> None:
        start = ShellCommand.PLAN_START.of(plan=plan.uuid)
        self._dialogue.remark(
            f'The plan {plan.uuid} was not started. To start it: {start}'
        )

    def _carry_out(self, plan: Plan) -> ExitStatus:
        run = PlanRun(
            self._watcher,
            self._dialogue,
            self._polling,
            plan.uuid,
            self._percent(),
        )
        try:
            run.start()
            if self._choice.waits:
                return run.follow()
        except KeyboardInterrupt:
            return self._interrupted(run)
        moves = ShellCommand.PLAN_MOVES.of(plan=plan.uuid)
        self._dialogue.result(
            f'The plan {plan.uuid} was started. To follow it: {moves}'
        )
        return ExitStatus.DONE

    def _interrupted(self, run: AuditRun | PlanRun) -> ExitStatus:
        """Ctrl-C again leaves what goes on as it is."""
        self._dialogue.remark('')
        try:
            run.interrupted()
        except KeyboardInterrupt:
            self._dialogue.remark('')
            run.leave()
        except exceptions.ClientError as error:
            if not error.kwargs['transient']:
                raise
            run.leave('Watcher does not answer. ')
        return ExitStatus.INTERRUPTED
