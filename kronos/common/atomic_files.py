# SPDX-License-Identifier: Apache-2.0
"""Atomic writing of files: nobody ever sees half of one."""

import contextlib
import os
import pathlib
import tempfile


def write(path: str | os.PathLike[str], text: str, mode: int = 0o644) -> None:
    """Write a text file whole or not at all; it takes the place of another.

    :param mode: its permissions, less those of the umask
    :raises OSError: it could not be written; what was there still is
    """
    target = pathlib.Path(path)
    if target.exists() and not target.is_file():
        # A terminal, /dev/stdout: nothing that could be replaced.
        target.write_text(text, encoding='utf-8')
        return
    handle, temporary = tempfile.mkstemp(
        prefix='.kronos-', suffix='.tmp', dir=target.parent
    )
    try:
        with open(handle, 'w', encoding='utf-8') as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, mode & ~umask)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
