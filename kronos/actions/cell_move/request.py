# SPDX-License-Identifier: Apache-2.0
"""The request to Nova for a move to another cell: made once, whatever is lost.

A mark goes before it, so that nobody who finds the action later asks again.
"""

from oslo_log import log as logging

from kronos.actions.cell_move.context import CellMoveContext
from kronos.actions.cell_move.mark import Mark
from kronos.actions.cell_move.parameters import CellMoveSettings
from kronos.actions.core import own_requests, repairs
from kronos.actions.migration import lost_answers
from kronos.actions.migration.retries import joined
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.cell_drain import POLICY
from kronos.snapshots.watcher_actions import CELL_MARK

LOG = logging.getLogger(__name__)

TAKEN_UP = 'pre-migrating'
"""Status of a migration that Nova has left behind and takes up again for the
next request, uuid and all."""
KNOWN = 10
"""So many earlier migrations are kept in mind: others are older by far."""
_REFUSALS = frozenset({400, 403, 404, 409})
CLOSED = (
    'Nova does not know {host}, which os-services lists, for more than one '
    f'server: the policy {POLICY} is closed, or the cells of hosts are set '
    'wrong'
)
REFUSED = (
    'Nova does not know {host}, which os-services lists, for this server: a '
    f'port of it has a resource request, or the policy {POLICY} is closed'
)


class CellMoveRequest:
    """The one request of a move."""

    def __init__(
        self, settings: CellMoveSettings, context: CellMoveContext
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._mark = Mark(0.0, '')
        self._request = own_requests.SoleRequest(
            self._requests,
            settings,
            context,
            context.nova,
            refusals=_REFUSALS,
            refusal=self._refusal,
            is_begun=repairs.is_moving,
        )

    def send(self, mark: Mark) -> str:
        """Mark the action, ask Nova, and mark what Nova answered.

        :param mark: filled in
        :returns: the request's id
        :raises PreFlightError: Nova refused at once
        :raises NovaClientError: Nova surely does not carry it out
        :raises TurnUnknown: the database took no mark; Nova was not asked
        """
        nova = self._context.cell_migration
        late = self.found()
        if late is not None:
            vars(mark).update(vars(late))
            return mark.request
        self._mark = mark
        self._request.begin()
        earlier = nova.migrations_of(self._uuid)
        others = [one.uuid for one in earlier if one.status != TAKEN_UP]
        mark.known = others[:KNOWN]
        self._write()
        mark.request = self._unpinned()
        self._write(must_go_on=False)
        return mark.request

    def found(self) -> Mark | None:
        """The mark of a request that did arrive, though it was given up.

        :returns: None if there is none
        :raises NovaClientError: Nova cannot be asked
        """
        request = self._request.late()
        if not request:
            return None
        self._request.take(request)
        self._mark.request = request
        self._write(must_go_on=False)
        return self._mark

    def _unpinned(self) -> str:
        """Ask, with the server unpinned if it is to be."""
        nova, task = self._context.cell_migration, self._task
        if not task.unpins:
            return self._asked()
        try:
            nova.pin(task.instance, None)
            return self._asked()
        except exceptions.KronosException as error:
            told = self._pin_back()
            if told:
                text = joined(str(error), told)
                raise type(error)(text, **error.kwargs) from error
            raise

    def _pin_back(self) -> str:
        """Why the server is not pinned to its zone any more; '' if it is."""
        task = self._task
        try:
            self._context.cell_migration.pin(task.instance, task.source_zone)
        except exceptions.NovaClientError as error:
            return f'it is not pinned to {task.source_zone} any more: {error}'
        return ''

    def _asked(self) -> str:
        return self._request.send(self._ask)[0]

    @property
    def _uuid(self) -> str:
        return self._task.instance

    def _ask(self) -> str:
        nova, task = self._context.cell_migration, self._task
        if task.is_resize:
            return nova.resize(task.instance, task.destination_flavor_id)
        return nova.migrate(task.instance, task.destination)

    def _write(self, must_go_on: bool = True) -> None:
        """:raises TurnUnknown: only if it ``must_go_on``"""
        try:
            self._context.slots.mark(
                CELL_MARK, self._mark.document(), must_go_on
            )
        except exceptions.KronosException as error:
            if must_go_on:
                raise
            LOG.warning('Instance %s: not marked: %s', self._uuid, error)

    def _requests(self) -> list[str]:
        """Ids of Kronos' own requests for such a move, the newest first."""
        nova, is_resize = self._context.cell_migration, self._task.is_resize
        return nova.own_requests(self._uuid, is_resize)

    def _refusal(
        self, error: exceptions.NovaClientError
    ) -> exceptions.MigrationError:
        status, task = error.kwargs['status'], self._task
        reason = lost_answers.words_of(error)
        if lost_answers.is_of_server(reason):
            return faults.error(
                Fault.INSTANCE_REFUSED, f'rejected by Nova: {reason}'
            )
        if status == 400 and 'could not be found' in reason:
            if not task.is_resize:
                return self._unknown_host()
            # Of an image, too; hosts are not named.
            if 'Flavor' in reason:
                return faults.error(Fault.FLAVOR_GONE, f'refused: {reason}')
        if status == 403 and 'uota' in reason:
            return faults.error(
                Fault.QUOTA_EXCEEDED, f'rejected by Nova: {reason}'
            )
        return faults.error(
            Fault.NOVA_REJECTED, f'rejected by Nova: HTTP {status}: {reason}'
        )

    def _unknown_host(self) -> exceptions.MigrationError:
        """The error of a refusal that may be due to the server alone."""
        try:
            others = self._context.plan().servers - {self._uuid}
        except exceptions.TurnUnknown as error:
            LOG.warning('Instance %s: %s', self._uuid, error)
            others = frozenset()
        text = (CLOSED if others else REFUSED).format(
            host=self._task.destination
        )
        self._mark.refused = text
        self._write(must_go_on=False)
        fault = Fault.CELL_CLOSED if others else Fault.CELL_REFUSED
        return faults.error(fault, text)
