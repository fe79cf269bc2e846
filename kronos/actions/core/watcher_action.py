# SPDX-License-Identifier: Apache-2.0
"""The action of Watcher that all actions of Kronos are.

The reason of a failure goes into the action's ``status_message`` as
``KRONOS:<error type>: [<fault>] <text>``; the type is the exception's class,
the fault a code of :mod:`kronos.engine.faults`.
"""

import abc
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from oslo_log import log as logging
from watcher import conf, objects
from watcher.applier.actions import base
from watcher.common import context, exception

from kronos.actions.core.context import Exclusions, Patience
from kronos.actions.core.run import Run
from kronos.clients import connection
from kronos.clients.prometheus import client as prometheus
from kronos.common import deadline, exceptions, status
from kronos.conf import opts, validation
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import HostMatch
from kronos.metrics import process
from kronos.metrics.metric import Source
from kronos.snapshots import exclusions
from kronos.watcher_db import lock

LOG = logging.getLogger(__name__)
CONF = conf.CONF
opts.register_opts(CONF)

RETELL_SECONDS = 60.0
T = TypeVar('T')

TEXT = {'type': 'string'}
NAME = {'type': 'string', 'minLength': 1}
UUID = {'type': 'string', 'pattern': '^[a-fA-F0-9-]{36}$'}
PROPERTIES = {
    'resource_name': TEXT,
    'aggregate': NAME,
    'sequence': {'type': 'integer', 'minimum': 1},
    'source_node': NAME,
    'action_uuid': UUID,
    'action_plan_uuid': UUID,
    'audit_uuid': UUID,
}
"""The input parameters that every action of Kronos has."""


