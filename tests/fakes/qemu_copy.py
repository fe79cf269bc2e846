# SPDX-License-Identifier: Apache-2.0
"""A guest's memory that QEMU copies, and what Nova writes down of it.

A model of time: passes over the memory, one after another, at an even speed,
each as large as what the guest wrote during the one before. Nova's monitor
writes figures at an interval, and its database cuts times to whole seconds.
"""

import math
from dataclasses import dataclass, field

DOWNTIME = 0.5
"""Seconds: what can be sent within them is, while the guest stands still."""


@dataclass
class QemuCopy:
    """One migration of a guest.

    :param memory: bytes
    :param speed: bytes per second that are sent
    :param dirty_rate: bytes per second that the guest writes
    :param working_set: bytes that it writes to at most
    :param interval: seconds between two saves of Nova's monitor
    :param clock_offset: of the conductor's clock to ours
    :param dies_at: seconds from which nothing more is sent
    """

    memory: float
    speed: float
    dirty_rate: float = 0.0
    working_set: float = 0.0
    interval: float = 5.0
    clock_offset: float = 0.0
    dies_at: float = math.inf
    _passes: list[tuple[float, float]] = field(default_factory=list)
    """Bytes that were sent before each, and its size."""

    @property
    def pause(self) -> float:
        """Seconds for which such a guest would be paused at the worst."""
        return self.working_set / self.speed

    @property
    def end(self) -> float:
        """Seconds after which it is over; infinite: it never is."""
        size, seconds = self.memory, 0.0
        while True:
            seconds += size / self.speed
            following = self._written_during(size)
            if following / self.speed <= DOWNTIME:
                return seconds if seconds <= self.dies_at else math.inf
            if following >= size:
                return math.inf
            size = following

    def _written_during(self, size: float) -> float:
        written = self.dirty_rate * size / self.speed
        return min(written, self.working_set)

    def remaining(self, sent: float) -> float:
        """Bytes of the pass that is under way after so many."""
        if not self._passes:
            self._passes.append((0.0, self.memory))
        while sum(self._passes[-1]) <= sent:
            before, size = self._passes[-1]
            following = max(self._written_during(size), 1.0)
            self._passes.append((before + size, following))
        for before, size in reversed(self._passes):
            if before <= sent:
                return size - (sent - before)
        raise AssertionError

    def row(self, seconds: float) -> tuple[dict[str, int], float]:
        """What the database says after so many seconds.

        :returns: the figures; when they were written, by its clock
        """
        saves = math.floor(min(seconds, self.dies_at) / self.interval)
        saved = saves * self.interval
        sent = saved * self.speed
        figures = {
            'memory_total_bytes': int(self.memory),
            'memory_processed_bytes': int(sent),
            'memory_remaining_bytes': int(self.remaining(sent)),
            'disk_total_bytes': 0,
            'disk_processed_bytes': 0,
            'disk_remaining_bytes': 0,
        }
        return figures, float(math.floor(saved + self.clock_offset))
