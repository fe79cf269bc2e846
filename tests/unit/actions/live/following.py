# SPDX-License-Identifier: Apache-2.0
"""The looks of one live migration of a model of QEMU, without waiting."""

import itertools
from collections.abc import Callable

from kronos.actions.core import notifications
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live import parameters, progress
from kronos.clients.nova.progress import Progress
from kronos.clients.nova.rows import MigrationStatus
from tests.fakes.qemu_copy import QemuCopy

BEGAN = 1000.0
"""When it was asked for, and began at once."""
VAIN = 3


def follow(
    copy: QemuCopy,
    poll: float,
    seconds: float,
    first: float = 0.7,
    check: Callable[[progress.MigrationProgress], None] = lambda _: None,
) -> progress.MigrationProgress:
    """What is known of a migration after so many seconds, or at its end.

    It ends as soon as its passes are in vain.

    :param poll: seconds between two looks
    :param first: seconds until the first one
    :param check: called after each
    """
    now = BEGAN
    task = MigrationTask('uuid', 'a', 'b', 'spread')
    result = progress.MigrationProgress(
        parameters.MigrationSettings(task=task),
        notifications.Record(),
        lambda: now,
    )
    last = min(seconds, copy.end)
    for past in itertools.takewhile(
        lambda past: past < last, itertools.count(first, poll)
    ):
        now = BEGAN + past
        figures, written_at = copy.row(past)
        row = Progress(
            **{name[: -len('_bytes')]: v for name, v in figures.items()},
            written_at=written_at,
        )
        status = MigrationStatus('uuid', 'running', 'm', 1, progress=row)
        result.note(status)
        check(result)
        if result.passes.in_vain() >= VAIN:
            break
    return result
