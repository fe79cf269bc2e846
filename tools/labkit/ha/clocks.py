# SPDX-License-Identifier: Apache-2.0
"""Clocks of services that are not those of the machine.

Standard library only.
"""

import pathlib
from collections.abc import Iterable

from labkit.ha import packages

SLEEP = pathlib.Path(__file__).with_name('skewed')
"""Python imports what is there before anything else."""
SHARED = pathlib.Path('/dev/shm')  # noqa: S108
MEMORY = 'faketime_shm_{}', 'sem.faketime_sem_{}'
"""What libfaketime shares between a process and its children."""
LIBRARY = 'usr/lib/{}/faketime/libfaketimeMT.so.1'


def clean(pids: Iterable[int]) -> None:
    """Remove the memory that killed processes have left.

    :param pids: of services that have ended
    """
    for pid in pids:
        for name in MEMORY:
            (SHARED / name.format(pid)).unlink(missing_ok=True)


def environ(seconds: float) -> dict[str, str]:
    """What has a process see another time of day; its waits stay as they are.

    :param seconds: by which its clock is ahead; behind, if negative
    """
    [library] = (packages.PLACE / 'libfaketime').glob(LIBRARY.format('*'))
    return {
        'LD_PRELOAD': str(library),
        'FAKETIME': f'{seconds:+g}s',
        'DONT_FAKE_MONOTONIC': '1',
        'FAKETIME_DONT_FAKE_MONOTONIC': '1',
        'NO_FAKE_STAT': '1',
        'PYTHONPATH': str(SLEEP),
    }
