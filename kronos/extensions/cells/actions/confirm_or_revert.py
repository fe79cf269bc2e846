# SPDX-License-Identifier: Apache-2.0
"""The confirmation of a move that has arrived, or its revert.

Nova answers before it has begun, and refuses while a host is away: so it is
asked again until it is at it.
"""

import json
import math
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core.allocations import Allocations
from kronos.actions.core.retries import joined
from kronos.actions.core.step import Step, StepEnd, StepLimits, StepRun
from kronos.clients.nova.server_details import Details
from kronos.common import durations, exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions.checkpoint import CellMoveStage
from kronos.extensions.cells.actions.context import MovePart, StartedMove
from kronos.extensions.cells.actions.progress import (
    CellMoveLook,
    CellMoveProgress,
    Standing,
    worded,
)
from kronos.extensions.cells.actions.repair import (
    CellMoveRepair,
    copy_commands,
    unbindings,
)

LOG = logging.getLogger(__name__)

CONFIRMS = frozenset({'confirming', 'confirmed'})
"""Statuses of a migration that somebody has confirmed."""


class ConfirmOrRevert(MovePart):
    """What Nova is asked for when a move is in VERIFY_RESIZE.

    One class, since a confirmation and a revert are asked for, followed and
    told in the same way, and either may end as the other.
    """

    def __init__(self, begun: StartedMove, progress: CellMoveProgress) -> None:
        super().__init__(begun)
        self._progress = progress
        self._broken = CellMoveRepair(begun)
        self._refused = ''
        self._allocations = Allocations(begun.settings, begun.context)

    def confirm(self) -> str:
        """Confirm it, and wait until the server is as it was.

        :returns: what is not in order all the same; '' if all is
        :raises MigrationError: it is not confirmed, or not whole
        :raises StaleTask: it was deleted
        """
        limit = self._settings.timing.confirm_timeout
        nova = self._context.cell_migration
        look = self._ask(
            CellMoveStage.CONFIRMING, 'confirm', nova.confirm, limit
        )
        uuid = self._task.instance
        if look is None:
            command = ShellCommand.RESIZE_CONFIRM.of(server=uuid)
            self._journal.commands.append(command)
            self.leave_unpinned(self._task.destination_zone)
            raise faults.error(
                Fault.CELL_NOT_CONFIRMED,
                joined(
                    'all checks passed, but not confirmed within '
                    f'{durations.exact(limit)}: "{command}"',
                    self._refused,
                ),
            )
        match look.standing:
            case Standing.BROKEN:
                raise self.half_confirmed(look)
            case Standing.REVERTED:
                raise self.reverted(CellMoveStage.CONFIRMING)
            case Standing.GONE:
                raise deleted()
        return self.of_confirmed()

    def of_confirmed(self) -> str:
        """What is not in order of a server that was confirmed.

        :returns: '' if all is
        :raises StaleTask: it was deleted
        """
        remarks = [
            self._as_before(),
            self._allocations.of_a_move(self._checkpoint.migration),
            self._pin_there(),
        ]
        return joined(*remarks)

    def is_confirmed(self) -> bool:
        """Whether somebody else has confirmed it; waits for Nova."""
        try:
            seen = self._progress.look().migration
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return False
        if seen is None or seen.status not in CONFIRMS:
            return False
        limit = self._settings.timing.confirm_timeout
        look = self._progress.until(limit, Standing.ARRIVED)
        return look is not None and look.standing is Standing.CONFIRMED

    def revert(self, because: exceptions.MigrationError) -> str:
        """Take it back, and wait until the server is where it was.

        :returns: what is not in order all the same, behind a semicolon; ''
            if nothing
        :raises MigrationError: it is not back
        :raises StaleTask: it was deleted
        """
        limit = self._settings.timing.revert_timeout
        nova = self._context.cell_migration
        look = self._ask(CellMoveStage.REVERTING, 'revert', nova.revert, limit)
        uuid = self._task.instance
        if look is None:
            command = ShellCommand.RESIZE_REVERT.of(server=uuid)
            self._journal.commands.append(command)
            self.leave_unpinned(self._task.source_zone)
            raise faults.error(
                Fault.CELL_NOT_REVERTED,
                joined(
                    'not taken back within '
                    f'{durations.exact(limit)}: "{command}"',
                    str(because),
                    self._refused,
                ),
            )
        match look.standing:
            case Standing.CONFIRMED:
                raise faults.error(
                    Fault.CELL_NOT_REVERTED,
                    'somebody else confirmed it, so it cannot be taken '
                    f'back: {joined(str(because), self._pin_there())}',
                )
            case Standing.GONE:
                raise deleted()
        after = ''
        if look.standing is Standing.BROKEN:
            if look.instance and look.instance.host != self._task.source:
                raise self.half_confirmed(look)
            after = f'; the way back failed{self._broken.mend(look)}'
        remark = self.pin_back()
        return f'{after}; {remark}' if remark else after

    def reverted(self, was: CellMoveStage) -> exceptions.MigrationError:
        """The error of a move that was taken back, but not by this action."""
        text = (
            'taken back, as its last action had begun to'
            if was is CellMoveStage.REVERTING
            else 'somebody else reverted it in Nova'
        )
        return faults.error(Fault.ABORTED, joined(text, self.pin_back()))

    def half_confirmed(self, look: CellMoveLook) -> exceptions.MigrationError:
        """The error of a move whose source failed at its confirmation."""
        task = self._task
        after = self._broken.mend(look)
        self._journal.commands += [
            *copy_commands(task.instance, task.source_cell),
            *unbindings(
                Details.from_document(self._checkpoint.before), task.source
            ),
        ]
        text = (
            f'it is in {task.destination_cell}, but a copy of it is left in '
            f'{task.source_cell}: see "Repairs" of the guide'
        )
        return faults.error(
            Fault.CELL_COPY_LEFT,
            joined(after.removeprefix('; '), text, self._pin_there()),
        )

    def pin_back(self) -> str:
        """Pin a server that is back to the zone that it was pinned to.

        :returns: why it is not; '' if it is
        """
        return self._pin(self._task.source_zone)

    def leave_unpinned(self, zone: str) -> None:
        """Keep how it is to be pinned, of a move that somebody has to end.

        Nova takes no other zone while it is under way.
        """
        if self._task.unpins:
            self._journal.commands.append(
                f'# when that is over, {_pinning(self._task.instance, zone)}'
            )

    def _pin_there(self) -> str:
        """As of :meth:`pin_back`, to the zone where it is now."""
        return self._pin(self._zone()) if self._task.unpins else ''

    def _pin(self, zone: str) -> str:
        uuid = self._task.instance
        if not self._task.unpins:
            return ''
        try:
            self._context.cell_migration.pin(uuid, zone)
        except exceptions.NovaClientError as error:
            self._journal.commands.append(f'# {_pinning(uuid, zone)}')
            return f'it is not pinned to {zone}: {error}'
        return ''

    def _zone(self) -> str:
        """The one that the server is in now."""
        try:
            services = self._context.nova.list_compute_services()
            instance = self._context.nova.get_instance(self._task.instance)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return self._task.destination_zone
        host = services.get(instance.host) if instance else None
        return host.zone if host else self._task.destination_zone

    def _ask(
        self,
        stage: CellMoveStage,
        what: str,
        ask: Callable[[str], str],
        limit: float,
    ) -> CellMoveLook | None:
        """Ask while our move waits for it, and follow to the end.

        :returns: None if there is none in time
        """
        context, timing = self._context, self._settings.timing
        requests = self._journal.requests
        self._checkpoint.stage = stage
        context.mark(self._checkpoint)
        step = Step(
            participle=f'{what}ed',
            ask=lambda: ask(self._task.instance),
            look=self._look,
            is_reached=lambda look: (
                look.standing not in (Standing.UNDER_WAY, Standing.ARRIVED)
            ),
            may_ask=lambda look: look.standing is Standing.ARRIVED,
            on_request=lambda request: requests.update({what: request}),
        )
        limits = StepLimits(
            timeout=limit,
            poll_interval=timing.poll_interval,
            doubt=timing.settle_timeout,
            idle=timing.settle_timeout,
            conflict=math.inf,
            retry_interval=timing.settle_timeout,
            refusals=math.inf,
        )
        result = StepRun(step, context, limits).carry_out()
        self._refused = str(result.error or '')
        return result.seen if result.end is StepEnd.REACHED else None

    def _look(self) -> CellMoveLook:
        look = self._progress.look()
        self._context.tell(worded(look))
        return look

    def _as_before(self) -> str:
        """Wait until it runs, or is stopped, as before.

        :raises StaleTask: it was deleted
        """
        context, timing = self._context, self._settings.timing
        status = self._checkpoint.status
        deadline = context.clock() + timing.settle_timeout
        while True:
            late = context.clock() >= deadline
            try:
                instance = context.nova.get_instance(self._task.instance)
            except exceptions.NovaClientError as error:
                text = f'Nova does not answer: {error}'
            else:
                if instance is None:
                    raise deleted()
                if instance.status == status and not instance.task_state:
                    return ''
                text = f'it is {instance.status}, and was {status}'
            if late:
                return text
            context.sleep(timing.poll_interval)


def deleted() -> exceptions.MigrationError:
    """The error of a move whose server is gone."""
    return faults.error(
        Fault.INSTANCE_GONE, 'the instance was deleted while it moved'
    )


def _pinning(uuid: str, zone: str) -> str:
    """What pins a server to a zone, for an operator."""
    body = json.dumps({'server': {'pinned_availability_zone': zone}})
    return f'with microversion 2.104: PUT /servers/{uuid} {body}'
