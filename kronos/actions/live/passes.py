# SPDX-License-Identifier: Apache-2.0
"""The size of a migration, and its passes over the memory of the guest.

QEMU copies all memory once, then again what was written meanwhile, and so on
until little is left. Bytes sent say nothing of an end in sight: a guest that
writes faster than its memory is copied is sent for ever. What says something
is how much is left when a pass begins.
"""

import collections
import itertools
import math
from dataclasses import dataclass

from kronos.clients.nova.progress import Progress
from kronos.engine import types

GIB = 2**30
MIB_PER_GIB = 1024


class MigrationSize:
    """The guest's memory, and its local disks where they are copied.

    Only the figures of a migration tell whether they are; until there are
    any, they may be.
    """

    def __init__(self) -> None:
        self._has_figures = False
        self._memory_gib = 0.0
        self._disk_gib = 0.0
        self._flavor_disk_gib = 0.0

    def note_instance(self, instance: types.Instance) -> None:
        """Take the flavor into account."""
        memory_gib = instance.memory_mb / MIB_PER_GIB
        self._memory_gib = max(self._memory_gib, memory_gib)
        self._flavor_disk_gib = float(instance.disk_gb)

    def note(self, figures: Progress) -> None:
        """Take figures into account; those of memory may follow later."""
        self._has_figures = True
        memory_gib = (figures.memory_total or 0) / GIB
        self._memory_gib = max(self._memory_gib, memory_gib)
        self._disk_gib = max(self._disk_gib, (figures.disk_total or 0) / GIB)

    @property
    def gib(self) -> float:
        disk = self._disk_gib if self._has_figures else self._flavor_disk_gib
        return self._memory_gib + disk


MIB = 2**20
LOOKS = 3
"""So many have to see a pass before it is held against another one."""
LOOKS_OF_SEVERAL = 8
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
EVEN = 0.08
"""Share of a pass by which what several looks tell of its size may differ."""
MOST_PARTS = 100
"""Passes, at most, that are looked for between two looks."""
LESS = 0.9
"""Of the best ones before, so much at most has to be left of several short
passes to be less: the looks find the most of them by chance."""
DOWNTIME = 0.5
"""Seconds of a guest's standstill that Nova grants in the end: its default of
``live_migration_downtime``, to which it comes by steps. What is sent within
them needs no less to be left to come to an end."""


@dataclass(frozen=True)
class PassLook:
    """What one look at a migration tells of the guest's memory, in bytes.

    Nova writes the figures down now and then: those of one look are as they
    were at some moment after the look before, which found others.
    """

    time: float
    """When they were seen: seconds that only grow."""
    processed: int
    remaining: int
    after: float | None = None
    """When they were not there yet; None: they are as they were just now."""
    written_at: float | None = None
    """When Nova wrote them, by a clock of its own; None: it does not tell."""

    def seconds_since(self, earlier: 'PassLook') -> float:
        """Seconds between what two looks found.

        By Nova's clock, unless it contradicts ours, as those of two
        conductors may, or is the less precise one.
        """
        seen = self.time - earlier.time
        least = _before(self) - earlier.time
        most = self.time - _before(earlier)
        if self.written_at is None or earlier.written_at is None:
            return seen
        if most - least <= 2 * STAMP_SECONDS:
            return seen
        written = self.written_at - earlier.written_at
        if not least - STAMP_SECONDS <= written <= most + STAMP_SECONDS:
            return seen
        return min(max(written, least), most)


def _before(look: PassLook) -> float:
    return look.time if look.after is None else look.after


@dataclass
class _Pass:
    """One pass, or several short ones."""

    began: PassLook
    whole: int
    """Bytes when it began, if it is one."""
    most: int
    """Bytes that were left, at the look that saw the most."""
    is_one: bool = True
    looks: int = 1

    @property
    def is_seen(self) -> bool:
        """Whether there were looks enough."""
        return self.looks >= (LOOKS if self.is_one else LOOKS_OF_SEVERAL)

    @property
    def size(self) -> int:
        """By which it is held against another one."""
        return self.whole if self.is_one else self.most


class Passes:
    """What the looks at one migration tell of its passes."""

    def __init__(self) -> None:
        self.number = 0
        """Which one is under way, at least; 0: none has been seen."""
        self._recent: collections.deque[PassLook] = collections.deque()
        self._passes: list[_Pass] = []
        """All but the first one, which copies whatever the guest has."""

    def note(self, look: PassLook) -> None:
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
            self._begin(look, _begun(last, look))
        elif self._passes:
            self._go_on(look)
        self._recent.append(look)
        while len(self._recent) > RECENT and (
            look.time - self._recent[1].time >= RECENT_SECONDS
        ):
            self._recent.popleft()

    def _begin(self, look: PassLook, size: int) -> None:
        if self.number == 1:
            self._recent.clear()
        self.number += 1
        if not self._passes or self._passes[-1].is_seen:
            self._passes.append(_Pass(look, size, look.remaining))
        else:
            self._passes[-1].is_one = False
            self._go_on(look)

    def _go_on(self, look: PassLook) -> None:
        current = self._passes[-1]
        current.most = max(current.most, look.remaining)
        current.looks += 1

    def in_vain(self) -> int:
        """How many passes have left no less than the best one before them.

        0 where what is left takes no longer than :data:`DOWNTIME`.
        """
        best, since = math.inf, 0
        for turn in self._passes:
            if not turn.is_seen:
                break
            since += 1
            if turn.size < best * (1.0 if turn.is_one else LESS):
                best, since = turn.size, 0
        return since if self._seconds(best) > DOWNTIME else 0

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
        several = [turn for turn in self._passes if turn.is_seen]
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
        return self._seconds(max(current.most, current.size, self._size()))

    def _size(self) -> float:
        """Bytes of a pass, at most.

        Between two looks a whole number of passes begins. The size is the
        largest one of which all that began is a multiple; where passes are
        not alike, all that began between two looks counts as one.
        """
        begun = [
            size
            for earlier, look in itertools.pairwise(self._recent)
            if (size := _begun(earlier, look)) > 0
        ]
        most = float(max(begun, default=0))
        least = max(look.remaining for look in self._recent)
        for parts in range(1, MOST_PARTS):
            part = most / parts
            if part < least:
                break
            if all(_is_multiple(total, part) for total in begun):
                return part
        return max(most, least)

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


def _is_same(last: PassLook, look: PassLook) -> bool:
    return (look.processed, look.remaining) == (last.processed, last.remaining)


def _begun(earlier: PassLook, look: PassLook) -> int:
    """Bytes of all passes that began between two looks; 0: none did.

    What was left is sent first, and what is left is of the last one.
    """
    if not _is_another(earlier, look):
        return 0
    sent = look.processed - earlier.processed
    return max(sent - earlier.remaining, 0) + look.remaining


def _is_multiple(total: float, size: float) -> bool:
    return abs(total / size - round(total / size)) <= EVEN


def _is_another(last: PassLook, look: PassLook) -> bool:
    """Whether another pass has begun between two looks.

    What remains has grown; or so much was sent that the pass must have
    ended, though it looks no larger now.
    """
    sent = look.processed - last.processed
    return sent > 0 and (
        look.remaining > last.remaining or sent > last.remaining
    )
