# SPDX-License-Identifier: Apache-2.0
"""A load: what every server of a cloud used, and where it was, over days.

Its directory holds ``meta.json``, a recording, and arrays, which are mapped
into memory: a tick of 20,000 servers is 80 kB in one piece. It is read whole
or not at all, and no link in it is followed.
"""

import os
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from kronos.common import atomic_files
from kronos.common.exceptions import ArchiveError
from kronos.common.shell_commands import ShellCommand
from kronos.recordings import reader, writer
from kronos.recordings.recording import Recording
from kronos.recordings.safe_files import Folder
from kronos.simulate import load_schema
from kronos.simulate.load_schema import Meta

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int32]

PORTION = 2**22
"""Values that are looked at in one go."""
MOST_VALUES = 2**32
"""Of one array: 16 GiB of a file that is mapped, not read."""
LARGEST = 1e18
"""Of a usage and of a capacity; sums of it are exact enough."""


@dataclass
class Load:
    """What happened in a cloud, tick by tick."""

    meta: Meta
    recording: Recording
    placement: Places
    """By tick and server the index of its host; -1: it does not exist."""
    usage: dict[str, Floats]
    """By policy, by tick and server, in the unit of its profile query; NaN:
    nobody knows."""
    remainder: dict[str, Floats]
    """By policy, by tick and host: what of its load is of no server."""
    capacity: dict[str, Floats]
    """By policy, by host; NaN: the host has no reading."""

    @property
    def ticks(self) -> int:
        return self.meta.ticks

    @property
    def days(self) -> float:
        return self.meta.ticks * self.meta.step / 86400.0


def read(path: str) -> Load:
    """Read a load; its arrays stay on the disk.

    :raises ArchiveError: names the file that is wrong, and why
    :raises PolicyFileError: of the recording's policies file
    """
    folder = Folder(path)
    if fault := _no_load(folder):
        raise ArchiveError(path=path, reason=fault)
    meta = folder.decode(load_schema.META_FILE, load_schema.META)
    if fault := load_schema.fault_of(meta):
        raise folder.fault(load_schema.META, fault)
    inner = os.path.join(path, load_schema.RECORDING)
    if os.path.islink(inner):
        raise folder.fault(
            load_schema.RECORDING, 'it is a symbolic link; links are refused'
        )
    recording = reader.read(inner)
    names = {policy.name for policy in recording.policies}
    for name in meta.policies:
        if name not in names:  # it becomes part of a path
            raise folder.fault(
                load_schema.META,
                f'policies: the recording has no policy {name:.80}',
            )
    return _with_arrays(folder, meta, recording)


def _no_load(folder: Folder) -> str:
    """What it is instead, and how to get a load; '': it may be one."""
    if not os.path.isdir(folder.path):
        return 'there is no such directory; name one that --fetch wrote'
    if not folder.has(load_schema.META):
        return (
            'it is not a load: it has no meta.json; name a directory that '
            '--fetch wrote, or repeat a fetch that was interrupted'
        )
    if folder.has(reader.HOSTS):
        return (
            'it is a recording of one moment, not a load of days; plan it '
            f'with {ShellCommand.REPLAY}, or fetch a load with --fetch'
        )
    return ''


def _with_arrays(folder: Folder, meta: Meta, recording: Recording) -> Load:
    servers, hosts = len(meta.instances), len(meta.hosts)
    placement: Places = _array(
        folder, load_schema.PLACEMENT, np.int32, (meta.ticks, servers)
    )
    for part in _portions(placement):
        if part.min(initial=-1) < -1 or part.max(initial=-1) >= hosts:
            raise folder.fault(
                load_schema.PLACEMENT,
                f'a place is not within -1 and {hosts - 1}',
            )
    load = Load(meta, recording, placement, {}, {}, {})
    for name in meta.policies:
        load.usage[name] = _numbers(
            folder, load_schema.usage_file(name), (meta.ticks, servers), 0.0
        )
        load.remainder[name] = _numbers(
            folder,
            load_schema.remainder_file(name),
            (meta.ticks, hosts),
            -LARGEST,
        )
        load.capacity[name] = _numbers(
            folder, load_schema.capacity_file(name), (hosts,), 1e-9
        )
    return load


