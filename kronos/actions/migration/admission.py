# SPDX-License-Identifier: Apache-2.0
"""The admission of a move: when it may begin, and whether it still should.

It waits for its time and its turn; then all is looked at once more, with the
turn held, so that no other move of Kronos changes the answer.
"""

import datetime
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.migration import concurrency, destination, preflight, slots
from kronos.actions.migration.task import (
    MigrationContext,
    MigrationSettings,
    back_off,
    given_up,
    next_try,
)
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)


class Approach:
    """The way of one move to its beginning."""

    def __init__(
        self, order: MigrationSettings, world: MigrationContext
    ) -> None:
        self._order = order
        self._task = order.task
        self._world = world
        self._traffic = concurrency.Traffic(
            world.nova, order.task, order.limits, world.wall
        )
        self._claims: list[slots.Slot] = []
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
        world, patience = self._world, self._order.timing.queue_timeout
        begin = max(0.0, self._order.not_before - world.wall())
        deadline = world.clock() + begin + patience
        failures = 0
        hindered: float | None = None
        while True:
            world.stop_if_cancelled()
            try:
                world.turns.renew()
                reason = '' if found and found() else self._step()
                failures, hindered = 0, None
            except exceptions.KronosException as error:
                hindered = hindered or world.clock()
                if self._may_pass(error, hindered):
                    self._tell(str(error))
                    world.sleep(self._order.timing.poll_interval)
                    continue
                delay = next_try(self._order, error, failures)
                refused = isinstance(error, exceptions.PreFlightError)
                if delay is None or (refused and not found):
                    raise given_up(self._order, error) from error
                back_off(self._order, world, error, delay)
                failures += 1
                continue
            if not reason:
                world.tell('')
                return
            if world.clock() >= deadline:
                raise faults.error(
                    Fault.NO_TURN, f'no turn within {patience:g} s: {reason}'
                )
            self._tell(reason)
            world.sleep(self._order.timing.poll_interval)

    def _may_pass(
        self, error: exceptions.KronosException, since: float
    ) -> bool:
        """Whether what stands in the way is still waited for."""
        waits = faults.TABLE[faults.of_error(error)].waits
        passed = self._world.clock() - since
        return waits and passed < self._order.preflight_wait

    def _step(self) -> str:
        """Returns why the move cannot begin yet; '' if it can."""
        if self._order.not_before > self._world.wall():
            return f'not before {_moment(self._order.not_before)}'
        standing = preflight.check(self._world.nova, self._task)
        self.arrived = standing is preflight.Standing.ARRIVED
        if self.arrived:
            return ''
        if standing is preflight.Standing.UNDER_WAY:
            return f'it is on its way to {self._task.destination} already'
        self._traffic.look()
        reason = self._world.turns.take(self._why_wait)
        if not reason:
            self._check_destination()
        return reason

    def _why_wait(self, claims: list[slots.Slot]) -> str:
        self._claims = claims
        return self._traffic.why_wait(claims)

    def _check_destination(self) -> None:
        order, world = self._order, self._world
        try:
            destination.check_scope(self._task, self._traffic.is_inside)
            destination.check_groups(
                world.nova,
                self._task,
                self._traffic.under_way(self._claims),
                self._traffic.is_inside,
                order.soft_rules_bind,
            )
            destination.check_allocations(
                world.nova, world.placement, self._task
            )
            destination.check_room(
                world.nova,
                world.placement,
                self._task,
                order.resources,
                order.require_headroom,
            )
        except exceptions.KronosException:
            world.turns.release()
            raise

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            LOG.info('Instance %s waits: %s', self._task.instance, reason)
        self._world.tell(f'waits: {reason}')


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f'{moment:%Y-%m-%dT%H:%M:%SZ}'
