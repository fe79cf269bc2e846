# SPDX-License-Identifier: Apache-2.0
"""The acceptance of a server in its new cell: checked, kept or taken back.

What is not as it was goes back, and so does what belongs to a plan that was
cancelled. Of what somebody else has confirmed, it only reports.
"""

from collections.abc import Sequence
from typing import NoReturn

from oslo_log import log as logging

from kronos.actions.core.retries import joined, reworded
from kronos.clients.nova.server_details import Details
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions import checks
from kronos.extensions.cells.actions.checkpoint import CellMoveStage
from kronos.extensions.cells.actions.comparison import ServerCheck
from kronos.extensions.cells.actions.confirm_or_revert import (
    ConfirmOrRevert,
    deleted,
)
from kronos.extensions.cells.actions.context import MovePart, StartedMove
from kronos.extensions.cells.actions.journal import MOVED, WAITS

LOG = logging.getLogger(__name__)

INSTEAD = 'completed instead of cancelled'
BY_OTHERS = (
    'confirmed by somebody else or by resize_confirm_window: no revert is '
    'possible'
)


class Acceptance(MovePart):
    """One server in its new cell.

    :param before: what it was
    """

    def __init__(
        self, begun: StartedMove, ending: ConfirmOrRevert, before: Details
    ) -> None:
        super().__init__(begun)
        self._ending = ending
        self._before = before
        self.outcome = MOVED

    def settle(self) -> str:
        """Do what is due with a move that waits to be confirmed.

        :returns: where it is, and what there is to remark
        :raises MigrationError: it was taken back, or is not whole
        :raises StaleTask: it was deleted
        """
        if self._checkpoint.stage is CellMoveStage.REVERTING:
            self._take_back(
                faults.error(
                    Fault.ABORTED, 'its last action had begun to revert it'
                )
            )
        self._stop_if_cancelled()
        failed = self._check()
        # Who is cancelled does not wait for a check to pass.
        self._stop_if_cancelled()
        if failed and self._journal.was_being_deleted:
            raise self._revived(failed)
        if failed and self._ending.is_confirmed():
            # What is held for it is something else then.
            return self.confirmed(self._checkpoint.stage)
        if failed:
            self._take_back(faults.error(Fault.CELL_CHECK_FAILED, failed))
        if self._task.is_manual:
            return self._waiting()
        remark = self._ending.confirm()
        if self._context.is_cancelled():
            remark = joined(INSTEAD, remark)
        return joined(self._journal.short(), remark)

    def _revived(self, failed: str) -> exceptions.MigrationError:
        """The error of a server that was deleted when a copy was there.

        Nova has made it anew, without what the deletion took. It can end its
        move in neither way, not even to delete it.
        """
        uuid, commands = self._task.instance, self._journal.commands
        commands += [
            ShellCommand.SERVER_SET_ERROR.of(server=uuid),
            ShellCommand.SERVER_DELETE.of(server=uuid),
            ShellCommand.ALLOCATION_DELETE.of(
                consumer=self._checkpoint.migration
            ),
        ]
        return faults.error(
            Fault.CELL_CHECK_FAILED,
            'deleted while it moved, and there again in '
            f'{self._task.destination_cell}: "{commands[-3]}", then delete '
            f'it; {failed}',
        )

    def confirmed(self, was: CellMoveStage) -> str:
        """The message of a move that is confirmed, whoever did that.

        :param was: its stage when it was found so
        :raises MigrationFailed: a check fails, and nobody can revert it
        :raises StaleTask: it was deleted
        """
        remark = self._ending.of_confirmed()
        if was is CellMoveStage.CONFIRMING:
            return joined(self._journal.short(), remark)
        failed = self._check(is_confirmed=True)
        if failed:
            raise faults.error(
                Fault.CELL_CHECK_FAILED, joined(BY_OTHERS, failed, remark)
            )
        return joined(self._journal.short(), BY_OTHERS, remark)

    def _waiting(self) -> str:
        """The message of a move that an operator confirms."""
        self.outcome = WAITS
        uuid, commands = self._task.instance, self._journal.commands
        confirm = ShellCommand.RESIZE_CONFIRM.of(server=uuid)
        revert = ShellCommand.RESIZE_REVERT.of(server=uuid)
        commands += [confirm, f'# or: {revert}']
        self._ending.leave_unpinned(self._task.destination_zone)
        return f'"{confirm}", or revert: {self._journal.short()}'

    def _stop_if_cancelled(self) -> None:
        if self._context.is_cancelled():
            self._take_back(
                faults.error(Fault.PLAN_CANCELLED, 'its plan was cancelled')
            )

    def _check(self, is_confirmed: bool = False) -> str:
        """All checks of the server in its new cell; '' if they pass."""
        checked = checks.of_arrival(
            self._settings,
            self._context,
            self._before,
            self._checkpoint.migration,
            is_confirmed,
        )
        self._journal.note(checked)
        self._journal.after = self._details()
        return _failed(checked)

    def _take_back(self, because: exceptions.MigrationError) -> NoReturn:
        """Take it back, and say why, and how it went.

        :raises MigrationError: that of ``because``, if all is well
        :raises StaleTask: it was deleted
        """
        LOG.warning('Instance %s: %s', self._task.instance, because)
        requests = checks.asked_meanwhile(self._context, self._task.instance)
        after = self._ending.revert(because)
        checked = checks.of_return(
            self._settings,
            self._context,
            self._before,
            self._checkpoint.migration,
            requests,
        )
        self._journal.note(checked, reverted=True)
        self._details()
        wrong = _failed(checked)
        remark = f'; not as before: {wrong}' if wrong else ''
        text = (
            # What is to be done with it comes first: messages are short.
            f'taken back{after}; {because}'
            if after
            else f'{because}; taken back'
        )
        raise reworded(because, f'{text}{remark}')

    def _details(self) -> dict[str, object]:
        """:raises StaleTask: it was deleted"""
        try:
            now = self._context.details.get(self._task.instance)
        except exceptions.ClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return {}
        if now is None:
            raise deleted()
        return now.document()


def _failed(checked: Sequence[ServerCheck]) -> str:
    """What the checks say that do not pass; '' if all do."""
    return '; '.join(check.text for check in checked if not check.ok)
