# SPDX-License-Identifier: Apache-2.0
"""The admission of a move: when it may begin, and whether it still should.

It waits for its time and its turn; then all is looked at once more, with the
turn held, so that no other move of Kronos changes the answer.
"""

import datetime
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.migration import destination, preflight
from kronos.actions.migration.context import MigrationContext
from kronos.actions.migration.parameters import MigrationSettings
from kronos.actions.migration.retries import (
    back_off,
    given_up,
    next_try,
)
from kronos.actions.migration.turn import concurrency, slots
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)


class Admission:
    """The way of one move to its beginning."""

    def __init__(
        self, settings: MigrationSettings, context: MigrationContext
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._concurrency = concurrency.Concurrency(
            context.nova, settings.task, settings.limits, context.wall
        )
        self._others: list[slots.Slot] = []
        self._told = ''
        self.arrived = False
        """Whether there was nothing left to do."""

    def wait(self, found: Callable[[], object] | None = None) -> None:
        """Wait until the move may begin; it then has its turn.

        :param found: of a further try: whether an earlier request did
            arrive, so that there is nothing to wait for. A host that is not
            ready yet is then waited for, too.
        :raises StaleTask: it is pointless, or no turn came in time
        :raises PreFlightError: it would be wrong
        :raises MigrationCancelled: its plan was cancelled
        :raises KronosException: who has to be asked does not answer
        """
        context, patience = self._context, self._settings.timing.queue_timeout
        begin = max(0.0, self._settings.not_before - context.wall())
        deadline = context.clock() + begin + patience
        failures = 0
        hindered: float | None = None
        while True:
            context.stop_if_cancelled()
            try:
                context.slots.renew()
                reason = '' if found and found() else self._step()
                failures, hindered = 0, None
            except exceptions.KronosException as error:
                hindered = hindered or context.clock()
                if self._may_pass(error, hindered):
                    self._tell(str(error))
                    context.sleep(self._settings.timing.poll_interval)
                    continue
                delay = next_try(self._settings, error, failures)
                refused = isinstance(error, exceptions.PreFlightError)
                if delay is None or (refused and not found):
                    raise given_up(self._settings, error) from error
                back_off(self._settings, context, error, delay)
                failures += 1
                continue
            if not reason:
                context.tell('')
                return
            if context.clock() >= deadline:
                raise faults.error(
                    Fault.NO_TURN, f'no turn within {patience:g} s: {reason}'
                )
            self._tell(reason)
            context.sleep(self._settings.timing.poll_interval)

    def _may_pass(
        self, error: exceptions.KronosException, since: float
    ) -> bool:
        """Whether what stands in the way is still waited for."""
        waits = faults.TABLE[faults.of_error(error)].waits
        passed = self._context.clock() - since
        return waits and passed < self._settings.preflight_wait

    def _step(self) -> str:
        """Returns why the move cannot begin yet; '' if it can."""
        if self._settings.not_before > self._context.wall():
            return f'not before {_moment(self._settings.not_before)}'
        standing = preflight.check(self._context.nova, self._task)
        self.arrived = standing is preflight.Standing.ARRIVED
        if self.arrived:
            return ''
        if standing is preflight.Standing.UNDER_WAY:
            return f'it is on its way to {self._task.destination} already'
        self._concurrency.look()
        reason = self._context.slots.take(self._why_wait)
        if not reason:
            self._check_destination()
        return reason

    def _why_wait(self, others: list[slots.Slot]) -> str:
        self._others = others
        return self._concurrency.why_wait(others)

    def _check_destination(self) -> None:
        settings, context = self._settings, self._context
        try:
            destination.check_scope(self._task, self._concurrency.is_inside)
            destination.check_groups(
                context.nova,
                self._task,
                self._concurrency.under_way(self._others),
                self._concurrency.is_inside,
                settings.soft_rules_bind,
            )
            destination.check_allocations(
                context.nova, context.placement, self._task
            )
            destination.check_room(
                context.nova,
                context.placement,
                self._task,
                settings.resources,
                settings.require_headroom,
            )
            destination.check_exclusion(
                context.nova, self._task, context.exclusions
            )
        except exceptions.KronosException:
            context.slots.release()
            raise

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            LOG.info('Instance %s waits: %s', self._task.instance, reason)
        self._context.tell(f'waits: {reason}')


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f'{moment:%Y-%m-%dT%H:%M:%SZ}'
