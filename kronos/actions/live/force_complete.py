# SPDX-License-Identifier: Apache-2.0
"""The forced end of a migration that does not converge, where it may be."""

import math
from enum import StrEnum

from oslo_log import log as logging

from kronos.actions.core import own_requests
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.passes import Passes
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import durations, exceptions
from kronos.engine import wording

LOG = logging.getLogger(__name__)

POST_COPY = 'running (post-copy)'
"""Status of a migration whose guest runs at its destination already."""
SWITCH_SECONDS = 3.0
"""For Nova to do what it is asked for, and to write down that it did."""
MOST_REQUESTS = 3
"""To complete one migration by force, while its guest runs on."""
INTERVAL = 1.0
"""Seconds between two looks while a guest may be paused."""


class AtStall(StrEnum):
    """What is done with a migration whose passes are in vain."""

    ABORT = 'abort'
    FORCE = 'force'
    POST_COPY = 'post_copy'


class ForceComplete:
    """Whether a migration is brought to its end by force, and how it goes.

    Nova alone knows whether a source permits post-copy. Where it does not,
    the guest is paused, which its hypervisor tells; and Nova's 202 says no
    more than that it was sent to nova-compute, which may never get it.

    :param longest: seconds for which the guest may be paused
    """

    def __init__(
        self,
        context: MigrationContext,
        task: MigrationTask,
        at_stall: AtStall,
        longest: float,
    ) -> None:
        self._nova = context.nova
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._task = task
        self._at_stall = at_stall
        self._longest = longest
        self._requests = 0
        self._asked_at = 0.0
        """When the last of them was sent."""
        self._is_post_copy = False

    @property
    def is_asked(self) -> bool:
        return self._requests > 0

    @property
    def remark(self) -> str:
        """What is to be said of a success; '' if nothing was forced."""
        if not self.is_asked:
            return ''
        how = 'a pause of its guest'
        if self._is_post_copy:
            how = 'post-copy'
        elif self._at_stall is AtStall.POST_COPY:
            # It may have been over between two looks.
            how = 'force'
        return f'it did not converge, so it was completed by {how}'

    def ask(self, seen: MigrationStatus, passes: Passes) -> str:
        """Ask Nova for it.

        :returns: why it is not asked, or refuses; '' if it is under way
        """
        if self._at_stall is AtStall.ABORT:
            return ''
        if refused := self._too_long(passes) or self._send(seen):
            return f'not forced: {refused}'
        LOG.warning(
            'Instance %s: its migration does not converge (%s) and is '
            'completed by force',
            self._task.instance,
            passes,
        )
        return ''

    def _too_long(self, passes: Passes) -> str:
        """:returns: why its guest must not be paused; '' if it may"""
        pause, longest = passes.pause, self._longest
        if self._at_stall is not AtStall.FORCE or pause <= longest:
            return ''
        long = (
            'for ever'
            if math.isinf(pause)
            else f'for {durations.rounded(pause)}'
        )
        return (
            f'its guest would be paused {long} (max_pause_seconds: '
            f'{longest:g})'
        )

    def _send(self, seen: MigrationStatus) -> str:
        """:returns: why Nova surely does not do it; '' if it may"""
        try:
            refused = self._live_migration.force_complete(
                self._task.instance, seen
            )
        except exceptions.NovaClientError as error:
            # If Nova got it all the same, its guest may be paused by now.
            passing = error.kwargs['transient']
            may_be = passing or own_requests.may_have_arrived(error)
            refused = '' if may_be else str(error)
        if not refused:
            self._requests += 1
            self._asked_at = self._clock()
        return refused

    def why_give_up(self, seen: MigrationStatus, passes: Passes) -> str:
        """Why what was asked for is taken back; '' if it is not.

        A guest that runs on shows that nothing was done: Nova is asked again.
        """
        if seen.status == POST_COPY:
            self._is_post_copy = True
        if not self.is_asked or self._is_post_copy:
            return ''
        passed = self._clock() - self._asked_at
        if passed < max(self._longest, SWITCH_SECONDS):
            return ''
        is_running = self._is_guest_running()
        if is_running is None:
            return (
                'Nova was asked '
                f'{durations.rounded(passed)} ago to complete it by force, '
                'and it is not over; whether its guest is paused is not known'
            )
        if is_running:
            return self._again(seen, passes)
        return self._paused_for(passed)

    def _again(self, seen: MigrationStatus, passes: Passes) -> str:
        """:returns: why Nova is not asked again; '' if it is"""
        times = wording.counted(self._requests, 'time')
        text = (
            f'Nova was asked {times} to complete it by force, and its guest '
            f'runs on at {self._task.source}'
        )
        if self._requests >= MOST_REQUESTS:
            return text
        refused = self._too_long(passes) or self._send(seen)
        if not refused:
            LOG.warning(
                'Instance %s: %s; it is asked again', self._task.instance, text
            )
            return ''
        return f'{text}; not forced again: {refused}'

    def _paused_for(self, seconds: float) -> str:
        how = f'its guest was paused for {durations.rounded(seconds)}'
        if self._at_stall is AtStall.POST_COPY:
            how += (
                f', for {self._task.source} does not permit post-copy '
                '(live_migration_permit_post_copy in its nova.conf)'
            )
        return how

    def _is_guest_running(self) -> bool | None:
        try:
            return self._nova.is_guest_running(
                self._task.instance, at_once=True
            )
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return None
