# SPDX-License-Identifier: Apache-2.0
"""The wait of a move for its time and its turn, or for another delivery.

What stands in its way and passes by itself is waited for, a service that is
away is asked again; each kind of move says what else it looks at. A plan that
was delivered twice is carried out once.
"""

import datetime
import math
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core import slots
from kronos.actions.core.context import Patience
from kronos.actions.core.parameters import MoveSettings
from kronos.actions.core.retries import back_off, given_up, next_try, reach
from kronos.common import durations, exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)


class TurnWait:
    """The wait of one move."""

    def __init__(
        self, settings: MoveSettings, patience: Patience, turn: slots.Slots
    ) -> None:
        self._settings = settings
        self._patience = patience
        self._slots = turn
        self._told = ''
        self._deadline = math.inf

    def put_off(self) -> None:
        """Let the time for a turn begin anew.

        Its own plan is what it waits for: how long that takes depends on how
        many moves come before.
        """
        most = self._settings.timing.queue_timeout
        self._deadline = self._patience.clock() + most

    def until(
        self, step: Callable[[], str], is_further_try: bool = False
    ) -> None:
        """Wait until the move may begin.

        :param step: looks, and returns why the move cannot begin yet, or ''
        :param is_further_try: whether a host that is not ready is waited for
            by further tries, too
        :raises StaleTask: it is pointless, or no turn came in time
        :raises PreFlightError: it would be wrong
        :raises MigrationCancelled: its plan was cancelled
        :raises KronosException: who has to be asked does not answer
        """
        patience, most = self._patience, self._settings.timing.queue_timeout
        begin = max(0.0, self._settings.not_before - patience.wall())
        self._deadline = patience.clock() + begin + most
        failures = 0
        hindered: float | None = None
        while True:
            patience.stop_if_cancelled()
            try:
                self._slots.renew()
                reason = self._why_not_yet() or step()
                failures, hindered = 0, None
            except exceptions.KronosException as error:
                hindered = hindered or patience.clock()
                if self._may_pass(error, hindered):
                    self._tell(str(error))
                    patience.sleep(self._settings.timing.poll_interval)
                    continue
                delay = next_try(self._settings, error, failures)
                refused = isinstance(error, exceptions.PreFlightError)
                if delay is None or (refused and not is_further_try):
                    raise given_up(self._settings, error) from error
                back_off(self._settings, patience, error, delay)
                failures += 1
                continue
            if not reason:
                patience.tell('')
                return
            if patience.clock() >= self._deadline:
                raise faults.error(
                    Fault.NO_TURN,
                    f'no turn within {durations.exact(most)}: {reason}',
                )
            self._tell(reason)
            patience.sleep(self._settings.timing.poll_interval)

    def _why_not_yet(self) -> str:
        if self._settings.not_before <= self._patience.wall():
            return ''
        return f'not before {_moment(self._settings.not_before)}'

    def _may_pass(
        self, error: exceptions.KronosException, since: float
    ) -> bool:
        """Whether what stands in the way is still waited for."""
        waits = faults.TABLE[faults.of_error(error)].waits
        passed = self._patience.clock() - since
        return waits and passed < self._settings.preflight_wait

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            LOG.info(
                'Instance %s waits: %s', self._settings.task.instance, reason
            )
        self._patience.tell(f'waits: {reason}')


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f'{moment:%Y-%m-%dT%H:%M:%SZ}'


def is_over(
    settings: MoveSettings, patience: Patience, turn: slots.Slots
) -> bool:
    """Whether a move is over; another delivery of it is waited for.

    :raises MigrationCancelled: its plan was cancelled
    :raises TurnUnknown: Watcher's database cannot be read
    """
    is_logged = False
    while True:
        patience.stop_if_cancelled()
        entry = reach(settings, patience, turn.enter)
        if entry is not slots.DeliveryState.TAKEN:
            return entry is slots.DeliveryState.OVER
        if not is_logged:
            is_logged = True
            LOG.warning(
                'Instance %s: its plan was delivered twice; this delivery '
                'waits for the other one',
                settings.task.instance,
            )
        patience.sleep(settings.timing.poll_interval)
