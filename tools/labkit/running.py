# SPDX-License-Identifier: Apache-2.0
"""Programs run to their end, and conditions waited for."""

import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import TypeVar

from labkit import layout, process

T = TypeVar('T')
PAUSE_SHARE = 0.1
"""A pause is this part of the time waited."""
LONGEST_PAUSE = 1.0
"""Seconds, unless the first one is longer."""


class LabError(Exception):
    """The lab cannot do what was asked; the text says why."""


class ServiceFailed(LabError):
    """A service did not come up; the end of its log is in the text."""

    def __init__(self, name: str, what: str) -> None:
        tail = '\n  '.join(process.log_tail(name))
        super().__init__(
            f'{name} {what}; its log is {layout.LOG}/{name}.log, '
            f'the end of it:\n  {tail}'
        )
        self.name = name


def run(name: str, command: list[str], **environ: str) -> str:
    """Run a program of a service; its output is appended to NAME.log.

    :returns: what it printed
    """
    done = subprocess.run(
        command,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    with (layout.LOG / f'{name}.log').open('a') as log:
        log.write(done.stdout + done.stderr)
    if done.returncode:
        words = ' '.join(command[:4])
        raise ServiceFailed(name, f'failed ({words})')
    return done.stdout


def program(name: str, *places: str) -> str:
    """Path of a program from Debian.

    :param places: where it is, if not among those that a shell finds
    :raises LabError: it is not installed
    """
    path = shutil.which(name) or next(
        (place for place in places if shutil.which(place)), None
    )
    if path is None:
        raise LabError(f'{name} is not installed')
    return path


def wait_for(
    predicate: Callable[[], T],
    timeout: float,
    what: str,
    interval: float = 0.2,
) -> T:
    """Wait until a condition holds, and give what it gave.

    To look costs the services under test more than to wait: the longer it
    takes, the longer are the pauses.

    :param predicate: called until it gives something true
    :param timeout: seconds
    :param what: what is waited for, for the error
    :param interval: seconds between the first two looks
    :raises LabError: it did not come true in time
    """
    begin = time.monotonic()
    deadline = begin + timeout
    while True:
        result = predicate()
        if result:
            return result
        if time.monotonic() > deadline:
            raise LabError(
                f'waited {timeout:g} s in vain for {what}; last: {result!r}'
            )
        grown = (time.monotonic() - begin) * PAUSE_SHARE
        time.sleep(max(interval, min(grown, LONGEST_PAUSE)))


def answers(port: int, path: str = '/', address: str = '127.0.0.1') -> bool:
    """Whether an HTTP server answers, whatever it says."""
    try:
        with urllib.request.urlopen(
            f'http://{address}:{port}{path}', timeout=5
        ):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