class KronosAction(base.BaseAction):
    """What the actions of Kronos share: how they wait, report and end.

    One class, since Watcher asks one object for each step of an action and for
    its abort.
    """

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._own_run: Run[Any, Any] | None = None
        self._stop = threading.Event()
        self._is_database_away = False
        self._told = ''
        self._told_first = self._told_last = 0.0
        # Its own: the rows of other actions must change, or they look dead.
        self._writes = deadline.Queue()

    def pre_condition(self) -> None:
        """Wait until it may begin, and look whether it is still right.

        Meanwhile the action is PENDING, so that it can still be cancelled
        with its plan.

        :raises watcher.common.exception.ActionSkipped: it is pointless, or
            no turn came in time
        :raises watcher.common.exception.ActionPlanCancelled: the plan was
            cancelled
        :raises watcher.common.exception.WatcherException: it must not be
            done now, or who has to be asked does not answer
        """
        try:
            self._begin()
        except exceptions.StaleTask as stale:
            # Watcher logs what led to it, too, which the text says.
            raise exception.ActionSkipped(message_of(stale)) from None
        except exceptions.MigrationCancelled:
            self._tell('')
            raise exception.ActionPlanCancelled(
                uuid=self.input_parameters.get('action_plan_uuid', '')
            ) from None
        except exceptions.KronosException as error:
            raise for_watcher(error) from None

    def execute(self) -> bool:
        """Do it.

        :returns: True; every failure is raised
        :raises watcher.common.exception.WatcherException: with the error
            type and the reason
        """
        try:
            self._tell(self._carry_out())
        except exceptions.KronosException as error:
            raise for_watcher(error) from None
        return True

    @abc.abstractmethod
    def _make_run(self) -> Run[Any, Any]:
        """What carries it out.

        :raises KronosException: an option of Kronos is not valid, or
            Keystone does not lead to a service
        """

    def _run(self) -> Run[Any, Any]:
        """The same one for all that Watcher calls."""
        if self._own_run is None:
            self._own_run = self._make_run()
        return self._own_run

    def _begin(self) -> None:
        """See :meth:`pre_condition`.

        :raises KronosException: it must not be done, or not now
        """
        self._run().begin()

    def _carry_out(self) -> str:
        """See :meth:`execute`.

        :returns: a remark on the success; '' if all went as planned
        :raises KronosException: it failed
        """
        return self._run().carry_out()

    def post_condition(self) -> None:
        """Nothing: execute has looked; Watcher calls this in any case."""

    def check_abort(self) -> bool:
        """Watcher before 16.0.0 asks whether it may kill ``execute``.

        It may not: a move that is killed goes on in Nova. That of a plan
        that was cancelled ends by itself, as beside later releases.
        """
        return False

    def abort(self) -> bool:
        """End the wait; ``execute`` then ends what it may."""
        self._stop.set()
        return True

    def _wait(self, seconds: float) -> None:
        """Sleep; the first call after or during an abort ends early."""
        if self._stop.is_set():
            time.sleep(seconds)
        else:
            self._stop.wait(seconds)

    def _patience(self) -> Patience:
        return Patience(
            is_cancelled=self._is_cancelled,
            tell=self._tell,
            sleep=self._wait,
        )

    def _clients(self) -> connection.Clients:
        """The clients of the cloud, by the options as they are now.

        :raises ConfigurationError: an option of Kronos is not valid
        """
        # As the strategies do: an edited file needs no restart.
        CONF.reload_config_files()
        validation.require_valid(CONF)
        process.begin(Source.APPLIER, CONF.kronos_metrics)
        return connection.HostProcess(lambda: self.osc.session, CONF)

    def _prometheus(self) -> prometheus.PrometheusClient:
        return prometheus.from_options(
            CONF.kronos_prometheus, self.osc.session
        )

    def _exclusions(self) -> Exclusions | None:
        """Asks which hosts are at fault; None: there is no such query."""
        query = CONF.kronos.exclude_hosts_query
        if not query:
            return None
        how = HostMatch(CONF.kronos.host_match)
        return lambda hosts: _excluded(self._prometheus(), query, hosts, how)

    def _actions_of_plan(self) -> list[Any]:
        """:raises TurnUnknown: Watcher's database cannot be read"""
        plan = self.input_parameters['action_plan_uuid']
        try:
            return lock.read(
                lambda: objects.Action.list(
                    context.make_context(is_admin=True),
                    filters={'action_plan_uuid': plan},
                )
            )
        except Exception as error:
            raise faults.error(
                Fault.WATCHER_ERROR,
                f"Watcher's database does not show the actions of plan "
                f'{plan}: {lock.reason(error)}',
            ) from error

    def _is_cancelled(self) -> bool:
        """Since Watcher 16.0.0 only the plan's state tells an action."""
        plan_uuid = self.input_parameters.get('action_plan_uuid')
        if self._stop.is_set() or not plan_uuid:
            return self._stop.is_set()
        plan = self._unless_away(lambda: lock.read(lambda: _plan(plan_uuid)))
        if plan is None:
            # For a moment, perhaps; the move is under way.
            return False
        return plan.state in objects.action_plan.State.CANCEL_STATES

    def _unless_away(self, work: Callable[[], T]) -> T | None:
        """Do some work in Watcher's database, if that answers.

        An action asks every few seconds: that it is away is logged once, in
        one line, without the text of the error, which may hold the statement.

        :returns: None if it does not
        """
        try:
            result = work()
        except Exception as error:
            if not self._is_database_away:
                LOG.warning(
                    "Action %s: Watcher's database does not show its state "
                    '(%s); the action continues',
                    self.input_parameters.get('action_uuid', '?'),
                    lock.reason(error),
                )
            self._is_database_away = True
            LOG.debug("Watcher's database cannot be read", exc_info=True)
            return None
        if self._is_database_away:
            LOG.info("Watcher's database shows the state of the action again")
        self._is_database_away = False
        return result

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
        message = status.fit(f'KRONOS: {text}') if text else None
        # A missing word must not fail a move.
        self._unless_away(
            lambda: lock.write(
                lambda: update_row(uuid, status_message=message), self._writes
            )
        )


def _excluded(
    source: prometheus.PrometheusClient,
    query: str,
    hosts: Collection[str],
    how: HostMatch,
) -> Mapping[str, float]:
    answer = exclusions.ask(source, query, hosts, how)
    for text in answer.warnings:
        LOG.warning('%s', text)
    return answer.values


def _plan(uuid: str) -> Any:
    return objects.ActionPlan.get_by_uuid(
        context.make_context(is_admin=True), uuid
    )


def update_row(uuid: str, **values: Any) -> None:
    """Write into an action's row.

    :param values: by column; a dict is merged with what the column has
    """
    row = objects.Action.get_by_uuid(
        context.make_context(is_admin=True), uuid, eager=True
    )
    for name, value in values.items():
        merges = isinstance(value, dict)
        setattr(row, name, getattr(row, name) | value if merges else value)
    row.save()


def for_watcher(
    error: exceptions.KronosException,
) -> exception.WatcherException:
    return exception.WatcherException(message_of(error))


def message_of(error: exceptions.KronosException) -> str:
    """An error as the history of moves reads it, see ``snapshots.deeds``."""
    name, fault = type(error).__name__, faults.of_error(error)
    return status.fit(f'KRONOS:{name}: [{fault}] {error}')
