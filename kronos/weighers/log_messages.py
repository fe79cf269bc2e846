# SPDX-License-Identifier: Apache-2.0
"""The weigher's log messages: each is told once, and again when it lasts."""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.common import durations
from kronos.weighers.host_scores import HostScores

LOG = logging.getLogger(__name__)

REPEAT_SECONDS = 600.0
"""Between two warnings of what lasts."""
MOST_TROUBLES = 5
"""That one warning tells."""
NEW_SECONDS = 60.0
"""Between two warnings, though all was well in between."""


class LogMessages:
    """What the thread of one process has told so far.

    :param clock: seconds that only grow
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._warned_at = self._complained_at = float('-inf')
        self._is_warned = self._is_sampled = self._is_announced = False

    def troubles(self, troubles: list[str], shown: HostScores | None) -> None:
        """Tell what is wrong, but not too often.

        :param shown: the scores that count meanwhile
        """
        now = self._clock()
        pause = REPEAT_SECONDS if self._is_warned else NEW_SECONDS
        if now - self._warned_at < pause:
            return
        self._warned_at, self._is_warned = now, True
        age = (
            f'{durations.rounded(now - shown.asked_at)} old'
            if shown
            else 'not available yet'
        )
        LOG.warning(
            'The weigher of Kronos lacks data; its scores are %s%s, and '
            'hosts without a score are neutral: %s',
            age,
            _count(shown),
            _joined(troubles),
        )

    def all_is_well(self) -> None:
        """Tell that what was told to be wrong is over."""
        if self._is_warned:
            LOG.info('The weigher of Kronos has all its data again')
        self._is_warned = False

    def announce(self, asked_at: float, shown: HostScores | None) -> None:
        """Tell once that there are samples, and once that hosts have scores.

        nova-scheduler knows no host before it places a server.

        :param asked_at: when they were asked for
        """
        if shown is None or self._is_announced:
            return
        if not shown.rows:
            if not self._is_sampled and _has_samples(shown):
                self._is_sampled = True
                LOG.info(
                    'The weigher of Kronos has its first samples, %.1f s '
                    'after its first query: hosts get their scores when a '
                    'server is placed',
                    self._clock() - asked_at,
                )
        elif shown.scored:
            self._is_announced = True
            LOG.info(
                'The weigher of Kronos has its first scores, %.1f s after '
                'its first query%s: from now on they affect the placement of '
                'servers',
                self._clock() - asked_at,
                _count(shown),
            )

    def fault(self, fault: Exception | None) -> None:
        """Tell of a weighing that failed, if one did."""
        now = self._clock()
        if fault is None or now - self._complained_at < REPEAT_SECONDS:
            return
        self._complained_at = now
        LOG.warning(
            'A weighing of Kronos failed, so its hosts were neutral: %s: %s',
            type(fault).__name__,
            fault,
            exc_info=fault,
        )


def _joined(troubles: list[str]) -> str:
    more = len(troubles) - MOST_TROUBLES
    text = '; '.join(troubles[:MOST_TROUBLES])
    return f'{text}; and {more} more' if more > 0 else text


def _count(shown: HostScores | None) -> str:
    """How many hosts have a score; '' where no host is known yet."""
    if shown is None or not shown.rows:
        return ''
    return f', for {shown.scored} of {len(shown.rows)} hosts'


def _has_samples(shown: HostScores) -> bool:
    return any(
        readings.imbalance.samples
        for of_mode in shown.answers.readings.values()
        for readings in of_mode.values()
    )
