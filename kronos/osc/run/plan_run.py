# SPDX-License-Identifier: Apache-2.0
"""The run of a plan: it is started, followed to its end, and cancelled."""

from kronos.clients.watcher import WatcherClient
from kronos.common import durations, exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.osc import plans
from kronos.osc.plans import Plan
from kronos.osc.run import views
from kronos.osc.run.dialogue import Dialogue
from kronos.osc.run.exit_status import ExitStatus
from kronos.osc.run.polling import NoServiceError, Polling
from kronos.osc.run.views import Percent
from kronos.snapshots import watcher_actions

SUCCEEDED = watcher_actions.FINISHED
CANCELLED = 'CANCELLED'
OVER = (SUCCEEDED, 'FAILED', CANCELLED, 'SUPERSEDED', 'DELETED')
NAMED = 3
"""Moves that went wrong that the result names."""
TRIES = 3
"""A plan may begin just when it is cancelled."""


class PlanRun:
    """One plan, from its start to its end.

    :param uuid: of the plan
    :param percent: how far a move has come
    """

    def __init__(
        self,
        watcher: WatcherClient,
        dialogue: Dialogue,
        polling: Polling,
        uuid: str,
        percent: Percent,
    ) -> None:
        self._watcher = watcher
        self._dialogue = dialogue
        self._polling = polling
        self._uuid = uuid
        self._percent = percent
        self._began = polling.clock()
        self._is_cancelled = False

    def start(self) -> None:
        """:raises ClientError: Watcher refuses"""
        self._began = self._polling.clock()
        self._watcher.start(self._uuid)

    def follow(self) -> ExitStatus:
        """Wait for its end, and print its result.

        :raises KeyboardInterrupt: by Ctrl-C; the plan goes on
        :raises NoServiceError: no applier takes it
        :raises ClientError: Watcher refuses
        :raises KronosException: it does not answer for long
        """
        limit = self._polling.pickup_limit()
        shown = ShellCommand.PLAN_MOVES.of(plan=self._uuid)
        for plan in self._polling.looks(
            self._read,
            self._dialogue.remark,
            f'The plan {self._uuid} goes on. To follow it: {shown}',
        ):
            if plan.state in OVER:
                return self._ended(plan)
            elapsed = self._polling.clock() - self._began
            view = views.of_plan(plan, self._percent, elapsed)
            self._dialogue.show(view)
            if limit.is_over(plan.state) and not self._is_other_ongoing():
                raise self._not_taken()
        raise AssertionError('the looks have no end')

    def interrupted(self) -> None:
        """Ask whether the plan is cancelled; it goes on by default.

        If it is, wait for its end.

        :raises ClientError: Watcher refuses, or does not answer for long
        """
        plan = self._read()
        if plan.state in OVER:
            self._ended(plan)
            return
        if plan.state == watcher_actions.RECOMMENDED:
            start = ShellCommand.PLAN_START.of(plan=self._uuid)
            self._dialogue.remark(
                f'The plan {self._uuid} was not started. To start it: {start}'
            )
            return
        if self._dialogue.is_interactive and self._dialogue.confirm(
            f'Cancel the plan {self._uuid}? Moves under way are aborted.'
        ):
            self._cancel()
            self._is_cancelled = True
            self._dialogue.remark(f'The plan {self._uuid} is being cancelled.')
            self.follow()
            return
        self.leave()

    def leave(self, reason: str = '') -> None:
        """:param reason: for which nobody decides about it"""
        text = f'The plan {self._uuid} '
        if self._is_cancelled:
            shown = ShellCommand.PLAN_MOVES.of(plan=self._uuid)
            text += f'is being cancelled. To follow it: {shown}'
        else:
            cancel = ShellCommand.PLAN_CANCEL.of(plan=self._uuid)
            text += f'goes on. To cancel it: {cancel}'
        self._dialogue.remark(reason + text)

    def _cancel(self) -> None:
        for attempt in range(1, TRIES + 1):
            state = self._read().state
            if state in (*OVER, watcher_actions.CANCELLING):
                return
            is_begun = state == watcher_actions.ONGOING
            target = watcher_actions.CANCELLING if is_begun else CANCELLED
            try:
                self._watcher.set_plan_state(self._uuid, target)
            except exceptions.ClientError:
                if attempt == TRIES or self._read().state == state:
                    raise

    def _read(self) -> Plan:
        return plans.read(self._watcher, self._watcher.plan(self._uuid))

    def _is_other_ongoing(self) -> bool:
        """Whether an applier may be busy with another plan."""
        return any(
            row['state'] == watcher_actions.ONGOING
            for row in self._watcher.plans(plans.PAGE)
        )

    def _not_taken(self) -> NoServiceError:
        waited = durations.exact(self._polling.pickup_seconds)
        cancel = ShellCommand.PLAN_CANCEL.of(plan=self._uuid)
        return NoServiceError(
            f'the plan {self._uuid} has been PENDING for {waited}, and no '
            'other plan is ONGOING: no applier has taken it. Check the '
            'service watcher-applier and its message queue. To cancel the '
            f'plan: {cancel}'
        )

    def _ended(self, plan: Plan) -> ExitStatus:
        seconds = self._polling.clock() - self._began
        self._dialogue.result(
            f'{result(plan)}, after {durations.rounded(seconds)}'
        )
        is_whole = plan.state == SUCCEEDED and plan.done == len(plan.moves)
        return ExitStatus.DONE if is_whole else ExitStatus.PLAN_FAILED


def result(plan: Plan) -> str:
    """How a plan ended, in one line: what went wrong first of all."""
    counted = wording.counted(len(plan.moves), 'action')
    text = f'The plan {plan.uuid} is {plan.state}: {plan.done} of {counted} '
    text += 'succeeded'
    others = [move for move in plan.moves if move.state != SUCCEEDED]
    others.sort(key=lambda move: move.state != watcher_actions.FAILED)
    reasons = [
        ': '.join(filter(None, [f'{move.what} is {move.state}', move.reason]))
        for move in others
    ]
    if reasons:
        text += f'; {"; ".join(reasons[:NAMED])}'
    if len(reasons) > NAMED:
        shown = ShellCommand.PLAN_MOVES.of(plan=plan.uuid)
        text += f' and {len(reasons) - NAMED} more; see {shown}'
    return text