def _numbers(
    folder: Folder, name: str, shape: tuple[int, ...], least: float
) -> Floats:
    """:raises ArchiveError: one is out of bounds"""
    array: Floats = _array(folder, name, np.float32, shape)
    for part in _portions(array):
        is_right = np.isnan(part) | ((part >= least) & (part <= LARGEST))
        if not is_right.all():
            raise folder.fault(
                name,
                f'a value is neither NaN nor within {least:g} and {LARGEST:g}',
            )
    return array


def _array(
    folder: Folder, name: str, kind: type[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """An array of exactly this kind and shape, mapped into memory.

    :raises ArchiveError: it is none, or larger than may be
    """
    if np.prod(shape, dtype=np.float64) > MOST_VALUES:
        raise folder.fault(
            name,
            f'it contains more than {MOST_VALUES} values; fetch less time',
        )
    with folder.opened(name) as file:
        try:
            header = _header(file)
        except (ValueError, TypeError, SyntaxError, EOFError) as error:
            raise folder.fault(
                name, f'it is not an array of NumPy: {error!s:.120}'
            ) from None
        expected = (shape, False, np.dtype(kind).newbyteorder('<'))
        if header != expected:
            raise folder.fault(
                name,
                f'it is an array {header[0]} of {header[2].str:.20}, must be '
                f'{shape} of {expected[2].str}, by rows',
            )
        begin = file.tell()
        size = int(np.prod(shape)) * expected[2].itemsize
        if os.fstat(file.fileno()).st_size != begin + size:
            raise folder.fault(name, 'it is cut off, or too long')
        if not size:
            return np.zeros(shape, kind)
        # A plain array over the map: a memmap's own slices are slow.
        return np.memmap(file, kind, 'r', begin, shape).view(np.ndarray)


def _header(file: BinaryIO) -> tuple[Any, bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f'version {version} of the format')
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(file)
    if kind.hasobject:
        raise ValueError('objects')
    return shape, by_columns, kind


def _portions(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    flat = array.reshape(-1)
    for begin in range(0, flat.size, PORTION):
        yield flat[begin : begin + PORTION]


def write(directory: str, load: Load) -> None:
    """Write a load beside its place and move it there.

    :param directory: is made, or empty
    :raises ArchiveError: it holds something, or cannot be written
    """
    writer.require_room(directory)
    try:
        with atomic_files.directory(
            directory, writer.DIRECTORY_MODE, '.kronos-load-'
        ) as temporary:
            fill(temporary, load)
    except OSError as error:
        raise ArchiveError(
            path=error.filename or directory,
            reason=f'it cannot be written: {error.strerror}',
        ) from error


def fill(directory: pathlib.Path, load: Load) -> None:
    """Write all files of a load into a directory that lacks them.

    :raises OSError: one cannot be written
    """
    writer.write(str(directory / load_schema.RECORDING), load.recording)
    for name, array in arrays(load).items():
        save(directory / name, array)
    text = load_schema.META_FILE.dump_json(load.meta, indent=1)
    path = directory / load_schema.META
    atomic_files.replace(path, text + b'\n', writer.FILE_MODE)


def arrays(load: Load) -> Mapping[str, npt.NDArray[Any]]:
    """Its arrays by the names of their files."""
    files: dict[str, npt.NDArray[Any]] = {
        load_schema.PLACEMENT: load.placement
    }
    for name in load.meta.policies:
        files[load_schema.usage_file(name)] = load.usage[name]
        files[load_schema.remainder_file(name)] = load.remainder[name]
        files[load_schema.capacity_file(name)] = load.capacity[name]
    return files


def save(path: pathlib.Path, array: npt.NDArray[Any]) -> None:
    """Write one array as :func:`read` expects it.

    :raises OSError: it cannot be written
    """
    kind = np.int32 if path.name == load_schema.PLACEMENT else np.float32
    with atomic_files.opened(path, writer.FILE_MODE) as file:
        np.lib.format.write_array(
            file, np.ascontiguousarray(array, kind), (1, 0), False
        )
