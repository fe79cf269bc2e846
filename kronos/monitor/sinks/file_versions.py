# SPDX-License-Identifier: Apache-2.0
"""The versions of files: they differ when a file was changed."""

import os

FileVersions = tuple[tuple[int, int, int] | None, ...]


def of(*paths: str) -> FileVersions:
    """The versions of files as they are now, also if another took the place.

    :param paths: '' for none
    """
    versions: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            versions.append(None)
        else:
            versions.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(versions)
