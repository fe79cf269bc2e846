# SPDX-License-Identifier: Apache-2.0
"""The checks of a moved server: of all services, and all of them reported.

None of them keeps another from being made, and a service that does not answer
is one that fails.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.clients.nova.instance_actions import InstanceActions
from kronos.clients.nova.server_details import Details
from kronos.common import durations, exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions import comparison, verify_query
from kronos.extensions.cells.actions.comparison import Amounts, ServerCheck
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.actions.parameters import CellMoveSettings
from kronos.extensions.cells.conf import UUID
from kronos.extensions.cells.readings import cell_needs
from kronos.snapshots import cells

LOG = logging.getLogger(__name__)

ASKED_FOR = ('migrate', 'resize')
"""Kinds of requests that take a server to another cell."""
TEMPORARY = '{}-resize-temp'
"""The name of the image in which Nova takes a disk to another cell."""
GONE = frozenset({'deleted', 'pending_delete'})
"""Statuses of an image that is not there any more."""
ROOM_SECONDS = 30.0
"""For Placement to follow."""
NOVA, PLACEMENT, IMAGE = 'Nova', 'Placement', 'temporary image'
SETTLING = frozenset(
    {NOVA, PLACEMENT, IMAGE, 'power state', 'addresses', 'ports'}
)
"""What is waited for where it is not as it has to be: what Nova has begun, or
remembers of Neutron; and services that do not answer."""


def before(context: CellMoveContext, uuid: str) -> Details | None:
    """A server that is to be moved, with what Placement holds for it.

    :returns: None if there is none (any more)
    :raises ClientError: Nova or Placement cannot be asked
    """
    details = context.details.get(uuid)
    if details is None:
        return None
    allocations = context.placement.allocations_of(uuid)
    return dataclasses.replace(details, held=allocations)


def of_arrival(
    settings: CellMoveSettings,
    context: CellMoveContext,
    was: Details,
    migration: str,
    is_confirmed: bool = False,
) -> list[ServerCheck]:
    """All checks of a server in its new cell.

    :param was: the server before
    :param migration: its uuid
    :param is_confirmed: whether nothing is held on the source any more
    :raises StaleTask: the server is gone
    """
    checked = _Checks(
        settings, context, was, migration, is_confirmed
    ).settled()
    if settings.verify_query:
        checked.append(_verification(settings, context, was))
    return checked


def of_return(
    settings: CellMoveSettings,
    context: CellMoveContext,
    was: Details,
    migration: str,
    requests: Collection[str],
) -> list[ServerCheck]:
    """All checks of a server that was taken back: is it as it was?

    :param was: the server before
    :param migration: its uuid
    :param requests: of :func:`asked_meanwhile`, before it was taken back
    :raises StaleTask: the server is gone
    """
    return _Checks(
        settings, context, was, migration, is_back=True, requests=requests
    ).settled()


def asked_meanwhile(context: CellMoveContext, uuid: str) -> set[str]:
    """Kinds of requests for a server since it was asked to move.

    Nova forgets them when it takes a server back.
    """
    try:
        actions = InstanceActions(context.nova.api)
        return actions.asked_after(uuid, ASKED_FOR)
    except exceptions.NovaClientError as error:
        LOG.warning('Instance %s: %s', uuid, error)
        return set()


def temporary_images(
    context: CellMoveContext, uuid: str, names: Iterable[str]
) -> list[str]:
    """Ids of the images that Nova made of a server for its move.

    Of other servers of that name there may be some.

    :raises GlanceClientError: Glance cannot be asked
    """
    return sorted(
        image.id
        for name in names
        for image in context.glance.images_named(TEMPORARY.format(name))
        if image.instance == uuid and image.status not in GONE
    )


def _verification(
    settings: CellMoveSettings, context: CellMoveContext, was: Details
) -> ServerCheck:
    name = 'cell_verify_query'
    if was.status != 'ACTIVE' and UUID in settings.verify_query:
        # No exporter tells of a guest that does not run.
        return ServerCheck(
            name, True, 'not asked, since the server is stopped'
        )
    try:
        now = context.details.get(was.uuid)
        query = verify_query.filled_in(
            settings.verify_query, was.uuid, now.host if now else ''
        )
    except (exceptions.ClientError, ValueError) as error:
        return ServerCheck(name, False, f'{name} was not asked: {error}')
    wrong = verify_query.why_not_true(
        context.prometheus,
        query,
        settings.verify_seconds,
        settings.timing.poll_interval,
        context,
    )
    if wrong:
        return ServerCheck(name, False, f'{name}: {wrong}')
    return ServerCheck(
        name, True, f'true for {durations.exact(settings.verify_seconds)}'
    )


@dataclass(frozen=True)
class _Checks:
    """Those of Nova, Placement and Glance, made anew until they pass."""

    settings: CellMoveSettings
    context: CellMoveContext
    was: Details
    migration: str
    is_confirmed: bool = False
    is_back: bool = False
    requests: Collection[str] = ()

    def settled(self) -> list[ServerCheck]:
        """As soon as all pass, or none that fails is worth a wait.

        :raises StaleTask: the server is gone
        """
        context, timing = self.context, self.settings.timing
        deadline = context.clock() + timing.settle_timeout
        while True:
            checked = self._once()
            wrong = [check for check in checked if not check.ok]
            passing = all(check.name in SETTLING for check in wrong)
            late = context.clock() >= deadline
            if not wrong or not passing or late:
                return checked
            LOG.info('Instance %s: %s', self.settings.task.instance, wrong)
            context.sleep(timing.poll_interval)

    def _once(self) -> list[ServerCheck]:
        """:raises StaleTask: the server is gone"""
        checked, now = self._of_nova()
        checked += self._guarded(PLACEMENT, lambda: self._of_placement(now))
        checked += self._guarded(IMAGE, lambda: [self._of_images(now)])
        return checked

    def _of_nova(self) -> tuple[list[ServerCheck], Details | None]:
        context, task = self.context, self.settings.task
        try:
            now = context.details.get(task.instance)
            if now is None:
                raise faults.error(
                    Fault.INSTANCE_GONE,
                    'the instance was deleted while it moved',
                )
            by_host = cells.by_host(context.nova, self.settings.cell_source)
            compare = (
                comparison.compare_return
                if self.is_back
                else comparison.compare
            )
            checked = compare(task, self.was, now, by_host)
            if not all(
                check.ok for check in checked if check.name == 'volumes'
            ):
                requests = InstanceActions(context.nova.api).asked_after(
                    task.instance, ASKED_FOR
                )
                checked = compare(
                    task, self.was, now, by_host, {*requests, *self.requests}
                )
            if self._is_key_lost():
                checked = [
                    check
                    for check in checked
                    if check.name != comparison.KEY or not check.ok
                ]
        except exceptions.ClientError as error:
            return [ServerCheck(NOVA, False, f'not looked at: {error}')], None
        return checked, now

    def _is_key_lost(self) -> bool:
        """Whether Nova shows the name of a key pair that it did not copy."""
        context = self.context
        return (
            bool(self.was.key_name)
            and not self.is_back
            and cell_needs.loses_keys(context.listings, context.sources)
        )

    @staticmethod
    def _guarded(
        name: str, look: Callable[[], list[ServerCheck]]
    ) -> list[ServerCheck]:
        try:
            return look()
        except exceptions.ClientError as error:
            return [ServerCheck(name, False, f'{name} not looked at: {error}')]

    def _of_placement(self, now: Details | None) -> list[ServerCheck]:
        if now is None:
            text = f'{PLACEMENT} not looked at, since {NOVA} does not answer'
            return [ServerCheck(PLACEMENT, False, text)]
        placement, held_by = self.context.placement, self.migration
        expected = self._amounts(now)
        holdings: list[Mapping[str, Mapping[str, int]]] = [
            placement.allocations_of(self.was.uuid),
            placement.allocations_of(held_by) if held_by else {},
        ]
        wrong = [
            f'{whose} {why}'
            for whose, amounts, holding in zip(
                ('the server', 'its migration'),
                expected,
                holdings,
                strict=True,
            )
            if (why := amounts.why_not(holding))
        ]
        if wrong:
            text = f'Placement holds for {wording.some(wrong)}'
            return [ServerCheck(PLACEMENT, False, text)]
        return [ServerCheck(PLACEMENT, True, self._held(expected))]

    def _amounts(self, now: Details) -> tuple[Amounts, Amounts]:
        """For the server, and for its migration."""
        was = self.was
        if self.is_back:
            old, _ = comparison.amounts(was, was)
            return Amounts(was.node, old), Amounts('', {})
        old, new = comparison.amounts(was, now)
        source = Amounts('', {}) if self.is_confirmed else None
        return Amounts(now.node, new), source or Amounts(was.node, old)

    @staticmethod
    def _held(expected: tuple[Amounts, Amounts]) -> str:
        server, migration = expected
        also = f' and on {migration.node}' if migration.node else ' alone'
        return f'room is held on {server.node}{also}'

    def _of_images(self, now: Details | None) -> ServerCheck:
        names = {self.was.name, *([now.name] if now else [])}
        images = temporary_images(self.context, self.was.uuid, names)
        if images:
            delete = ShellCommand.IMAGE_DELETE.of(image=images)
            text = f'{TEMPORARY.format(self.was.name)} is left: "{delete}"'
            return ServerCheck(IMAGE, False, text)
        return ServerCheck(IMAGE, True, 'no temporary image is left')
