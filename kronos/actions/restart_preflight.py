# SPDX-License-Identifier: Apache-2.0
"""The pre-flight of a restart: is the server still to be started again?

The restart looks at all of it before it does anything to the server.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kronos.actions import host_closing
from kronos.actions.migration import destination, preflight
from kronos.actions.migration.context import Patience
from kronos.actions.migration.task import MigrationTask
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.server_power import ServerPower
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import Instance
from kronos.extensions.recovery.restarts import OPT_OUT, VERIFY

Failures = Callable[[], Mapping[str, float]]
"""Unix seconds at which each server that failed was last said to have, by
uuid; raises PrometheusError where that is not known."""


@dataclass(frozen=True)
class RestartSettings:
    """Which server is started again, where, and within which limits."""

    task: MigrationTask
    """From its host to the same, or to another."""
    failed_at: float
    """Unix seconds: the failure that it is about."""
    stopped: str = ''
    """Id of the request by which an earlier restart has left it SHUTOFF or in
    VERIFY_RESIZE; '': none has."""
    timeout: float = 300.0
    """Seconds for each step."""
    poll_interval: float = 5.0
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    require_headroom: bool = True

    @property
    def is_elsewhere(self) -> bool:
        return self.task.source != self.task.destination


@dataclass
class RestartContext:
    """Whom a restart asks, and to whom it tells that it acts."""

    nova: NovaClient
    power: ServerPower
    placement: placement.PlacementClient
    failures: Failures
    acts: Callable[[str], object]
    """Is told that it acts, with the id of the request to stop, if any."""
    moves: Callable[[str], object] = lambda request: None
    """Is told the id of the request for a cold migration."""
    exclusions: destination.Exclusions | None = None


class Restart:
    """One restart: what is to be done, whom it asks, and how it waits."""

    def __init__(
        self,
        settings: RestartSettings,
        context: RestartContext,
        patience: Patience,
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._patience = patience


class RestartPreflight(Restart):
    """What one restart looks at before it begins."""

    def check(self) -> Instance:
        """Look whether the server is still to be started again.

        What may pass is waited for. A server that a restart has left off is
        waited for as long as for a step.

        :returns: the server as it is
        :raises StaleTask: it runs again, is gone or elsewhere
        :raises PreFlightError: it must not be started
        :raises MigrationCancelled: the plan was cancelled
        :raises ClientError: a service that has to be asked does not answer
        """
        settings, patience = self._settings, self._patience
        limit = settings.preflight_wait
        if settings.stopped:
            limit = max(limit, settings.timeout)
        end = patience.clock() + limit
        while True:
            patience.stop_if_cancelled()
            try:
                instance = self._check()
            except exceptions.KronosException as error:
                if not _may_pass(error) or patience.clock() >= end:
                    raise
                patience.tell(f'waits: {error}')
                patience.sleep(settings.poll_interval)
            else:
                patience.tell('')
                return instance

    def _check(self) -> Instance:
        task = self._task
        instance = self._context.nova.get_instance(task.instance)
        if instance is None:
            raise faults.error(Fault.INSTANCE_GONE, 'the server is gone')
        if instance.host != task.source:
            raise faults.error(
                Fault.INSTANCE_ELSEWHERE,
                f'the server has left {task.source}; it is on '
                f'{instance.host or "no host"} now',
            )
        self._check_owner(instance)
        self._check_state(instance)
        self._check_failure()
        self._check_hosts()
        if self._settings.is_elsewhere:
            self._check_destination()
        return instance

    @staticmethod
    def _check_owner(instance: Instance) -> None:
        """What somebody forbids, or Nova is at."""
        if instance.locked:
            raise faults.error(Fault.INSTANCE_LOCKED, 'the server is locked')
        if instance.metadata.get(OPT_OUT, '').strip().lower() == 'false':
            raise faults.error(
                Fault.INSTANCE_RECOVERY_OFF,
                f'the metadata of the server says {OPT_OUT}=false',
            )
        if instance.task_state:
            raise faults.error(
                Fault.INSTANCE_BUSY,
                f'Nova is busy with it (task state {instance.task_state})',
            )

    def _check_state(self, instance: Instance) -> None:
        """Whether it is off or paused by a failure, and by nobody's wish."""
        nova = self._context.nova
        if instance.status == 'ACTIVE':
            runs = nova.is_guest_running(instance.uuid)
            if runs:
                raise faults.error(Fault.INSTANCE_RUNS, 'its guest runs again')
            if runs is None:
                raise faults.error(
                    Fault.GUEST_UNKNOWN,
                    'nobody can tell whether its guest runs',
                )
            return
        if instance.status == VERIFY:
            self._check_resize(instance)
            return
        if instance.status != 'SHUTOFF':
            raise faults.error(
                Fault.INSTANCE_NOT_ACTIVE,
                f'its status is {instance.status}, neither ACTIVE nor SHUTOFF',
            )
        stop = nova.last_stop(instance.uuid)
        by_us = stop and stop.request_id == self._settings.stopped
        if stop is None or (stop.user_id and not by_us):
            raise faults.error(
                Fault.INSTANCE_STOPPED,
                'a user stopped it' if stop else 'nobody knows who stopped it',
            )

    def _check_resize(self, instance: Instance) -> None:
        """Whether it is an earlier restart that waits to be confirmed."""
        ours, nova = self._settings.stopped, self._context.nova
        if not ours or not nova.is_moved_by(instance.uuid, [ours]):
            raise faults.error(
                Fault.INSTANCE_NOT_ACTIVE,
                'it is in VERIFY_RESIZE by somebody else, who confirms or '
                'reverts it',
            )

    def _check_failure(self) -> None:
        """Whether it is still said to have failed, if it was."""
        if self._settings.stopped:
            return
        said = self._context.failures().get(self._task.instance)
        if said is None or said < self._settings.failed_at:
            raise faults.error(
                Fault.INSTANCE_WELL,
                'server_fault_query does not name it any more',
            )

    def _check_hosts(self) -> None:
        task, nova = self._task, self._context.nova
        for where, host, fault in (
            (preflight.SOURCE, task.source, Fault.SOURCE_NOT_UP),
            (preflight.DESTINATION, task.destination,
             Fault.DESTINATION_NOT_UP),
        ):  # fmt: skip
            if where == preflight.DESTINATION and host == task.source:
                continue
            service = nova.get_service(host)
            reasons = preflight.host_reasons(service, where, host)
            if reasons:
                raise faults.error(fault, ', '.join(reasons))

    def _check_destination(self) -> None:
        """Its aggregate, its server groups, its room, and its faults."""
        task, context = self._task, self._context
        nova, services = context.nova, context.nova.list_compute_services()
        inside = host_closing.members_of(nova, task.aggregate, services)
        destination.check_scope(task, inside.__contains__)
        destination.check_groups(nova, task, [], inside.__contains__)
        destination.check_allocations(nova, context.placement, task)
        destination.check_room(
            nova,
            context.placement,
            task,
            self._settings.resources,
            self._settings.require_headroom,
        )
        destination.check_exclusion(nova, task, context.exclusions)


def _may_pass(error: exceptions.KronosException) -> bool:
    if isinstance(error, exceptions.PreFlightError):
        return faults.TABLE[faults.of_error(error)].waits
    return isinstance(error, exceptions.ClientError) and bool(
        error.kwargs.get('transient')
    )
