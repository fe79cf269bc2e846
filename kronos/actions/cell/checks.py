# SPDX-License-Identifier: Apache-2.0
"""The checks of a moved server: of all services, and all of them reported.

None of them keeps another from being made, and a service that does not answer
is one that fails.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from oslo_log import log as logging

from kronos.actions.cell import comparison, verify_query
from kronos.actions.cell.comparison import Amounts, Check
from kronos.actions.cell.context import CellMoveContext
from kronos.actions.cell.parameters import CellMoveSettings
from kronos.clients.nova.instance_actions import InstanceActions
from kronos.clients.nova.server_details import Details
from kronos.common import durations, exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.conf.cells import UUID
from kronos.engine import faults, wording
from kronos.engine.faults import Fault
from kronos.snapshots import cell_needs, cells

__all__ = [
    'Check',
    'asked_meanwhile',
    'before',
    'of_arrival',
    'of_return',
    'temporary_images',
]

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
    found = context.details.get(uuid)
    if found is not None:
        found.held = context.placement.allocations_of(uuid)
    return found


def of_arrival(
    settings: CellMoveSettings,
    context: CellMoveContext,
    was: Details,
    migration: str,
    is_confirmed: bool = False,
) -> list[Check]:
    """All checks of a server in its new cell.

    :param was: the server before
    :param migration: its uuid
    :param is_confirmed: whether nothing is held on the source any more
    :raises StaleTask: the server is gone
    """
    found = _Checks(settings, context, was, migration, is_confirmed).settled()
    if settings.verify_query:
        found.append(_verification(settings, context, was))
    return found


def of_return(
    settings: CellMoveSettings,
    context: CellMoveContext,
    was: Details,
    migration: str,
    asked: Collection[str],
) -> list[Check]:
    """All checks of a server that was taken back: is it as it was?

    :param was: the server before
    :param migration: its uuid
    :param asked: of :func:`asked_meanwhile`, before it was taken back
    :raises StaleTask: the server is gone
    """
    return _Checks(
        settings, context, was, migration, is_back=True, asked=asked
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
) -> Check:
    name = 'cell_verify_query'
    if was.status != 'ACTIVE' and UUID in settings.verify_query:
        # No exporter tells of a guest that does not run.
        return Check(name, True, 'not asked, since the server is stopped')
    try:
        now = context.details.get(was.uuid)
        query = verify_query.filled_in(
            settings.verify_query, was.uuid, now.host if now else ''
        )
    except (exceptions.ClientError, ValueError) as error:
        return Check(name, False, f'{name} was not asked: {error}')
    wrong = verify_query.why_not_true(
        context.prometheus,
        query,
        settings.verify_seconds,
        settings.timing.poll_interval,
        context,
    )
    if wrong:
        return Check(name, False, f'{name}: {wrong}')
    return Check(
        name, True, f'true for {durations.exact(settings.verify_seconds)}'
    )


class _Checks:
    """Those of Nova, Placement and Glance, made anew until they pass."""

    def __init__(
        self,
        settings: CellMoveSettings,
        context: CellMoveContext,
        was: Details,
        migration: str,
        is_confirmed: bool = False,
        is_back: bool = False,
        asked: Collection[str] = (),
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._was = was
        self._migration = migration
        self._is_confirmed = is_confirmed
        self._is_back = is_back
        self._asked = asked

    def settled(self) -> list[Check]:
        """As soon as all pass, or none that fails is worth a wait.

        :raises StaleTask: the server is gone
        """
        context, timing = self._context, self._settings.timing
        deadline = context.clock() + timing.settle_timeout
        while True:
            found = self._once()
            wrong = [one for one in found if not one.ok]
            passing = all(one.name in SETTLING for one in wrong)
            late = context.clock() >= deadline
            if not wrong or not passing or late:
                return found
            LOG.info('Instance %s: %s', self._task.instance, wrong)
            context.sleep(timing.poll_interval)

    def _once(self) -> list[Check]:
        """:raises StaleTask: the server is gone"""
        found, now = self._of_nova()
        found += self._guarded(PLACEMENT, lambda: self._of_placement(now))
        found += self._guarded(IMAGE, lambda: [self._of_images(now)])
        return found

    def _of_nova(self) -> tuple[list[Check], Details | None]:
        context, task = self._context, self._task
        try:
            now = context.details.get(task.instance)
            if now is None:
                raise faults.error(
                    Fault.INSTANCE_GONE,
                    'the instance was deleted while it moved',
                )
            known = cells.by_host(context.nova, self._settings.cell_source)
            compare = (
                comparison.compare_return
                if self._is_back
                else comparison.compare
            )
            found = compare(task, self._was, now, known)
            if not all(one.ok for one in found if one.name == 'volumes'):
                asked = InstanceActions(context.nova.api).asked_after(
                    task.instance, ASKED_FOR
                )
                found = compare(
                    task, self._was, now, known, {*asked, *self._asked}
                )
            if self._is_key_lost():
                found = [
                    one
                    for one in found
                    if one.name != comparison.KEY or not one.ok
                ]
        except exceptions.ClientError as error:
            return [Check(NOVA, False, f'not looked at: {error}')], None
        return found, now

    def _is_key_lost(self) -> bool:
        """Whether Nova shows the name of a key pair that it did not copy."""
        context = self._context
        return (
            bool(self._was.key_name)
            and not self._is_back
            and cell_needs.loses_keys(context.listings, context.sources)
        )

    @staticmethod
    def _guarded(name: str, look: Callable[[], list[Check]]) -> list[Check]:
        try:
            return look()
        except exceptions.ClientError as error:
            return [Check(name, False, f'{name} not looked at: {error}')]

    def _of_placement(self, now: Details | None) -> list[Check]:
        if now is None:
            told = f'{PLACEMENT} not looked at, since {NOVA} does not answer'
            return [Check(PLACEMENT, False, told)]
        placement, held_by = self._context.placement, self._migration
        wanted = self._amounts(now)
        held: list[Mapping[str, Mapping[str, int]]] = [
            placement.allocations_of(self._was.uuid),
            placement.allocations_of(held_by) if held_by else {},
        ]
        wrong = [
            f'{whose} {why}'
            for whose, amounts, one in zip(
                ('the server', 'its migration'), wanted, held, strict=True
            )
            if (why := amounts.why_not(one))
        ]
        if wrong:
            told = f'Placement holds for {wording.some(wrong)}'
            return [Check(PLACEMENT, False, told)]
        return [Check(PLACEMENT, True, self._held(wanted))]

    def _amounts(self, now: Details) -> tuple[Amounts, Amounts]:
        """For the server, and for its migration."""
        was = self._was
        if self._is_back:
            old, _ = comparison.amounts(was, was)
            return Amounts(was.node, old), Amounts('', {})
        old, new = comparison.amounts(was, now)
        left = Amounts('', {}) if self._is_confirmed else None
        return Amounts(now.node, new), left or Amounts(was.node, old)

    @staticmethod
    def _held(wanted: tuple[Amounts, Amounts]) -> str:
        server, migration = wanted
        also = f' and on {migration.node}' if migration.node else ' alone'
        return f'room is held on {server.node}{also}'

    def _of_images(self, now: Details | None) -> Check:
        names = {self._was.name, *([now.name] if now else [])}
        left = temporary_images(self._context, self._was.uuid, names)
        if left:
            delete = ShellCommand.IMAGE_DELETE.of(image=left)
            told = f'{TEMPORARY.format(self._was.name)} is left: "{delete}"'
            return Check(IMAGE, False, told)
        return Check(IMAGE, True, 'no temporary image is left')
