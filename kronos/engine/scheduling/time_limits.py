# SPDX-License-Identifier: Apache-2.0
"""The time limits of migrations: which of a plan are expected to pass theirs.

The action aborts a migration that is under way for too long; a result of
planning warns of those that would be.
"""

from collections.abc import Iterable

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationStep

MIB_PER_GIB = 1024


def limit(copied_mb: int, settings: Settings) -> float:
    """Seconds after which a migration is aborted.

    :param copied_mb: of memory and of local disks that are copied
    """
    by_size = settings.migration_timeout_per_gib * copied_mb / MIB_PER_GIB
    return max(settings.migration_timeout_seconds, by_size)


def warnings(
    steps: Iterable[MigrationStep], bandwidth: float, settings: Settings
) -> list[str]:
    """Who is not expected to arrive in time; a text or none.

    :param bandwidth: MiB per second by which the steps' times are expected
    """
    late = [
        f'{wording.named(step.instance_name, step.instance)} '
        f'({step.copied_mb / MIB_PER_GIB:.0f} GiB, '
        f'{durations.beside(step.seconds, most)} of '
        f'{durations.beside(most, step.seconds)})'
        for step in steps
        if (most := limit(step.copied_mb, settings)) < step.seconds
    ]
    if not late:
        return []
    return [
        f'{wording.counted(len(late), "migration")} would be aborted before '
        f'the end, at {bandwidth:.0f} MiB/s: {wording.some(late)}. Raise '
        'migration_timeout_per_gib, or pin these servers (kronos:pin)'
    ]
