# SPDX-License-Identifier: Apache-2.0
"""The repair of a broken move: how Nova leaves a server, and what mends it.

Nova rolls a failed move back in part. A server may be left with a task for
ever, powered off, or in ERROR; the API mends each of these. A hidden copy in
the other cell, it does not: only an administrator of the databases can.
"""

import math
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core import own_requests
from kronos.actions.core.step import (
    Step,
    StepEnd,
    StepLimits,
    StepResult,
    StepRun,
)
from kronos.clients.nova.server_details import Details
from kronos.common import durations, exceptions, plain_text
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults
from kronos.engine.eligibility.instances import RUNNING
from kronos.engine.faults import Fault
from kronos.engine.types import Instance
from kronos.extensions.cells.actions import checks, remedies
from kronos.extensions.cells.actions.context import (
    CellMoveContext,
    MovePart,
    StartedMove,
)
from kronos.extensions.cells.actions.journal import AWAY
from kronos.extensions.cells.actions.parameters import CellMoveSettings
from kronos.extensions.cells.actions.progress import (
    ERROR,
    FAILED,
    CellMoveLook,
)

LOG = logging.getLogger(__name__)

ACTIVE, STOPPED = 'ACTIVE', 'SHUTOFF'
DUPLICATE = 'DBDuplicateEntry'
"""In Nova's words where a copy of the server is in the other cell."""
NO_HOST = 'No valid host'


def copy_commands(uuid: str, cell: str) -> list[str]:
    """What takes a hidden copy of a server out of a cell's database.

    Not a row that is marked as deleted: archiving it would delete what Nova
    needs of the server that lives.
    """
    return [
        '# the script is in "Repairs" of the page "Empty a cell", the name '
        f'of the cell that of "{ShellCommand.LIST_CELLS}":',
        ShellCommand.DELETE_HIDDEN_COPY.of(cell=cell, server=uuid),
    ]


def reconnections(before: Details, host: str) -> list[str]:
    """What may have to be done for a server whose guest had to be made anew.

    Nova has given up its volumes on the host and may have given its ports to
    the other one. A reboot connects neither.

    :param before: the server before it moved
    """
    host = plain_text.line(host)
    uuid, connector = before.uuid, f'{host}.json'
    bindings = [
        f'# if a port of it has no active binding, of Neutron: PUT '
        f'/v2.0/ports/{port.id}/bindings/{host}/activate'
        for port in before.ports
    ]
    if not before.volumes:
        return bindings
    refresh = [
        ShellCommand.REFRESH_ATTACHMENT.of(
            server=uuid, volume=volume.id, file=connector
        )
        for volume in before.volumes
    ]
    if before.status == ACTIVE:
        refresh.insert(0, ShellCommand.SERVER_STOP.of(server=uuid))
        refresh.append(ShellCommand.SERVER_START.of(server=uuid))
    return [
        *bindings,
        f'# if an attachment of its volumes is empty, first, on {host}: '
        + ShellCommand.GET_CONNECTOR.of(file=connector),
        *refresh,
    ]


def unbindings(before: Details, host: str) -> list[str]:
    """What deletes the bindings of ports to a host that a server is not on.

    Nova cannot bind a port there once more as long as they are there.

    :param before: the server before it moved
    """
    host = plain_text.line(host)
    return [
        f'# of Neutron, if it is there: DELETE /v2.0/ports/{port.id}/'
        f'bindings/{host}'
        for port in before.ports
    ]


def images(context: CellMoveContext, before: Details) -> list[str]:
    """What deletes the image of its disk that Nova made for the move."""
    try:
        uuids = checks.temporary_images(context, before.uuid, {before.name})
    except exceptions.ClientError as error:
        LOG.warning('Instance %s: %s', before.uuid, error)
        name = checks.TEMPORARY.format(before.name)
        return [ShellCommand.IMAGE_LIST.of(name=name)]
    return [ShellCommand.IMAGE_DELETE.of(image=image) for image in uuids]


