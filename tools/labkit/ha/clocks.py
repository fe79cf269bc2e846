# SPDX-License-Identifier: Apache-2.0
"""Clocks of services that are not those of the machine.

Standard library only.
"""

from labkit.ha import packages

LIBRARY = 'usr/lib/{}/faketime/libfaketimeMT.so.1'


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
    }
