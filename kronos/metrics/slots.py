# SPDX-License-Identifier: Apache-2.0
"""The slots: numbers of the processes of a service that write on one host.

A slot is the lowest number whose lock file can be locked, so that the labels
stay bounded. The kernel frees it with the process, however that ends, and its
successor has the same number and file.
"""

import contextlib
import errno
import fcntl
import os
import pathlib

MOST = 256
"""Processes of one service on a host."""


class Slot:
    """A number that this process has until it closes it, or ends.

    :raises OSError: the directory is no good, or has no free number
    """

    def __init__(self, directory: pathlib.Path, service: str) -> None:
        self._pid = os.getpid()
        self.number, self._descriptor = _claim(directory, service)

    @property
    def is_own(self) -> bool:
        """Whether this process claimed it: a child inherits it, no more."""
        return self._pid == os.getpid()

    def close(self) -> None:
        """Give it up.

        In a child too, at once: the lock of its parent is on the same open
        file, and would outlive the parent.
        """
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def lock_file(directory: pathlib.Path, service: str, number: int) -> str:
    """The path of the lock of a slot."""
    return str(directory / f'kronos-{service}-{number}.lock')


def is_free(directory: pathlib.Path, service: str, number: int) -> bool:
    """Whether no process has the slot now.

    :raises OSError: its lock cannot be opened
    """
    descriptor = _locked(lock_file(directory, service, number))
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


def _claim(directory: pathlib.Path, service: str) -> tuple[int, int]:
    for number in range(MOST):
        descriptor = _locked(lock_file(directory, service, number))
        if descriptor is not None:
            return number, descriptor
    raise OSError(errno.EAGAIN, f'all of {MOST} slots are taken')


def _locked(path: str) -> int | None:
    """The descriptor of a file that is locked now; None: another has it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    # Others may have put a pipe or a terminal there.
    flags |= os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
