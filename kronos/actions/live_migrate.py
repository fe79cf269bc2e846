# SPDX-License-Identifier: Apache-2.0
"""The action kronos_live_migrate: one move, as Watcher's applier runs it.

The reason of a failure goes into the action's ``status_message`` as
``KRONOS:<error type>: [<fault>] <text>``; the type is the exception's class,
the fault a code of :mod:`kronos.engine.faults`.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from oslo_log import log as logging
from watcher import conf, objects
from watcher.applier.actions import base
from watcher.common import context, exception

from kronos.actions import notifications
from kronos.actions.migration import (
    destination,
    parameters,
    recovery,
    retries,
    run,
)
from kronos.actions.migration.context import MigrationContext, Patience
from kronos.clients import connection
from kronos.clients.nova.live_migration import LiveMigration
from kronos.clients.prometheus import client as prometheus
from kronos.common import deadline, exceptions, status
from kronos.conf import opts, validation
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import HostMatch
from kronos.engine.types import MigrationPhase
from kronos.snapshots import exclusions
from kronos.watcher_db import lock

LOG = logging.getLogger(__name__)
CONF = conf.CONF
opts.register_opts(CONF)

RETELL_SECONDS = 60.0
T = TypeVar('T')

_TEXT = {'type': 'string'}
_NAME = {'type': 'string', 'minLength': 1}
_UUID = {'type': 'string', 'pattern': '^[a-fA-F0-9-]{36}$'}


class LiveMigrate(base.BaseAction):
    """Live-migrate an instance to a host that Nova's scheduler confirms.

    Never forced. Before the call it waits for its turn, and looks at the
    instance, its server groups, both hosts and the room. The migration is
    followed to its end, and aborted in Nova if it takes too long, if its
    destination is closed or if its plan is cancelled.

    One class, since Watcher asks one object for the schema, for each step of
    an action and for its abort.
    """

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._stop = threading.Event()
        self._own_run: run.MigrationRun | None = None
        self._told = ''
        self._told_first = self._told_last = 0.0

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                'resource_id': _UUID,
                'resource_name': _TEXT,
                'aggregate': _NAME,
                'phase': {'enum': [phase.value for phase in MigrationPhase]},
                'sequence': {'type': 'integer', 'minimum': 1},
                'requires': _UUID,
                'not_before': _TEXT,
                'source_node': _NAME,
                'destination_node': _NAME,
                'imbalance': _TEXT,
                'combined_imbalance': _TEXT,
                'action_uuid': _UUID,
                'action_plan_uuid': _UUID,
                'audit_uuid': _UUID,
            },
            'required': [
                'resource_id',
                'aggregate',
                'phase',
                'source_node',
                'destination_node',
            ],
        }

    def get_description(self) -> str:
        return (
            'Live-migrate an instance to a host that was chosen by Kronos '
            "and is checked by Nova's scheduler, and make sure that it "
            'arrives.'
        )

    def pre_condition(self) -> None:
        """Wait for the move's turn, and look whether it is still right.

        Meanwhile the action is PENDING, so that it can still be cancelled
        with its plan.

        :raises watcher.common.exception.ActionSkipped: it is pointless, or
            no turn came in time
        :raises watcher.common.exception.ActionPlanCancelled: the plan was
            cancelled
        :raises watcher.common.exception.WatcherException: it must not be
            moved now, or Nova does not answer
        """
        try:
            self._check_other_half()
            self._run().begin()
        except exceptions.StaleTask as stale:
            raise exception.ActionSkipped(_told(stale)) from stale
        except exceptions.MigrationCancelled as cancelled:
            self._tell('')
            raise exception.ActionPlanCancelled(
                uuid=self.input_parameters.get('action_plan_uuid', '')
            ) from cancelled
        except exceptions.KronosException as error:
            raise _for_watcher(error) from error

    def execute(self) -> bool:
        """Move the instance.

        :returns: True; every failure is raised
        :raises watcher.common.exception.WatcherException: with the error
            type and the reason
        """
        try:
            self._tell(self._run().carry_out())
        except exceptions.KronosException as error:
            raise _for_watcher(error) from error
        return True

    def post_condition(self) -> None:
        """Nothing: execute has looked; Watcher calls this in any case."""

    def revert(self) -> None:
        """Leave the instance where it is: it runs there."""
        LOG.info('Instance %s is not moved back', self.resource_id)

    def check_abort(self) -> bool:
        """Watcher before 16.0.0 asks whether it may call ``abort``."""
        return True

    def abort(self) -> bool:
        """End the wait; ``execute`` then aborts the migration in Nova."""
        self._stop.set()
        return True

    def _wait(self, seconds: float) -> None:
        """Sleep; the first call after or during an abort ends early."""
        if self._stop.is_set():
            time.sleep(seconds)
        else:
            self._stop.wait(seconds)

    def _run(self) -> run.MigrationRun:
        """The move; the same one for all that Watcher calls.

        :raises ConfigurationError: an option of Kronos is not valid
        """
        if self._own_run is None:
            # As the strategies do: an edited file needs no restart.
            CONF.reload_config_files()
            validation.require_valid(CONF)
            told = self.input_parameters
            clients = connection.HostProcess(lambda: self.osc.session, CONF)
            settings = parameters.settings_of(told, CONF.kronos)
            patience = Patience(
                is_cancelled=self._is_cancelled,
                tell=self._tell,
                sleep=self._wait,
            )
            nova = retries.reach(settings, patience, clients.nova)
            reached = MigrationContext(
                **vars(patience),
                nova=nova,
                live_migration=LiveMigration(nova.api),
                placement=retries.reach(settings, patience, clients.placement),
                slots=parameters.slots_of(told, settings),
                guest_states=recovery.states_of(
                    self._prometheus,
                    CONF.kronos.guest_state_query,
                    settings.task,
                ),
                exclusions=self._exclusions(),
                notices=notifications.Notices(parameters.facts(told), CONF),
            )
            self._own_run = run.MigrationRun(settings, reached)
        return self._own_run

    def _prometheus(self) -> prometheus.PrometheusClient:
        return prometheus.from_options(
            CONF.kronos_prometheus, self.osc.session
        )

    def _exclusions(self) -> destination.Exclusions | None:
        query = CONF.kronos.exclude_hosts_query
        if not query:
            return None
        how = HostMatch(CONF.kronos.host_match)
        return lambda hosts: exclusions.ask(
            self._prometheus(), query, hosts, how
        )

    def _is_cancelled(self) -> bool:
        """Since Watcher 16.0.0 only the plan's state tells an action."""
        plan_uuid = self.input_parameters.get('action_plan_uuid')
        if self._stop.is_set() or not plan_uuid:
            return self._stop.is_set()
        try:
            plan = _in_time(
                lambda: objects.ActionPlan.get_by_uuid(
                    context.make_context(is_admin=True), plan_uuid
                )
            )
        except Exception:
            # The database may be away for a moment; the move is under way.
            LOG.exception('The state of plan %s is not known', plan_uuid)
            return False
        return plan.state in objects.action_plan.State.CANCEL_STATES

    def _check_other_half(self) -> None:
        """Whether the move that this one is the answer to was made.

        :raises StaleTask: it was not; Watcher goes on all the same
        :raises TurnUnknown: Watcher's database does not tell
        """
        required = self.input_parameters.get('requires')
        if not required:
            return
        for action in self._actions_of_plan():
            if action.input_parameters.get('resource_id') == required:
                if action.state == objects.action.State.SUCCEEDED:
                    return
                raise faults.error(
                    Fault.OTHER_HALF,
                    'it is half of an exchange, and the other half, the '
                    f'move of {required}, is {action.state}',
                )
        raise faults.error(
            Fault.OTHER_HALF,
            f'it is half of an exchange whose other half, {required}, is not '
            'in its plan',
        )

    def _actions_of_plan(self) -> list[Any]:
        plan = self.input_parameters['action_plan_uuid']
        try:
            return _in_time(
                lambda: objects.Action.list(
                    context.make_context(is_admin=True),
                    filters={'action_plan_uuid': plan},
                )
            )
        except Exception as error:
            # Without its text, which may hold the statement.
            raise faults.error(
                Fault.WATCHER_ERROR,
                f"Watcher's database does not tell the actions of plan "
                f'{plan}: {type(error).__name__}',
            ) from error

    def _tell(self, text: str) -> None:
        """Show a word in the action's row; '' takes the last one away.

        What goes on for minutes is told anew each minute: a row that does
        not change looks as if its applier were dead.
        """
        now = time.monotonic()
        if text != self._told:
            self._told, self._told_first = text, now
        elif not text or now - self._told_last < RETELL_SECONDS:
            return
        self._told_last = now
        minutes = int((now - self._told_first) / 60)
        self._write(f'{text} (for {minutes} min)' if minutes else text)

    def _write(self, text: str) -> None:
        uuid = self.input_parameters.get('action_uuid')
        if not uuid:
            return
        told = status.fit(f'KRONOS: {text}') if text else None
        try:
            _in_time(lambda: _show(uuid, told))
        except Exception:
            # A missing word must not fail a move.
            LOG.exception('Action %s: %s', uuid, text)


def _in_time(read: Callable[[], T]) -> T:
    """Ask Watcher's database, which may accept and say nothing.

    :raises DeadlinePassed: it did not answer; a migration goes on meanwhile
    """
    return deadline.within(lock.PATIENCE, lambda check: read())


def _show(uuid: str, told: str | None) -> None:
    row = objects.Action.get_by_uuid(
        context.make_context(is_admin=True), uuid, eager=True
    )
    row.status_message = told
    row.save()


def _for_watcher(
    error: exceptions.KronosException,
) -> exception.WatcherException:
    return exception.WatcherException(_told(error))


def _told(error: exceptions.KronosException) -> str:
    """An error as the history of moves reads it, see ``snapshots.deeds``."""
    name, fault = type(error).__name__, faults.of_error(error)
    return status.fit(f'KRONOS:{name}: [{fault}] {error}')
