# SPDX-License-Identifier: Apache-2.0
"""Regular files: what Kronos reads, and what keeps no reader waiting.

Opening a named pipe waits for whoever writes to it, maybe for ever; a device
may have no end.
"""

import errno
import os
import stat
from typing import BinaryIO

NOT_REGULAR = 'it is not a regular file'


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """The file, to read from it.

    :raises OSError: it cannot be opened, or is not a regular file
    """
    stream = open(path, 'rb', opener=_opener)  # noqa: SIM115 (it is returned)
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, NOT_REGULAR, os.fspath(path))
    return stream


def require(*paths: str) -> None:
    """Make sure that a library can read files that it opens itself.

    :param paths: '' for none
    :raises OSError: one cannot be opened, or is not a regular file
    """
    for path in filter(None, paths):
        opened(path).close()


def fault(path: str) -> str:
    """Why a file cannot be read; '': it can be, or there is no path."""
    try:
        require(path)
    except OSError as error:
        return error.strerror or str(error)
    return ''


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """The beginning of a file.

    :param most: bytes of it
    :raises OSError: it cannot be read, or is not a regular file
    """
    with opened(path) as stream:
        return stream.read(most)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
