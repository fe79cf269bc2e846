# SPDX-License-Identifier: Apache-2.0
"""The request to Nova for a move to another cell: made once, whatever is lost.

A checkpoint goes before it, so that who finds the action later never asks
again.
"""

from oslo_log import log as logging

from kronos.actions.core.own_requests import MoveRequest
from kronos.actions.core.retries import extended
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import Instance
from kronos.extensions.cells.actions import remedies
from kronos.extensions.cells.actions.checkpoint import Checkpoint
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.actions.parameters import (
    CellMoveSettings,
    CellMoveTask,
)
from kronos.extensions.cells.cell_drain import POLICY

LOG = logging.getLogger(__name__)

TAKEN_UP = 'pre-migrating'
"""Status of a migration that Nova has left behind and takes up again for the
next request, uuid and all."""
KNOWN = 10
"""So many earlier migrations are kept in mind: others are older by far."""
CLOSED = (
    'Nova does not know {host}, which os-services lists, for more than one '
    f'server: the policy {POLICY} is closed, or the cells of hosts are set '
    'wrong'
)
REFUSED = (
    'Nova does not know {host}, which os-services lists, for this server: a '
    f'port of it has a resource request, or the policy {POLICY} is closed'
)


class CellMoveRequest(MoveRequest):
    """The one request of a move."""

    refusals = frozenset({400, 403, 404, 409})
    _context: CellMoveContext
    _task: CellMoveTask

    def __init__(
        self, settings: CellMoveSettings, context: CellMoveContext
    ) -> None:
        super().__init__(settings, context)
        self._checkpoint = Checkpoint(0.0, '')

    def send(self, checkpoint: Checkpoint) -> str:
        """Write a checkpoint, ask Nova, and write its answer.

        :param checkpoint: filled in
        :returns: the request's id
        :raises PreFlightError: Nova refused at once
        :raises NovaClientError: Nova surely does not carry it out
        :raises TurnUnknown: the database took no checkpoint; Nova was not
            asked
        """
        nova = self._context.cell_migration
        late = self.late_checkpoint()
        if late is not None:
            vars(checkpoint).update(vars(late))
            return checkpoint.request
        self._checkpoint = checkpoint
        self.begin()
        earlier = [
            migration.uuid
            for migration in nova.migrations_of(self._task.instance)
            if migration.status != TAKEN_UP
        ]
        checkpoint.earlier = earlier[:KNOWN]
        self._context.mark(checkpoint, must_go_on=True)
        checkpoint.request = self._unpinned()
        self._context.mark(self._checkpoint)
        return checkpoint.request

    def late_checkpoint(self) -> Checkpoint | None:
        """The checkpoint of a request that did arrive, though it was given up.

        :returns: None if there is none
        :raises NovaClientError: Nova cannot be asked
        """
        request = self.late()
        if not request:
            return None
        self.take(request)
        self._checkpoint.request = request
        self._context.mark(self._checkpoint)
        return self._checkpoint

    def _unpinned(self) -> str:
        """Ask, with the server unpinned if it is to be."""
        nova, task = self._context.cell_migration, self._task
        if not task.unpins:
            return self._ask_once(self._ask)[0]
        try:
            nova.pin(task.instance, None)
            return self._ask_once(self._ask)[0]
        except exceptions.KronosException as error:
            remark = self._pin_back()
            if remark:
                raise extended(error, remark) from error
            raise

    def _pin_back(self) -> str:
        """Why the server is not pinned to its zone any more; '' if it is."""
        task = self._task
        try:
            self._context.cell_migration.pin(task.instance, task.source_zone)
        except exceptions.NovaClientError as error:
            return f'it is not pinned to {task.source_zone} any more: {error}'
        return ''

    def _ask(self) -> str:
        nova, task = self._context.cell_migration, self._task
        if task.is_resize:
            return nova.resize(task.instance, task.destination_flavor_id)
        return nova.migrate(task.instance, task.destination)

    def _listed(self) -> list[str]:
        nova, is_resize = self._context.cell_migration, self._task.is_resize
        return nova.own_requests(self._task.instance, is_resize)

    def _is_begun(self, instance: Instance) -> bool:
        return remedies.is_moving(instance)

    def _refused(
        self, status: int, reason: str
    ) -> exceptions.MigrationError | None:
        is_resize = self._task.is_resize
        if status == 400 and 'could not be found' in reason:
            if not is_resize:
                return self._unknown_host()
            # Of an image, too; hosts are not named.
            if 'Flavor' in reason:
                return faults.error(Fault.FLAVOR_GONE, f'refused: {reason}')
        if status == 403 and 'uota' in reason:
            return faults.error(
                Fault.QUOTA_EXCEEDED, f'rejected by Nova: {reason}'
            )
        return None

    def _unknown_host(self) -> exceptions.MigrationError:
        """The error of a refusal that may be due to the server alone."""
        try:
            others = self._context.plan().servers - {self._task.instance}
        except exceptions.TurnUnknown as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            others = frozenset()
        text = (CLOSED if others else REFUSED).format(
            host=self._task.destination
        )
        self._checkpoint.refused = text
        self._context.mark(self._checkpoint)
        fault = Fault.CELL_CLOSED if others else Fault.CELL_REFUSED
        return faults.error(fault, text)
