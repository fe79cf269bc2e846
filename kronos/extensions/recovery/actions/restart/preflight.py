# SPDX-License-Identifier: Apache-2.0
"""The pre-flight of a restart: is the server still to be started again?

The restart looks at all of it before it does anything to the server.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kronos.actions.core import checks, concurrency
from kronos.actions.core.context import ServerContext
from kronos.actions.core.parameters import MoveSettings
from kronos.clients.nova.server_power import ServerPower
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import Instance
from kronos.extensions.recovery.restarts import OPT_OUT, VERIFY

Failures = Callable[[], Mapping[str, float]]
"""Unix seconds at which each server that failed was last said to have, by
uuid; raises PrometheusError where that is not known."""


@dataclass(kw_only=True)
class RestartSettings(MoveSettings):
    """Which server is started again, where, and within which limits.

    Its task leads from its host to the same, or to another.
    """

    failed_at: float
    """Unix seconds: the failure that it is about."""
    stopped: str = ''
    """Id of the request by which an earlier restart has left it SHUTOFF or in
    VERIFY_RESIZE; '': none has."""
    timeout: float = 300.0
    """Seconds for each step."""

    @property
    def is_elsewhere(self) -> bool:
        return self.task.source != self.task.destination


@dataclass(kw_only=True)
class RestartContext(ServerContext):
    """Besides what every action needs, who hears that it acts."""

    power: ServerPower
    failures: Failures
    acts: Callable[[str], object]
    """Is told that it acts, with the id of the request to stop, if any."""
    moves: Callable[[str], object] = lambda request: None
    """Is told the id of the request for a cold migration."""


class RestartPreflight:
    """What one restart looks at before it begins."""

    def __init__(
        self, settings: RestartSettings, context: RestartContext
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context

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
        settings, context = self._settings, self._context
        limit = settings.preflight_wait
        if settings.stopped:
            limit = max(limit, settings.timeout)
        end = context.clock() + limit
        while True:
            context.stop_if_cancelled()
            try:
                instance = self._check()
            except exceptions.KronosException as error:
                if not _may_pass(error) or context.clock() >= end:
                    raise
                context.tell(f'waits: {error}')
                context.sleep(settings.timing.poll_interval)
            else:
                context.tell('')
                return instance

    def _check(self) -> Instance:
        task = self._task
        instance = checks.require_at_source(
            self._context.nova.get_instance(task.instance), task, 'server'
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
                f'the metadata of the server has {OPT_OUT}=false',
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
                    'it is unknown whether its guest runs',
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
                'a user stopped it'
                if stop
                else 'it is unknown who stopped it',
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
            (checks.SOURCE, task.source, Fault.SOURCE_NOT_UP),
            (checks.DESTINATION, task.destination,
             Fault.DESTINATION_NOT_UP),
        ):  # fmt: skip
            if where == checks.DESTINATION and host == task.source:
                continue
            service = nova.get_service(host)
            reasons = checks.host_reasons(service, where, host)
            if reasons:
                raise faults.error(fault, ', '.join(reasons))

    def _check_destination(self) -> None:
        """Its aggregate, its server groups, its room, and its faults."""
        task, nova = self._task, self._context.nova
        is_inside = concurrency.scope_of(nova, task.aggregate)
        checks.check(self._settings, self._context, (), is_inside)


def _may_pass(error: exceptions.KronosException) -> bool:
    if isinstance(error, exceptions.PreFlightError):
        return faults.TABLE[faults.of_error(error)].waits
    return isinstance(error, exceptions.ClientError) and bool(
        error.kwargs.get('transient')
    )
