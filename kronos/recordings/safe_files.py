# SPDX-License-Identifier: Apache-2.0
"""The safe reading of a recording's files, whoever wrote them.

Nothing outside its directory is read: no link is followed, and no name that
a file gives becomes part of a path.
"""

import contextlib
import functools
import gzip
import io
import os
import stat
import sys
import zlib
from typing import Any, BinaryIO, TypeVar

import pydantic
import pydantic_core

from kronos.common import first_fault, json_size, plain_files
from kronos.common.exceptions import ArchiveError

T = TypeVar('T')

MAX_BYTES = 128 * 2**20
"""Of one file; that of 100,000 instances has some 70 MiB."""
MAX_ROWS = 200_000
"""Of one file, and entries of any list or mapping in it."""
MAX_TEXT = 64 * 1024
"""Characters of one string; a query has some thousand at most."""
STRICT = pydantic.ConfigDict(
    strict=True, extra='forbid', allow_inf_nan=False, str_max_length=MAX_TEXT
)
"""Nothing is coerced, nothing is passed over."""
TOO_LARGE = (
    f'it is larger than {MAX_BYTES // 2**20} MiB; record fewer aggregates'
)
TOO_MUCH = (
    'it contains too many values, which would need more than '
    f'{json_size.MOST / 2**30:.1f} GiB of memory; record fewer aggregates'
)
FULL_FILES = 3
"""As much as so many full files hold all files of a recording together."""
TOGETHER = (
    'it and the files before it contain more than {limit} together; record '
    'fewer aggregates'
)
STDIN = '-'
"""Names standard input where a single file is asked for."""
FREE_BYTES = 16 * 2**20
"""To which any gzipped file may unpack."""
MAX_RATIO = 200
"""How much larger it may become beyond; real ones grow 20 times."""
ZIPPED = b'\x1f\x8b'


class Folder:
    """The files of one recording.

    :param path: of a directory
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._bytes_read = self._memory = 0
        """Of all files so far."""

    def fault(self, name: str, reason: str) -> ArchiveError:
        return ArchiveError(path=os.path.join(self.path, name), reason=reason)

    def has(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.path, name))

    def names(self, sub: str) -> list[str]:
        """The files in a directory; none if it is missing.

        :raises ArchiveError: it cannot be read
        """
        if not self.has(sub):
            return []
        with contextlib.ExitStack() as stack:
            try:
                return sorted(os.listdir(self._open_directory(sub, stack)))
            except OSError as error:
                raise self._unreadable(sub, error) from error

    def read(self, name: str) -> bytes:
        """The bytes of a file.

        :param name: ``file`` or ``directory/file``, of our own making or
            from :meth:`names`
        :raises ArchiveError: it is missing, no plain file, or too large
        """
        with self.opened(name) as file:
            try:
                # It may grow meanwhile, and the size of some is not told.
                data = file.read(MAX_BYTES + 1)
            except OSError as error:
                raise self._unreadable(name, error) from error
        if len(data) > MAX_BYTES:
            raise self.fault(name, TOO_LARGE)
        self._bytes_read += len(data)
        if self._bytes_read > FULL_FILES * MAX_BYTES:
            limit = f'{FULL_FILES * MAX_BYTES // 2**20} MiB'
            raise self.fault(name, TOGETHER.format(limit=limit))
        return data

    def text(self, name: str) -> str:
        """The same as text.

        :raises ArchiveError: also where it is not UTF-8
        """
        try:
            return self.read(name).decode()
        except UnicodeDecodeError as error:
            raise self.fault(name, 'it is not UTF-8 text') from error

    def decode(self, adapter: pydantic.TypeAdapter[T], name: str) -> T:
        """What a JSON file says.

        :raises ArchiveError: names the field that is wrong
        """
        data = self.read(name)
        memory = json_size.memory_of(data)
        if memory > json_size.MOST:
            raise self.fault(name, TOO_MUCH)
        self._memory += memory
        if self._memory > FULL_FILES * json_size.MOST:
            limit = f'what takes {FULL_FILES * json_size.MOST // 10**9} GB'
            raise self.fault(name, TOGETHER.format(limit=limit))
        try:
            return adapter.validate_json(data)
        except pydantic.ValidationError as error:
            raise self.fault(name, first_fault.sentence(error)) from None

    def opened(self, name: str) -> BinaryIO:
        """A file that is to be read in parts, whatever its size.

        :param name: as of :meth:`read`
        :raises ArchiveError: it is missing, or no plain file
        """
        try:
            return self._opened(name)
        except FileNotFoundError as error:
            raise self.fault(name, 'it is missing') from error
        except OSError as error:
            raise self._unreadable(name, error) from error

    def _opened(self, name: str) -> BinaryIO:
        sub, _, base = name.rpartition('/')
        with contextlib.ExitStack() as stack:
            handle = os.open(
                base,
                os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
                dir_fd=self._open_directory(sub, stack),
            )
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise self.fault(name, plain_files.NO_PLAIN_FILE)
        return open(handle, 'rb')

    def _open_directory(self, sub: str, stack: contextlib.ExitStack) -> int:
        """The directory, or one in it that is no link."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        top = os.open(self.path, flags)
        stack.callback(os.close, top)
        if not sub:
            return top
        inner = os.open(sub, flags | os.O_NOFOLLOW, dir_fd=top)
        stack.callback(os.close, inner)
        return inner

    def _unreadable(self, name: str, error: OSError) -> ArchiveError:
        path = os.path.join(self.path, name)
        if os.path.islink(path):
            return self.fault(name, 'it is a symbolic link; links are refused')
        return self.fault(name, error.strerror or str(error))


