# SPDX-License-Identifier: Apache-2.0
"""The restart of a server that failed: stop, go elsewhere, start.

It is looked at once more before anything is done. From the moment at which it
is stopped it is brought to an end, whatever becomes of its plan: what Kronos
has stopped it also starts. What an applier that dies leaves behind, the
next audit goes on with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from oslo_log import log as logging

from kronos.actions import host_closing
from kronos.actions.migration import destination, preflight
from kronos.actions.migration.context import Patience
from kronos.actions.migration.task import MigrationTask
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.instance_actions import InstanceActions
from kronos.clients.nova.server_power import ServerPower
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.eligibility.restarts import OPT_OUT
from kronos.engine.faults import Fault
from kronos.engine.types import Instance

LOG = logging.getLogger(__name__)

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
    """Id of the request by which a restart before has stopped it."""
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
class Asked:
    """Whom a restart asks, and to whom it tells that it acts."""

    nova: NovaClient
    power: ServerPower
    placement: placement.PlacementClient
    failures: Failures
    acts: Callable[[str], object]
    """Is told that it acts, with the id of the request to stop, if any."""
    exclusions: destination.Exclusions | None = None


class ServerRestart:
    """The restart of one server.

    One class, since each step goes on from where the one before has led.
    """

    def __init__(
        self, settings: RestartSettings, asked: Asked, patience: Patience
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._asked = asked
        self._patience = patience
        self._actions = InstanceActions(asked.nova.api)

    def check(self) -> None:
        """Look whether the server is still to be started again.

        :raises StaleTask: it runs again, is gone or elsewhere
        :raises PreFlightError: it must not be started
        :raises MigrationCancelled: the plan was cancelled
        :raises ClientError: somebody who has to be asked does not answer
        """
        end = self._patience.clock() + self._settings.preflight_wait
        while True:
            self._patience.stop_if_cancelled()
            try:
                self._check()
            except exceptions.PreFlightError as error:
                waits = faults.TABLE[faults.of_error(error)].waits
                if not waits or self._patience.clock() >= end:
                    raise
                self._patience.tell(f'waits: {error}')
                self._patience.sleep(self._settings.poll_interval)
            else:
                self._patience.tell('')
                return

    def carry_out(self) -> str:
        """Stop it, bring it elsewhere if it is to go there, and start it.

        :returns: a remark; '' if all went as planned
        :raises KronosException: what went wrong
        """
        self.check()
        self._asked.acts(self._settings.stopped)
        instance = self._now()
        if instance.status == 'ACTIVE':
            instance = self._stop()
        if instance.status == 'VERIFY_RESIZE':
            instance = self._confirm()
        elif self._settings.is_elsewhere and self._is_at(instance):
            self._migrate()
            instance = self._confirm()
        if instance.status != 'ACTIVE':
            self._start()
        return self._verified()

    def _check(self) -> None:
        task = self._task
        instance = self._asked.nova.get_instance(task.instance)
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
        nova = self._asked.nova
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
        if instance.status == 'VERIFY_RESIZE' and self._settings.stopped:
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

    def _check_failure(self) -> None:
        """Whether it is still said to have failed, if it was."""
        if self._settings.stopped:
            return
        said = self._asked.failures().get(self._task.instance)
        if said is None or said < self._settings.failed_at:
            raise faults.error(
                Fault.INSTANCE_WELL,
                'server_fault_query does not name it any more',
            )

    def _check_hosts(self) -> None:
        task, nova = self._task, self._asked.nova
        for where, host, fault in (
            (preflight.SOURCE, task.source, Fault.SOURCE_NOT_UP),
            (preflight.DESTINATION, task.destination,
             Fault.DESTINATION_NOT_UP),
        ):  # fmt: skip
            if where == preflight.DESTINATION and host == task.source:
                continue
            found = preflight.host_reasons(nova.get_service(host), where, host)
            if found:
                raise faults.error(fault, ', '.join(found))

    def _check_destination(self) -> None:
        """Its aggregate, its server groups, its room, and its faults."""
        task, asked = self._task, self._asked
        services = asked.nova.list_compute_services()
        inside = host_closing.members_of(asked.nova, task.aggregate, services)
        destination.check_scope(task, inside.__contains__)
        destination.check_groups(asked.nova, task, [], inside.__contains__)
        destination.check_allocations(asked.nova, asked.placement, task)
        destination.check_room(
            asked.nova,
            asked.placement,
            task,
            self._settings.resources,
            self._settings.require_headroom,
        )
        destination.check_exclusion(asked.nova, task, asked.exclusions)

    def _stop(self) -> Instance:
        self._patience.stop_if_cancelled()
        request = self._ask(self._asked.power.stop)
        self._asked.acts(request)
        return self._until(
            'stopped',
            lambda one: one.status == 'SHUTOFF' and not one.task_state,
            request,
        )

    def _migrate(self) -> None:
        host = self._task.destination
        request = self._ask(lambda uuid: self._asked.power.migrate(uuid, host))
        # Nova may confirm by itself (resize_confirm_window).
        self._until(
            f'migrated to {host}',
            lambda one: (
                one.host == host
                and not one.task_state
                and one.status in ('VERIFY_RESIZE', 'SHUTOFF')
            ),
            request,
        )

    def _confirm(self) -> Instance:
        instance = self._now()
        if instance.status != 'VERIFY_RESIZE':
            return instance
        request = self._ask(self._asked.power.confirm)
        return self._until(
            'confirmed',
            lambda one: (
                one.status in ('SHUTOFF', 'ACTIVE') and not one.task_state
            ),
            request,
        )

    def _start(self) -> None:
        request = self._ask(self._asked.power.start)
        self._until(
            'started',
            lambda one: one.status == 'ACTIVE' and not one.task_state,
            request,
        )

    def _verified(self) -> str:
        """Whether its guest runs, where it was to run."""
        instance = self._now()
        runs = self._asked.nova.is_guest_running(instance.uuid)
        if runs is False:
            raise faults.error(
                Fault.RESTART_FAILED,
                f'Nova calls it ACTIVE on {instance.host}, but its guest does '
                'not run',
            )
        LOG.info(
            'Instance %s was started again on %s', instance.uuid, instance.host
        )
        unsure = '' if runs else 'nobody can tell whether its guest runs'
        if self._settings.is_elsewhere and self._is_at(instance):
            unsure = f'it was started on {instance.host} after all'
        return unsure

    def _is_at(self, instance: Instance) -> bool:
        return instance.host == self._task.source

    def _now(self) -> Instance:
        instance = self._asked.nova.get_instance(self._task.instance)
        if instance is None:
            raise faults.error(
                Fault.INSTANCE_VANISHED, 'the server was deleted meanwhile'
            )
        return instance

    def _ask(self, request: Callable[[str], str]) -> str:
        """Ask Nova; a request whose answer got lost may have arrived.

        :returns: its id; '' if that is not known
        """
        try:
            return request(self._task.instance)
        except exceptions.NovaClientError as error:
            if error.kwargs.get('sent', False) is not None:
                raise
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return ''

    def _until(
        self, what: str, reached: Callable[[Instance], bool], request: str
    ) -> Instance:
        """Wait for a step to end.

        :raises MigrationFailed: Nova gave it up
        :raises MigrationTimeout: it takes too long
        """
        end = self._patience.clock() + self._settings.timeout
        while True:
            instance = self._seen()
            if instance is not None:
                if reached(instance):
                    return instance
                if why := self._why_given_up(instance, request):
                    raise faults.error(
                        Fault.RESTART_FAILED, f'it is not {what}: {why}'
                    )
            if self._patience.clock() >= end:
                raise faults.error(
                    Fault.RESTART_TOO_SLOW,
                    f'it is not {what} after {self._settings.timeout:g} s',
                )
            self._patience.tell(f'is being {what}')
            self._patience.sleep(self._settings.poll_interval)

    def _seen(self) -> Instance | None:
        """The server as it is now; None while Nova is away."""
        try:
            return self._now()
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return None

    def _why_given_up(self, instance: Instance, request: str) -> str:
        """Nova's words where nothing more is to come of a request."""
        if instance.status == 'ERROR':
            said = self._refusal(request)
            return f'its status is ERROR{said and f" ({said})"}'
        if instance.task_state or not request:
            return ''
        return self._refusal(request)

    def _refusal(self, request: str) -> str:
        if not request:
            return ''
        try:
            return self._actions.refusal_reason(self._task.instance, request)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return ''
