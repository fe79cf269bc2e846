# SPDX-License-Identifier: Apache-2.0
"""The passes of a migration over a guest's memory, and whether they converge.

QEMU copies all memory once, then again what was written meanwhile, and so on
until little is left. Bytes sent say nothing of an end in sight: a guest that
writes faster than its memory is copied is sent for ever. What says something
is how much is left when a pass begins.
"""

import collections
from dataclasses import dataclass

MIB = 2**20
LOOKS = 3
"""Passes may be shorter than the time between two looks, which then find any
part of one left. So many looks are taken together before the most that they
saw is held against another pass."""
RECENT = 12
"""Looks from which it is taken how fast memory is sent."""
AGO = 4
"""Passes from which it is taken how fast it is written."""
DOWNTIME = 0.5
"""Seconds of a guest's standstill that Nova grants in the end: its default of
``live_migration_downtime``, to which it comes by steps. What is sent within
them needs no less to be left to come to an end."""


@dataclass(frozen=True)
class Look:
    """What one look at a migration tells of the guest's memory, in bytes."""

    at: float
    """Seconds that only grow."""
    processed: int
    remaining: int


@dataclass
class _Pass:
    """One pass, or several short ones."""

    began: Look
    most: int
    """Bytes that were left, at the look that saw the most."""
    looks: int = 1


class Passes:
    """What the looks at one migration tell of its passes."""

    def __init__(self) -> None:
        self.number = 0
        """Which one is under way, at least; 0: none has been seen."""
        self._recent: collections.deque[Look] = collections.deque(
            maxlen=RECENT
        )
        self._passes: list[_Pass] = []
        """All but the first one, which copies whatever the guest has."""

    def note(self, look: Look) -> None:
        """Take a look into account; what is older than the last is not."""
        last = self._recent[-1] if self._recent else None
        if last is None:
            self.number = 1
        elif look.processed < last.processed:
            return
        elif _is_another(last, look):
            self._begin(look)
        elif self._passes:
            self._go_on(look)
        self._recent.append(look)

    def _begin(self, look: Look) -> None:
        if self.number == 1:
            self._recent.clear()
        self.number += 1
        if not self._passes or self._passes[-1].looks >= LOOKS:
            self._passes.append(_Pass(look, look.remaining))
        else:
            self._go_on(look)

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
        passed = last.at - first.at
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
        return max(0.0, written / (last.began.at - first.began.at))

    @property
    def pause(self) -> float:
        """Seconds that it takes to send what is left, at the worst."""
        most = self._passes[-1].most if self._passes else 0
        last = self._recent[-1].remaining if self._recent else 0
        return self._seconds(max(most, last))

    def _seconds(self, size: int) -> float:
        return size / self.bandwidth if self.bandwidth else float('inf')

    def __str__(self) -> str:
        """Such as "pass 5, 4.1 MiB/s sent, 4.5 MiB/s written"."""
        parts = [f'pass {self.number}']
        if self.bandwidth is not None:
            parts.append(f'{self.bandwidth / MIB:.1f} MiB/s sent')
        if self.dirty_rate is not None:
            parts.append(f'{self.dirty_rate / MIB:.1f} MiB/s written')
        return ', '.join(parts)


def _is_another(last: Look, look: Look) -> bool:
    """Whether another pass has begun between two looks.

    What remains has grown; or so much was sent that the pass must have
    ended, though it looks no larger now.
    """
    sent = look.processed - last.processed
    return sent > 0 and (
        look.remaining > last.remaining or sent > last.remaining
    )
