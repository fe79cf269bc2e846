# SPDX-License-Identifier: Apache-2.0
"""The size of a migration: how much there is to be sent at least.

It bounds the time that a migration may take.
"""

from kronos.clients.nova.progress import Progress
from kronos.engine import types

GIB = 2**30
MIB_PER_GIB = 1024


class Size:
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
