# SPDX-License-Identifier: Apache-2.0
"""The loading of a recording, whatever its format."""

import os
from collections.abc import Sequence

from kronos.common import gc_pause
from kronos.common.exceptions import ArchiveError
from kronos.policies.models import Policy
from kronos.recordings import examples, reader, schema
from kronos.recordings.formats import cluster, kronos_openstack
from kronos.recordings.recording import Recording
from kronos.recordings.safe_files import Folder
from kronos.recordings.writer import write

__all__ = ['found_in', 'read', 'write']


@gc_pause.paused()
def read(path: str, policies: Sequence[Policy] | None = None) -> Recording:
    """Read a recording of any format.

    A directory of our own or of kronos-openstack 0.2, or a file of format
    ``cluster/1``.

    :param path: ``examples/NAME`` may be one that comes with Kronos
    :param policies: for a recording of kronos-openstack that comes without
        a policies file; others have their own
    :raises ArchiveError: names the file and the field that is wrong
    :raises PolicyFileError: of its policies file
    """
    path = examples.located(path)
    if not os.path.isdir(path):
        return cluster.recording(path)
    folder = Folder(path)
    if not folder.has(reader.META) and not folder.has('nova'):
        raise ArchiveError(
            path=path, reason='it is not a recording: it has no meta.json'
        )
    if 'format_version' in folder.decode(schema.SECTIONS, reader.META):
        return reader.read(path)
    return kronos_openstack.read(path, policies)


def found_in(paths: Sequence[str]) -> list[str]:
    """The recordings that are meant: a directory may hold many of them.

    :raises ArchiveError: a directory cannot be read
    """
    recordings = []
    for path in map(examples.located, paths):
        inner = _inside(path)
        recordings += inner or [path]
    return recordings


def _inside(path: str) -> list[str]:
    """The recordings in a directory that is none itself."""
    folder = Folder(path)
    if not os.path.isdir(path) or folder.has(reader.META):
        return []
    return [
        os.path.join(path, name)
        for name in folder.names('')
        if not name.startswith('.')
        and folder.has(os.path.join(name, reader.META))
    ]