def document(path: str) -> Any:
    """What a single JSON file says, gzipped or not.

    :param path: :data:`STDIN` is standard input
    :raises ArchiveError: it cannot be read, is too large or not JSON
    """
    try:
        data = _whole(path)
        if json_size.is_too_much(data):
            raise ArchiveError(path=path, reason=TOO_MUCH)
        return pydantic_core.from_json(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveError(path=path, reason=f'gzip: {error}') from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArchiveError(path=path, reason=reason) from error
    except ValueError as error:
        text = str(error)
        if text.startswith('recursion limit'):
            text = 'it is nested too deeply'
        reason = f'not JSON: {first_fault.clip(text)}'
        raise ArchiveError(path=path, reason=reason) from error


@functools.cache
def standard_input() -> bytes:
    """The bytes of standard input, of which there is one.

    :raises ArchiveError: they are more than MAX_BYTES, or it is closed
    """
    if sys.stdin is None:
        raise ArchiveError(path=STDIN, reason='standard input is closed')
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    return _limited(STDIN, data)


def _limited(path: str, data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise ArchiveError(path=path, reason=TOO_LARGE)
    return data


def _whole(path: str) -> bytes:
    """The bytes of a file, unpacked, never more than MAX_BYTES of them."""
    data = standard_input() if path == STDIN else _plain_bytes(path)
    return _unpacked(path, data) if data.startswith(ZIPPED) else data


def _plain_bytes(path: str) -> bytes:
    with plain_files.opened(path) as file:
        return _limited(path, file.read(MAX_BYTES + 1))


def _unpacked(path: str, data: bytes) -> bytes:
    """The same of a gzipped file, which may not grow beyond all measure."""
    most = min(MAX_BYTES, FREE_BYTES + MAX_RATIO * len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as inner:
        unpacked = inner.read(most + 1)
    if len(unpacked) <= most:
        return unpacked
    if most == MAX_BYTES:
        raise ArchiveError(path=path, reason=TOO_LARGE)
    raise ArchiveError(
        path=path,
        reason=f'gzip: it unpacks to more than {MAX_RATIO} times its size; '
        'unpack it with gunzip if it is yours',
    )
