# SPDX-License-Identifier: Apache-2.0
"""The forced end of a migration that does not converge, where it may be."""

import math
from enum import StrEnum

from oslo_log import log as logging

from kronos.actions.migration.context import MigrationContext
from kronos.actions.migration.passes import Passes
from kronos.actions.migration.task import MigrationTask
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

POST_COPY = 'running (post-copy)'
"""Status of a migration whose guest runs at its destination already."""
SWITCH_SECONDS = 3.0
"""For Nova to do what it is asked for, and to write down that it did."""
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
    the guest is paused, which only the status of the migration tells.

    :param longest: seconds for which the guest may be paused
    """

    def __init__(
        self,
        context: MigrationContext,
        task: MigrationTask,
        at_stall: AtStall,
        longest: float,
    ) -> None:
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._task = task
        self._at_stall = at_stall
        self._longest = longest
        self._asked: float | None = None
        self._is_post_copy = False

    @property
    def is_asked(self) -> bool:
        return self._asked is not None

    @property
    def remark(self) -> str:
        """What is to be said of a success; '' if nothing was forced."""
        if self._asked is None:
            return ''
        how = 'post-copy' if self._is_post_copy else 'a pause of its guest'
        return f'its passes were in vain, so it was ended by {how}'

    def ask(self, seen: MigrationStatus, passes: Passes) -> str:
        """Ask Nova for it.

        :returns: why it is not asked, or refuses; '' if it is under way
        """
        if self._at_stall is AtStall.ABORT:
            return ''
        pause, longest = passes.pause, self._longest
        if self._at_stall is AtStall.FORCE and pause > longest:
            long = 'for ever' if math.isinf(pause) else f'for {pause:.0f} s'
            return (
                f'not forced: its guest would be paused {long} '
                f'(max_pause_seconds: {longest:g})'
            )
        try:
            refused = self._live_migration.force_complete(
                self._task.instance, seen
            )
        except exceptions.NovaClientError as error:
            # If Nova got it all the same, its guest may be paused by now.
            refused = str(error) if error.kwargs['sent'] is False else ''
        if refused:
            return f'not forced: {refused}'
        LOG.warning(
            'Instance %s: its migration does not converge (%s) and is '
            'completed by force',
            self._task.instance,
            passes,
        )
        self._asked = self._clock()
        return ''

    def why_give_up(self, seen: MigrationStatus | None) -> str:
        """Why what was asked for is taken back; '' if it is not."""
        if seen is not None and seen.status == POST_COPY:
            self._is_post_copy = True
        if self._asked is None or self._is_post_copy:
            return ''
        paused = self._clock() - self._asked
        if paused < max(self._longest, SWITCH_SECONDS):
            return ''
        how = f'its guest was paused for {paused:.0f} s'
        if self._at_stall is AtStall.POST_COPY:
            how += (
                f', for {self._task.source} does not permit post-copy '
                '(live_migration_permit_post_copy in its nova.conf)'
            )
        return how