def room_of_deleted(
    settings: CellMoveSettings, context: CellMoveContext, *consumers: str
) -> list[str]:
    """What gives back what Placement holds for a server that is no more.

    Nova does so itself soon, unless it was deleted on its way.

    :param consumers: uuids of the server and its migration
    """
    deadline = context.clock() + checks.ROOM_SECONDS
    while True:
        late = context.clock() >= deadline
        try:
            owners = [
                consumer
                for consumer in consumers
                if context.placement.nodes_of(consumer)
            ]
        except exceptions.ClientError as error:
            LOG.warning(
                'The allocations of a deleted server are not known: %s', error
            )
            owners = list(consumers)
        if late or not owners:
            return [
                ShellCommand.ALLOCATION_DELETE.of(consumer=consumer)
                for consumer in owners
            ]
        context.sleep(settings.timing.poll_interval)


class CellMoveRepair(MovePart):
    """The error of a move that Nova gave up, and what is mended.

    One class, since the error depends on what was mended.
    """

    def __init__(self, begun: StartedMove) -> None:
        super().__init__(begun)
        self._before = Details.from_document(begun.checkpoint.before)

    def of_move(self, look: CellMoveLook) -> exceptions.MigrationError:
        """The error of a move that Nova gave up before anybody confirmed."""
        reason = self.reason()
        is_untouched = self._is_as_before(look.instance)
        was_lost = look.instance is not None and look.instance.status == ERROR
        after = self.mend(look)
        if was_lost:
            self._journal.commands += reconnections(
                self._before, self._task.source
            )
        if DUPLICATE in reason:
            self._journal.commands += copy_commands(
                self._task.instance, self._task.destination_cell
            )
            return faults.error(
                Fault.CELL_COPY_LEFT,
                f'a hidden copy of it is in {self._task.destination_cell}: '
                f'see "Repairs" of the guide; {reason}{after}',
            )
        if is_untouched and NO_HOST in reason:
            return faults.error(
                Fault.DESTINATION_REFUSED, f'refused by Nova: {reason}{after}'
            )
        return faults.error(
            Fault.MIGRATION_FAILED,
            f'{after.removeprefix("; ")}; Nova: {reason}'
            if after
            else f'Nova gave it up: {reason}',
        )

    def of_endless(
        self, look: CellMoveLook | None
    ) -> exceptions.MigrationError:
        """The error of a move that has not come to an end in time."""
        task, limit = self._task, self._settings.timing.move_timeout
        uuid, ours = task.instance, self._checkpoint.migration
        reset = ShellCommand.SERVER_SET_ERROR.of(server=uuid)
        self._journal.commands += [
            '# only if no nova-conductor is working on it any more:',
            reset,
            ShellCommand.SERVER_REBOOT.of(server=uuid),
            *(
                [ShellCommand.SERVER_STOP.of(server=uuid)]
                if self._checkpoint.status == STOPPED
                else []
            ),
            *copy_commands(uuid, task.destination_cell),
            *(
                [ShellCommand.ALLOCATION_DELETE.of(consumer=ours)]
                if ours
                else []
            ),
            ShellCommand.HEAL_ALLOCATIONS.of(server=uuid),
            *images(self._context, self._before),
        ]
        instance = look.instance if look else None
        migration = look.migration if look else None
        if instance is None or instance.task_state in AWAY:
            self._journal.commands += reconnections(self._before, task.source)
        host = (migration and migration.destination) or task.destination
        self._journal.commands += unbindings(self._before, host)
        now = 'Nova does not answer'
        if instance is not None:
            doing = instance.task_state or 'no task'
            now = f'it is {instance.status} ({doing}) on {instance.host}'
        return faults.error(
            Fault.CELL_STUCK,
            f'not over after {durations.exact(limit)} (cell_move_timeout). If '
            f'its conductor died: "{reset}", then the rest of "Repairs"; '
            f'{now}, and Nova cannot abort it',
        )

    def reason(self) -> str:
        """Nova's words for why it gave the request up."""
        nothing = 'it gives no reason'
        if not self._checkpoint.request:
            return nothing
        try:
            return (
                self._context.cell_migration.actions.refusal_reason(
                    self._task.instance, self._checkpoint.request
                )
                or nothing
            )
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return nothing

    def mend(self, look: CellMoveLook) -> str:
        """Bring the server back to how it was, as far as the API can.

        :returns: what was left, and what was done; '' if nothing was
        """
        remarks: list[str] = []
        is_ours = self._is_ours()
        if is_ours is False:
            return ''
        instance = look.instance
        has_failed = look.migration is None or look.migration.status in FAILED
        nova, ran = self._context.cell_migration, self._ran
        for step in remedies.of(nova, ran, has_failed):
            if instance is None or not step.is_left(instance):
                continue
            remarks.append(step.reason)
            if not (self._settings.recovers and is_ours):
                self._leave(step)
                remarks.append(f'"{self._command(step)}" mends it')
                break
            instance = self._do(step, remarks)
        return ''.join(f'; {remark}' for remark in remarks)

    @property
    def _ran(self) -> bool:
        return self._checkpoint.status == ACTIVE

    def _is_ours(self) -> bool | None:
        """Whether no other move of it was asked for since; None: unknown."""
        ours, uuid = self._checkpoint.request, self._task.instance
        try:
            return not ours or self._context.nova.is_moved_by(uuid, [ours])
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', uuid, error)
            return None

    def _is_as_before(self, instance: Instance | None) -> bool:
        return instance is not None and (
            instance.status == self._checkpoint.status
            and not instance.task_state
            and (instance.power_state == RUNNING) == self._ran
        )

    def _do(
        self, step: remedies.ServerRemedy, remarks: list[str]
    ) -> Instance | None:
        """One step, and the server after it; None: nothing more is tried."""
        journal, uuid = self._journal, self._task.instance
        command = self._command(step)
        LOG.warning('Instance %s: %s: %s', uuid, step.reason, command)
        journal.mended.append(f'{step.reason}: {command}')
        number = f'mend {len(journal.mended)}'
        result = self._carry_out(
            step, lambda request: journal.requests.update({number: request})
        )
        instance = result.seen
        if result.end is StepEnd.REFUSED:
            self._leave(step)
            remarks.append(f'"{command}" was refused: {result.error}')
            return None
        if instance is None:
            self._leave(step)
            remarks.append(
                f'"{command}" was requested; Nova returned no details'
            )
            return None
        if step.is_mended(instance):
            remarks.append(f'mended by "{step.command.short}"')
            return instance
        self._leave(step)
        busy = f' ({instance.task_state})' if instance.task_state else ''
        remarks.append(
            f'"{command}" did not help: {instance.status}{busy} on '
            f'{instance.host}'
        )
        return None

    def _carry_out(
        self,
        remedy: remedies.ServerRemedy,
        on_request: Callable[[str], object],
    ) -> StepResult[Instance | None]:
        """Ask for a remedy, and look until it has helped, or time is up.

        None is what is seen of a server that was deleted.

        :param on_request: gets the id of the request
        """
        context, uuid = self._context, self._task.instance
        step = Step(
            participle='mended',
            ask=lambda: remedy.ask(uuid),
            look=lambda: context.nova.get_instance(uuid),
            is_reached=lambda server: (
                server is None or remedy.is_mended(server)
            ),
            may_ask=lambda server: (
                server is not None and remedy.is_left(server)
            ),
            on_request=on_request,
        )
        poll = self._settings.timing.poll_interval
        limits = StepLimits(
            timeout=self._settings.timing.settle_timeout,
            poll_interval=poll,
            doubt=own_requests.QUIET_LOOKS * poll,
            idle=math.inf,
        )
        return StepRun(step, context, limits).carry_out()

    def _leave(self, step: remedies.ServerRemedy) -> None:
        """Tell an operator of a step, and of the one that follows on it."""
        commands = [step.command]
        stop = ShellCommand.SERVER_STOP
        if self._checkpoint.status == STOPPED and step.command is not stop:
            commands.append(stop)
        self._journal.commands += [
            command.of(server=self._task.instance) for command in commands
        ]

    def _command(self, step: remedies.ServerRemedy) -> str:
        return step.command.of(server=self._task.instance)
