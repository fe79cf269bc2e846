# SPDX-License-Identifier: Apache-2.0
"""Plain files, opened without waiting.

To open a pipe waits until somebody writes to it: a command or a service
would stand still. What an option or an argument names is opened here.
"""

import errno
import os
import stat
from typing import BinaryIO

NO_PLAIN_FILE = 'it is no plain file'


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A file for reading, in bytes.

    :raises OSError: it cannot be opened, or is a pipe, a socket, a device
        or a directory, as ``strerror`` says
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, NO_PLAIN_FILE) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, NO_PLAIN_FILE)
    return open(handle, 'rb')
