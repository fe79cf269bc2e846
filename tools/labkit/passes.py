# SPDX-License-Identifier: Apache-2.0
"""The copy of a guest in a migration: its disks, then its memory.

The memory is copied in passes: all of it, then again what the guest wrote
during the pass before. Standard library only.
"""

from dataclasses import dataclass

WORKING_SET = 0.25
"""Share of its memory that a guest writes to, at most."""
LEAST = 0.01
"""Share of the memory that is copied while the guest stands still."""


@dataclass
class Copy:
    """The bytes of one migration.

    :param writes: how fast the guest writes to its memory, in shares of the
        speed at which it is copied; from 1 on it has no end
    """

    memory: int
    disk: int
    writes: float

    def passes(self, upto: int) -> list[int]:
        """Sizes of the passes over the memory.

        :param upto: bytes of which the last pass reaches beyond that many,
            unless the copy has an end before
        """
        found = [self.memory]
        sent = self.memory
        while sent <= upto or self.writes < 1:
            size = int(min(found[-1] * self.writes, self.memory * WORKING_SET))
            if size <= self.memory * LEAST:
                break
            found.append(size)
            sent += size
        return found

    @property
    def total(self) -> int:
        """Bytes to its end; of one without an end, those of two passes."""
        return self.disk + sum(self.passes(self.memory))

    def figures(self, sent: int, rest: int | None = None) -> dict[str, int]:
        """What libvirt tells after so many bytes.

        :param rest: bytes that were left when the guest was paused
        """
        disk = min(sent, self.disk)
        told = {
            'disk_total': self.disk,
            'disk_processed': disk,
            'disk_remaining': self.disk - disk,
            'memory_total': 0,
            'memory_processed': 0,
            'memory_remaining': 0,
        }
        if disk < self.disk:
            return told
        told['memory_total'] = self.memory
        told['memory_processed'] = into = sent - disk
        if rest is not None:
            told['memory_remaining'] = max(0, rest)
            return told
        for size in self.passes(into):
            if into < size:
                told['memory_remaining'] = size - into
                break
            into -= size
        return told
