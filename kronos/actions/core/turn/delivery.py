# SPDX-License-Identifier: Apache-2.0
"""The delivery of a plan: one that came twice is carried out once."""

from oslo_log import log as logging

from kronos.actions.core.retries import Tries, back_off, given_up, next_try
from kronos.actions.core.turn import slots
from kronos.actions.live.context import Patience
from kronos.common import exceptions

LOG = logging.getLogger(__name__)


def is_over(settings: Tries, patience: Patience, turn: slots.Slots) -> bool:
    """Whether a move is over; another delivery of it is waited for.

    :raises MigrationCancelled: its plan was cancelled
    :raises TurnUnknown: Watcher's database does not tell
    """
    failures, told = 0, False
    while True:
        patience.stop_if_cancelled()
        try:
            entry = turn.enter()
        except exceptions.KronosException as error:
            delay = next_try(settings, error, failures)
            if delay is None:
                raise given_up(settings, error) from error
            back_off(settings, patience, error, delay)
            failures += 1
            continue
        if entry is not slots.Delivery.TAKEN:
            return entry is slots.Delivery.OVER
        if not told:
            told = True
            LOG.warning(
                'Instance %s: its plan was delivered twice; this one waits '
                'for the other',
                settings.task.instance,
            )
        patience.sleep(settings.timing.poll_interval)
