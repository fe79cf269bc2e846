# SPDX-License-Identifier: Apache-2.0
"""The passes of a migration over a guest's memory, and whether they converge.

QEMU copies all memory once, then again what was written meanwhile, and so on
until little is left. Bytes sent say nothing of an end in sight: a guest that
writes faster than its memory is copied is sent for ever. What says something
is how much is left when a pass begins.
"""

import collections
import itertools
import math
from dataclasses import dataclass

MIB = 2**20
LOOKS = 3
"""Passes may be shorter than the time between two looks, which then find any
part of one left. So many looks are taken together before the most that they
saw is held against another pass."""
STAMP_SECONDS = 1.0
"""To which Nova's database may cut its times."""
RECENT = 12
"""Looks, at least, from which it is taken how fast memory is sent."""
RECENT_SECONDS = 40.0
"""The same in seconds."""
AGO = 4
"""Passes from which it is taken how fast it is written."""
LATTICE = 4
"""So many places in a pass the looks have to find at least before they tell
how large it is: those that come at the pace of the passes find the same place
again and again."""
SPARE = 1.5
"""Of the widest gap between two of those places, how much may be missing
between the last one and the beginning of a pass."""
SAME = 0.05
"""Share of the most that was left, within which two places are one."""
DOWNTIME = 0.5
"""Seconds of a guest's standstill that Nova grants in the end: its default of
``live_migration_downtime``, to which it comes by steps. What is sent within
them needs no less to be left to come to an end."""


@dataclass(frozen=True)
class Look:
    """What one look at a migration tells of the guest's memory, in bytes.

    Nova writes the figures down now and then: those of one look are as they
    were at some moment after the look before, which found others.
    """

    at: float
    """When they were seen: seconds that only grow."""
    processed: int
    remaining: int
    after: float | None = None
    """When they were not there yet; None: they are as they were just now."""
    written_at: float | None = None
    """When Nova wrote them, by a clock of its own; None: it does not tell."""

    def seconds_since(self, earlier: 'Look') -> float:
        """Seconds between what two looks found.

        By Nova's clock, unless it contradicts ours, as those of two
        conductors may, or is the less precise one.
        """
        seen = self.at - earlier.at
        least = _before(self) - earlier.at
        most = self.at - _before(earlier)
        if self.written_at is None or earlier.written_at is None:
            return seen
        if most - least <= 2 * STAMP_SECONDS:
            return seen
        written = self.written_at - earlier.written_at
        if not least - STAMP_SECONDS <= written <= most + STAMP_SECONDS:
            return seen
        return min(max(written, least), most)


def _before(look: Look) -> float:
    return look.at if look.after is None else look.after


@dataclass
class _Pass:
    """One pass, or several short ones."""

    began: Look
    most: int
    """Bytes that were left, at the look that saw the most."""
    size: int
    """Bytes of which it had no more when it began."""
    looks: int = 1


class Passes:
    """What the looks at one migration tell of its passes."""

    def __init__(self) -> None:
        self.number = 0
        """Which one is under way, at least; 0: none has been seen."""
        self._recent: collections.deque[Look] = collections.deque()
        self._passes: list[_Pass] = []
        """All but the first one, which copies whatever the guest has."""

    def note(self, look: Look) -> None:
        """Take a look into account; what is older than the last is not.

        Nor is one that finds the figures of the last one: Nova writes them
        less often than it is asked.
        """
        last = self._recent[-1] if self._recent else None
        if last is None:
            self.number = 1
        elif look.processed < last.processed or _is_same(last, look):
            return
        elif _is_another(last, look):
            self._begin(last, look)
        elif self._passes:
            self._go_on(look)
        self._recent.append(look)
        while len(self._recent) > RECENT and (
            look.at - self._recent[1].at >= RECENT_SECONDS
        ):
            self._recent.popleft()

    def _begin(self, last: Look, look: Look) -> None:
        if self.number == 1:
            self._recent.clear()
        self.number += 1
        # What was sent of the pass, if what was left before it was sent first.
        sent = look.processed - last.processed - last.remaining
        size = look.remaining + max(sent, 0)
        if not self._passes or self._passes[-1].looks >= LOOKS:
            self._passes.append(_Pass(look, look.remaining, size))
        else:
            self._go_on(look)
            self._passes[-1].size = max(self._passes[-1].size, size)

    def _go_on(self, look: Look) -> None:
        current = self._passes[-1]
        current.most = max(current.most, look.remaining)
        current.looks += 1

    def in_vain(self) -> int:
        """How many passes have left no less than the best one before them.

        0 where what is left takes no longer than :data:`DOWNTIME`.
        """
        most = [one.most for one in self._passes if one.looks >= LOOKS]
        if not most or self._seconds(min(most)) <= DOWNTIME:
            return 0
        return len(most) - 1 - most.index(min(most))

    @property
    def bandwidth(self) -> float | None:
        """Bytes sent per second; None: not known."""
        if len(self._recent) < 2:
            return None
        first, last = self._recent[0], self._recent[-1]
        passed = last.seconds_since(first)
        if passed <= 0:
            return None
        return (last.processed - first.processed) / passed

    @property
    def dirty_rate(self) -> float | None:
        """Bytes per second that the guest wrote; None: not known.

        From pass to pass: what was sent, and what is left besides.
        """
        several = [one for one in self._passes if one.looks >= LOOKS]
        if len(several) < 2:
            return None
        first, last = several[-AGO:][0], several[-1]
        sent = last.began.processed - first.began.processed
        written = sent + last.most - first.most
        passed = last.began.seconds_since(first.began)
        return max(0.0, written / passed) if passed > 0 else None

    @property
    def pause(self) -> float:
        """Seconds that it takes to send what is left, at the worst.

        That is a whole pass: what the guest has written since it began is
        sent, too.
        """
        if not self._passes:
            last = self._recent[-1].remaining if self._recent else 0
            return self._seconds(last)
        current = self._passes[-1]
        size = min(current.size, self._size_by_places())
        return self._seconds(max(current.most, size))

    def _size_by_places(self) -> float:
        """The size of a pass, by what several looks found left of it.

        Looks find it at places all over it. The one where it begins is no
        farther from the last place than the places are from one another.
        """
        left = sorted(look.remaining for look in self._recent)
        gaps = [
            more - less
            for less, more in itertools.pairwise(left)
            if more - less > SAME * left[-1]
        ]
        if len(gaps) < LATTICE - 1:
            return math.inf
        return left[-1] + SPARE * max(gaps)

    def _seconds(self, size: float) -> float:
        return size / self.bandwidth if self.bandwidth else float('inf')

    def __str__(self) -> str:
        """Such as "pass 5, 4.1 MiB/s sent, 4.5 MiB/s written"."""
        parts = [f'pass {self.number}']
        if self.bandwidth is not None:
            parts.append(f'{self.bandwidth / MIB:.1f} MiB/s sent')
        if self.dirty_rate is not None:
            parts.append(f'{self.dirty_rate / MIB:.1f} MiB/s written')
        return ', '.join(parts)


def _is_same(last: Look, look: Look) -> bool:
    return (look.processed, look.remaining) == (last.processed, last.remaining)


def _is_another(last: Look, look: Look) -> bool:
    """Whether another pass has begun between two looks.

    What remains has grown; or so much was sent that the pass must have
    ended, though it looks no larger now.
    """
    sent = look.processed - last.processed
    return sent > 0 and (
        look.remaining > last.remaining or sent > last.remaining
    )
