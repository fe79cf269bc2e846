# SPDX-License-Identifier: Apache-2.0
"""The pre-flight of a live migration: whether it may begin, and still should.

Between an audit and its plan's start anything may have happened. A task
that is pointless is stale; one that would be wrong is refused. All is looked
at once more with the turn held, so that no other move of Kronos changes the
answer.
"""

from collections.abc import Callable
from enum import Enum

from kronos.actions.core import checks, concurrency, slots
from kronos.actions.core.parameters import MigrationTask, MoveSettings
from kronos.actions.core.window import WindowGuard
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.clients.nova.client import NovaClient
from kronos.common import exceptions
from kronos.engine import faults, phase_rules, types
from kronos.engine.eligibility import consent, hosts, instances
from kronos.engine.faults import Fault
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings

OF_INSTANCE = {
    Code.INSTANCE_LOCKED: Fault.INSTANCE_LOCKED,
    Code.INSTANCE_PINNED: Fault.INSTANCE_PINNED,
    Code.INSTANCE_CONSENT: Fault.INSTANCE_CONSENT,
    Code.INSTANCE_BUSY: Fault.INSTANCE_BUSY,
    Code.INSTANCE_NOT_ACTIVE: Fault.INSTANCE_NOT_ACTIVE,
    Code.INSTANCE_NOT_RUNNING: Fault.INSTANCE_NOT_ACTIVE,
}
"""The reasons of an audit that hold here too, in the order in which they are
looked for: what passes by itself (a task) before what it brings about (a
status). Left out are what only an audit knows (``INSTANCE_UNMOVABLE``, the
past) and ``INSTANCE_EXTRA_SPEC``: a flavor changes by a resize alone, and
that ends elsewhere or in another status."""


class Readiness(Enum):
    """How far a task is that is not wrong."""

    READY = 'ready'
    UNDER_WAY = 'under way'
    """Somebody moves the instance to this very destination."""
    ARRIVED = 'arrived'


def check(
    client: NovaClient,
    settings: MoveSettings,
    window: WindowGuard | None = None,
) -> Readiness:
    """Look at the instance and at both hosts as they are now.

    :param window: of the scope; None: it is not looked at
    :raises StaleTask: the instance is gone, or is elsewhere; or its host
        was to be closed before, and is not
    :raises PreFlightError: it must not or cannot be moved now
    :raises NovaClientError: Nova cannot be asked
    """
    task = settings.task
    instance = client.get_instance(task.instance)
    if instance is not None and instance.host == task.destination:
        return Readiness.ARRIVED
    instance = checks.require_at_source(instance, task, 'instance')
    if instance.task_state == 'migrating' and _is_under_way(client, task):
        return Readiness.UNDER_WAY
    _check_instance(instance, settings, window)
    _check_hosts(client, task)
    _check_closed(client, task)
    return Readiness.READY


def _is_under_way(client: NovaClient, task: MigrationTask) -> bool:
    """Whether somebody moves the instance to this very destination.

    Nova writes down where to, or anything at all, a moment later.

    :raises StaleTask: it is on its way to another host
    """
    ends = {
        migration.destination
        for migration in client.list_unfinished_migrations()
        if migration.instance == task.instance and migration.destination
    }
    if ends and task.destination not in ends:
        raise faults.error(
            Fault.INSTANCE_ELSEWHERE,
            'the instance is already being migrated to '
            f'{" and ".join(sorted(ends))}',
        )
    return bool(ends)


def _check_instance(
    instance: types.Instance,
    settings: MoveSettings,
    window: WindowGuard | None,
) -> None:
    planned = Settings(
        allowed_extra_specs=['*'],
        consent=settings.consent,
        consent_projects=settings.consent_projects,
    )
    reasons = instances.reasons(instance, planned)
    row = phase_rules.row_of(settings.task.phase)
    if refusal := consent.why_not(instance, planned, row):
        reasons.append(refusal)
    if window and (refusal := window.refusal(instance, planned)):
        reasons.append(refusal)
    by_code = {reason.code: reason for reason in reasons}
    for code, fault in OF_INSTANCE.items():
        if reason := by_code.get(code):
            raise faults.error(fault, f'the instance cannot move: {reason}')


def _check_hosts(client: NovaClient, task: MigrationTask) -> None:
    for where, host in (
        (checks.SOURCE, task.source),
        (checks.DESTINATION, task.destination),
    ):
        checks.check_host(client.get_service(host), where, host)


def _check_versions(client: NovaClient, task: MigrationTask) -> None:
    """Whether Nova would refuse the destination for its hypervisor.

    Nova only answers that no valid host was found.

    :raises PreFlightError: it is older than that of the source
    """
    source = client.get_compute_host(task.source)
    destination = client.get_compute_host(task.destination)
    if source is None or destination is None:
        return
    reason = hosts.why_older(
        destination.hypervisor_version, source.hypervisor_version
    )
    if reason:
        raise faults.error(
            Fault.HYPERVISOR_OLDER,
            f'destination {task.destination}: {reason}',
        )


def _check_closed(client: NovaClient, task: MigrationTask) -> None:
    """Whether a source that was to be closed before is closed.

    :raises StaleTask: it is not: new servers would take the room
    """
    if not task.source_closed:
        return
    service = client.get_service(task.source)
    if service is not None and service.status == 'enabled':
        raise faults.error(
            Fault.HOST_NOT_CLOSED,
            f'its source {task.source} should have been disabled before, but '
            'is enabled',
        )


class Admission:
    """The way of one move to its beginning.

    :param put_off: lets the time for a turn begin anew
    """

    def __init__(
        self,
        settings: MigrationSettings,
        context: MigrationContext,
        put_off: Callable[[], object],
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._put_off = put_off
        self._concurrency = concurrency.Concurrency(
            context.nova, settings.task, settings.limits, context.wall
        )
        self._others: list[slots.Slot] = []
        self.window = WindowGuard(settings, context)
        self.arrived = False
        """Whether there was nothing left to do."""

    def why_wait(self) -> str:
        """Why the move cannot begin yet; '' if it can, and has its turn.

        :raises KronosException: it must not begin, or not now
        """
        reason = self._concurrency.why_behind(self._context.slots.look())
        if reason:
            # Many may wait for their own plan: Nova need not be asked.
            self._put_off()
            return reason
        readiness = check(self._context.nova, self._settings, self.window)
        self.arrived = readiness is Readiness.ARRIVED
        if self.arrived:
            return ''
        if readiness is Readiness.UNDER_WAY:
            return f'it is already being migrated to {self._task.destination}'
        self.window.check()
        self._concurrency.look()
        reason = self._context.slots.take(self._why_wait)
        if self._concurrency.is_behind:
            self._put_off()
        return reason or self._check_with_turn()

    def _why_wait(self, others: list[slots.Slot]) -> str:
        self._others = others
        return self._concurrency.why_wait(others)

    def _check_with_turn(self) -> str:
        """Why the move has to wait nevertheless, without its turn; or ''.

        :raises KronosException: it must not begin, or not now
        """
        settings, context = self._settings, self._context
        try:
            self.window.check(is_fresh=True)
            reason = checks.why_over_budget(
                settings, context.nova, self._others, context.wall()
            )
            if not reason:
                if settings.check_hypervisor_version:
                    _check_versions(context.nova, self._task)
                checks.check(
                    settings,
                    context,
                    self._concurrency.under_way(self._others),
                    self._concurrency.is_inside,
                    settings.soft_rules_bind,
                )
        except exceptions.KronosException:
            context.slots.release()
            raise
        if reason:
            context.slots.release()
        return reason
