# SPDX-License-Identifier: Apache-2.0
"""The run of a restart of a server that failed: stop, go elsewhere, start.

It is looked at once more before anything is done. From the moment at which it
is stopped it is brought to an end, whatever becomes of its plan: what Kronos
has stopped it also starts. What an applier that dies leaves behind, the
next audit goes on with.
"""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core import own_requests
from kronos.actions.core.retries import extended, joined
from kronos.actions.core.run import Run
from kronos.actions.core.step import (
    Step,
    StepEnd,
    StepLimits,
    StepResult,
    StepRun,
)
from kronos.clients.nova.instance_actions import (
    CONFIRM,
    MIGRATE,
    START,
    STOP,
    InstanceActions,
)
from kronos.common import durations, exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import ASKED, Instance
from kronos.extensions.recovery.actions.restart.preflight import (
    RestartContext,
    RestartPreflight,
    RestartSettings,
)
from kronos.extensions.recovery.restarts import VERIFY

LOG = logging.getLogger(__name__)

ACTIVE, STOPPED = 'ACTIVE', 'SHUTOFF'
OUTAGE_SECONDS = 3600.0
"""By so much at most a Nova that answers nothing prolongs a step."""
IDLE_SECONDS = 30.0
"""For so long nothing comes of a request that Nova took before it is
repeated."""
CONFLICT_SECONDS = 60.0
"""For so long Nova may say that a server cannot be started now."""
REFUSALS = 3
"""So many end a step that a stopped server needs."""


