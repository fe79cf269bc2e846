# SPDX-License-Identifier: Apache-2.0
"""Plain files, opened without waiting.

Opening a named pipe waits for whoever writes to it, maybe for ever; a device
may have no end. What an option or an argument names is opened here.
"""

import errno
import os
import stat
from typing import BinaryIO

NO_PLAIN_FILE = 'it is no plain file'
Versions = tuple[tuple[int, int, int] | None, ...]


def opened(
    path: str | os.PathLike[str], follow_links: bool = True
) -> BinaryIO:
    """A file for reading, in bytes.

    :param follow_links: False if others may write to its directory
    :raises OSError: it cannot be opened, or is a pipe, a socket, a device,
        a directory or such a link, as ``strerror`` says
    """
    name = os.fspath(path)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    if not follow_links:
        flags |= os.O_NOFOLLOW
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, NO_PLAIN_FILE, name) from None
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        is_directory = stat.S_ISDIR(mode)
        code = errno.EISDIR if is_directory else errno.EINVAL
        reason = os.strerror(code) if is_directory else NO_PLAIN_FILE
        raise OSError(code, reason, name)
    return open(handle, 'rb')


def require(*paths: str) -> None:
    """Make sure that a library can read files that it opens itself.

    :param paths: '' for none
    :raises OSError: as of :func:`opened`
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


def read(
    path: str | os.PathLike[str], most: int, follow_links: bool = True
) -> bytes:
    """The beginning of a file.

    :param most: bytes of it
    :param follow_links: as of :func:`opened`
    :raises OSError: as of :func:`opened`
    """
    with opened(path, follow_links) as stream:
        return stream.read(most)


def versions(*paths: str) -> Versions:
    """What differs when a file was changed, or another took its place.

    :param paths: '' for none
    """
    result: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            result.append(None)
        else:
            result.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(result)
