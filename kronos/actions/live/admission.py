# SPDX-License-Identifier: Apache-2.0
"""The admission of a move: when it may begin, and whether it still should.

It waits for its time and its turn; then all is looked at once more, with the
turn held, so that no other move of Kronos changes the answer.
"""

from collections.abc import Callable

from kronos.actions.core import destination
from kronos.actions.core.turn import concurrency, slots, turn_wait
from kronos.actions.live import preflight
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.common import exceptions


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
        self._turn = turn_wait.TurnWait(settings, context, context.slots)
        self.arrived = False
        """Whether there was nothing left to do."""

    def wait(self, found: Callable[[], object] | None = None) -> None:
        """Wait until the move may begin; it then has its turn.

        :param found: of a further try: whether an earlier request did
            arrive, so that there is nothing to wait for. A host that is not
            ready yet is then waited for, too.
        :raises KronosException: as :meth:`.TurnWait.until`
        """

        def step() -> str:
            return '' if found and found() else self._step()

        self._turn.until(step, is_further_try=found is not None)

    def _step(self) -> str:
        """Why the move cannot begin yet; '' if it can."""
        reason = self._concurrency.why_behind(self._context.slots.look())
        if reason:
            # Many may wait for their own plan: Nova need not be asked.
            self._turn.put_off()
            return reason
        standing = preflight.check(self._context.nova, self._task)
        self.arrived = standing is preflight.Standing.ARRIVED
        if self.arrived:
            return ''
        if standing is preflight.Standing.UNDER_WAY:
            return f'it is on its way to {self._task.destination} already'
        self._concurrency.look()
        reason = self._context.slots.take(self._why_wait)
        if self._concurrency.is_behind:
            self._turn.put_off()
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