class RestartRun(Run[Instance, Instance]):
    """The restart of one server.

    One class, since each step goes on from where the one before has led.
    """

    def __init__(
        self, settings: RestartSettings, context: RestartContext
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._actions = InstanceActions(context.nova.api)
        self._checks = RestartPreflight(settings, context)
        self._stopping = self._migration = ''
        """Ids of our requests to stop it, and for its cold migration."""
        self._unwritten: list[tuple[Callable[[str], object], str]] = []
        """What the action's row is to tell, and could not be told so far."""
        self._trouble = ''

    def _preflight(self) -> str:
        """See :meth:`.RestartPreflight.check`.

        :returns: '': it waits there
        """
        self._checks.check()
        return ''

    def _request(self) -> Instance:
        """Stop the server, if it is not off.

        :raises KronosException: it is not to be restarted any more
        """
        instance = self._checks.check()
        self._begin(instance)
        return self._stop() if instance.status == ACTIVE else instance

    def _watch(self, sent: Instance) -> Instance:
        """Bring it elsewhere if it is to go there, and start it.

        :raises MigrationError: it does not run, or is not elsewhere
        """
        instance = sent
        failure: exceptions.MigrationError | None = None
        if instance.status == VERIFY:
            instance = self._confirm()
        elif self._settings.is_elsewhere and self._is_at(instance):
            instance, failure = self._moved()
        if instance.status != ACTIVE:
            instance = self._start(failure)
        if failure is not None:
            raise extended(failure, f'it was started on {instance.host} again')
        return instance

    def _begin(self, instance: Instance) -> None:
        """:raises TurnUnknown: the row does not take that it acts"""
        earlier = self._settings.stopped
        if instance.status == VERIFY:
            self._migration = earlier
            self._context.acts('')
            self._context.moves(earlier)
        else:
            self._context.acts(earlier)

    def _stop(self) -> Instance:
        """:raises TurnUnknown: the row does not take that it is to stop"""
        self._context.stop_if_cancelled()
        self._context.acts(ASKED)
        poll = self._settings.timing.poll_interval
        result = self._take(
            Step(
                participle='stopped',
                ask=lambda: self._context.power.stop(self._uuid),
                look=self._look,
                is_reached=lambda server: (
                    _is_off(server) and self._is_for_us()
                ),
                may_ask=lambda server: (
                    server.status == ACTIVE and _rests(server)
                ),
                requests=lambda: self._requests(STOP),
                on_request=self._note_stop,
            ),
            # A late one would stop the server that was started again.
            doubt=own_requests.QUIET_LOOKS * poll,
            conflict=poll,
        )
        return self._reached(result, 'stopped')

    def _note_stop(self, request: str) -> None:
        self._stopping = request
        self._note(self._context.acts, request)

    def _is_for_us(self) -> bool:
        """Whether Kronos, or Nova itself, has stopped it.

        :raises PreFlightError: a user was faster
        """
        stop = self._actions.last_stop(self._uuid)
        if stop and stop.user_id and stop.request_id != self._stopping:
            raise faults.error(
                Fault.INSTANCE_STOPPED, 'a user stopped it meanwhile'
            )
        return True

    def _moved(self) -> tuple[Instance, exceptions.MigrationError | None]:
        """The server on its new host; or where it was, and why.

        :raises MigrationError: the server is not off any more
        """
        result = self._migrate()
        if result.end is StepEnd.REACHED:
            return self._confirm(), None
        participle = f'migrated to {self._task.destination}'
        failure = _error(result, participle, self._settings.timeout)
        if result.seen is None or not _is_off(result.seen):
            raise failure
        return result.seen, failure

    def _migrate(self) -> StepResult[Instance]:
        self._note(self._context.moves, ASKED)
        host = self._task.destination
        return self._take(
            Step(
                participle=f'migrated to {host}',
                ask=lambda: self._context.power.migrate(self._uuid, host),
                look=self._look,
                # Nova may confirm by itself (resize_confirm_window).
                is_reached=lambda server: (
                    server.host == host
                    and _rests(server)
                    and server.status in (VERIFY, STOPPED)
                ),
                may_ask=lambda server: _is_off(server) and self._is_at(server),
                requests=lambda: self._requests(MIGRATE),
                on_request=self._note_migration,
            ),
            # It is off meanwhile. Nova takes one of two that are on their way.
            conflict=self._settings.timing.poll_interval,
        )

    def _note_migration(self, request: str) -> None:
        self._migration = request
        self._note(self._context.moves, request)

    def _confirm(self) -> Instance:
        """Confirm our own cold migration, and no other."""
        result = self._take(
            Step(
                participle='confirmed',
                ask=lambda: self._context.power.confirm(self._uuid),
                look=self._look,
                is_reached=lambda server: (
                    server.status in (STOPPED, ACTIVE) and _rests(server)
                ),
                may_ask=self._may_confirm,
                requests=lambda: self._requests(CONFIRM),
            ),
            conflict=self._settings.timeout,
            refusals=REFUSALS,
        )
        return self._reached(result, 'confirmed')

    def _may_confirm(self, instance: Instance) -> bool:
        """Whether our cold migration waits for that.

        :raises MigrationFailed: it is somebody else's that waits
        """
        if instance.status != VERIFY or not _rests(instance):
            return False
        ours = [self._migration] if self._migration else []
        if not self._actions.is_moved_by(self._uuid, ours):
            raise faults.error(
                Fault.RESTART_FAILED,
                'it is in VERIFY_RESIZE by somebody else, who confirms or '
                'reverts it',
            )
        return self._context.power.may_be_confirmed(self._uuid)

    def _start(self, failure: exceptions.MigrationError | None) -> Instance:
        """:param failure: why it is not elsewhere; None: it need not be"""
        result = self._take(
            Step(
                participle='started',
                ask=lambda: self._context.power.start(self._uuid),
                look=self._look,
                is_reached=lambda server: (
                    server.status == ACTIVE and _rests(server)
                ),
                may_ask=_is_off,
                requests=lambda: self._requests(START),
            ),
            conflict=CONFLICT_SECONDS,
            refusals=REFUSALS,
        )
        try:
            return self._reached(result, 'started')
        except exceptions.MigrationError as error:
            if failure is None:
                raise
            raise extended(failure, str(error)) from error

    def _take(
        self, step: Step[Instance], **limits: float
    ) -> StepResult[Instance]:
        """Bring one step to its end.

        :param limits: those that are not the same for all
        """

        def tell(words: str) -> None:
            self._trouble = f'is not {step.participle} yet: {words}'
            self._context.tell(self._trouble)

        self._trouble = f'is being {step.participle}'
        step.on_trouble = tell
        step.why_given_up = self._why_given_up
        step.lists_own = lambda: bool(self._context.nova.api.user_id)
        settings = self._settings
        shared = StepLimits(
            timeout=settings.timeout,
            poll_interval=settings.timing.poll_interval,
            outage=OUTAGE_SECONDS,
            **{'idle': IDLE_SECONDS, **limits},
        )
        return StepRun(step, self._context, shared).carry_out()

    def _reached(
        self, result: StepResult[Instance], participle: str
    ) -> Instance:
        """The server, if the step succeeded.

        :raises MigrationFailed: Nova refused it, or gave it up
        :raises MigrationTimeout: it takes too long
        """
        if result.end is StepEnd.REACHED and result.seen is not None:
            return result.seen
        raise _error(result, participle, self._settings.timeout)

    def _conclude(self, seen: Instance) -> str:
        """Whether its guest runs, where it was to run."""
        uuid = seen.uuid
        runs: bool | None = None
        try:
            runs = self._context.nova.is_guest_running(uuid)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', uuid, error)
        if runs is False:
            raise faults.error(
                Fault.RESTART_FAILED,
                f'Nova calls it ACTIVE on {seen.host}, but its guest does '
                'not run',
            )
        LOG.info('Instance %s was started again on %s', uuid, seen.host)
        unsure = '' if runs else 'it is unknown whether its guest runs'
        if self._settings.is_elsewhere and self._is_at(seen):
            unsure = f'it was started on {seen.host} after all'
        return unsure

    @property
    def _uuid(self) -> str:
        return self._task.instance

    def _is_at(self, instance: Instance) -> bool:
        return instance.host == self._task.source

    def _requests(self, kind: str) -> list[str]:
        """Ids of our own requests of a kind, the newest first."""
        user = self._context.nova.api.user_id
        return self._actions.requests(self._uuid, (kind,), user)

    def _look(self) -> Instance:
        """The server as it is now.

        :raises MigrationFailed: it was deleted
        :raises NovaClientError: Nova is away
        """
        self._write()
        self._context.tell(self._trouble)
        instance = self._context.nova.get_instance(self._uuid)
        if instance is None:
            raise faults.error(
                Fault.INSTANCE_VANISHED, 'the server was deleted meanwhile'
            )
        return instance

    def _note(self, tell: Callable[[str], object], request: str) -> None:
        self._unwritten.append((tell, request))
        self._write()

    def _write(self) -> None:
        """Tell the row what it does not tell so far.

        A database that is away ends nothing that is under way.
        """
        try:
            while self._unwritten:
                tell, request = self._unwritten[0]
                tell(request)
                del self._unwritten[0]
        except exceptions.KronosException as error:
            LOG.warning('Instance %s: %s', self._uuid, error)

    def _why_given_up(self, instance: Instance, request: str) -> str:
        """Nova's words where nothing more is to come of a request."""
        if instance.status == 'ERROR':
            words = self._refusal(request)
            return f'its status is ERROR{words and f" ({words})"}'
        return self._refusal(request) if _rests(instance) else ''

    def _refusal(self, request: str) -> str:
        if not request:
            return ''
        try:
            return self._actions.refusal_reason(self._uuid, request)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._uuid, error)
            return ''


def _rests(instance: Instance) -> bool:
    return not instance.task_state


def _is_off(instance: Instance) -> bool:
    return instance.status == STOPPED and _rests(instance)


def _error(
    result: StepResult[Instance], participle: str, timeout: float
) -> exceptions.MigrationError:
    """The error of a step that did not succeed."""
    if result.end is StepEnd.LATE:
        return faults.error(
            Fault.RESTART_TOO_SLOW,
            joined(
                f'it is not {participle} after {durations.exact(timeout)}',
                result.words,
            ),
        )
    refused = 'Nova refuses: ' if result.end is StepEnd.REFUSED else ''
    return faults.error(
        Fault.RESTART_FAILED,
        f'it is not {participle}: {refused}{result.words}',
    )
