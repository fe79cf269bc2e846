# SPDX-License-Identifier: Apache-2.0
"""Atomic writing of files: nobody ever sees half of one.

Reports and recordings are written and kept by it; nothing else in Kronos puts
a file in the place of another, or deletes old ones.
"""

import contextlib
import datetime
import errno
import os
import pathlib
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

PLAIN_MODE = 0o644
READER_SECONDS = 5.0
"""For which a pipe may have no reader."""
PAUSE_SECONDS = 0.02
_DAY = datetime.timedelta(days=1)


def write(path: str | os.PathLike[str], text: str) -> None:
    """Write what a user asked for, with permissions by the umask.

    What could not be replaced, such as a terminal or ``/dev/stdout``, gets
    the text as it is.

    :raises OSError: it could not be written; what was there still is
    """
    target = pathlib.Path(path)
    if target.exists() and not target.is_file():
        _write_to_device(target, text)
        return
    umask = os.umask(0)
    os.umask(umask)
    replace(target, text, PLAIN_MODE & ~umask)


def _write_to_device(target: pathlib.Path, text: str) -> None:
    """Write to a terminal, or to a pipe that somebody reads."""
    handle = _opened_device(target, time.monotonic() + READER_SECONDS)
    with open(handle, 'w', encoding='utf-8') as stream:
        os.set_blocking(handle, True)
        stream.write(text)


def _opened_device(target: pathlib.Path, deadline: float) -> int:
    """Open it; a pipe needs a reader, which may be about to come.

    :raises OSError: none comes in time
    """
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    while True:
        try:
            return os.open(target, flags)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() >= deadline:
                raise OSError(
                    error.errno, 'no process reads this pipe', str(target)
                ) from None
        time.sleep(PAUSE_SECONDS)


def replace(
    path: str | os.PathLike[str],
    content: str | bytes,
    mode: int,
    prefix: str = '.kronos-',
    beside: str | os.PathLike[str] | None = None,
) -> None:
    """Write a file whole or not at all; it takes the place of another.

    The parameters are those of :func:`opened`.

    :raises OSError: it could not be written; what was there still is
    """
    if isinstance(content, str):
        content = content.encode()
    with opened(path, mode, prefix, beside) as file:
        file.write(content)


@contextlib.contextmanager
def opened(
    path: str | os.PathLike[str],
    mode: int,
    prefix: str = '.kronos-',
    beside: str | os.PathLike[str] | None = None,
) -> Iterator[BinaryIO]:
    """A file to be filled; once it is whole it takes the place of another.

    :param path: a link there is replaced, never followed
    :param mode: its permissions, whatever the umask
    :param prefix: of the file's name until it is whole
    :param beside: the directory that it is in until then; None: the same
    :raises OSError: it could not be written; what was there still is
    """
    target = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(
        prefix=prefix, suffix='.tmp', dir=beside or target.parent
    )
    try:
        with open(handle, 'wb') as file:
            os.fchmod(handle, mode)
            yield file
            # On the disk before its name is: a crash leaves no empty file.
            file.flush()
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def replace_directory(
    path: str | os.PathLike[str],
    files: Mapping[str, str],
    directory_mode: int,
    file_mode: int,
    prefix: str = '.kronos-',
) -> None:
    """Write a directory of text files; it takes the place of another.

    :param files: their texts by ``file`` or ``directory/file``
    :raises OSError: it could not be written; what was there still is
    """
    with directory(path, directory_mode, prefix) as temporary:
        for name, text in files.items():
            file = temporary / name
            file.parent.mkdir(mode=directory_mode, exist_ok=True)
            replace(file, text, file_mode)


@contextlib.contextmanager
def directory(
    path: str | os.PathLike[str], mode: int, prefix: str = '.kronos-'
) -> Iterator[pathlib.Path]:
    """A directory to be filled; once whole it takes the place of another.

    :param mode: its permissions, whatever the umask
    :param prefix: of its name until it is whole
    :raises OSError: it could not be written; what was there still is
    """
    target = pathlib.Path(path).absolute()
    with _aside(target, prefix):
        temporary = pathlib.Path(
            tempfile.mkdtemp(prefix=prefix, dir=target.parent)
        )
        try:
            yield temporary
            temporary.chmod(mode)
            os.rename(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                shutil.rmtree(temporary)
            raise


def delete(path: str | os.PathLike[str]) -> None:
    """Delete a file or a whole directory, if it is there.

    :param path: of a link there only the link goes
    :raises OSError: it cannot be deleted
    """
    target = pathlib.Path(path)
    with contextlib.suppress(FileNotFoundError):
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink()


def move(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Put what is whole in the place of what is there.

    :raises OSError: it cannot be moved
    """
    delete(target)
    os.rename(path, target)


@contextlib.contextmanager
def _aside(target: pathlib.Path, prefix: str) -> Iterator[None]:
    """Put what is there out of the way; it comes back after a failure."""
    if not target.exists() or not any(target.iterdir()):
        yield
        return
    aside = target.with_name(f'{prefix}{uuid.uuid4().hex}')
    os.rename(target, aside)
    try:
        yield
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside)


@dataclass(frozen=True)
class Retention:
    """What of one kind is ours in a directory, and may be deleted there.

    Another process may do the same at the same time.
    """

    own: re.Pattern[str]
    """Matches the names of ours; those whose first groups are equal belong
    together, and these groups sort by age."""
    unfinished: re.Pattern[str]
    """Matches the names of those that are being written."""
    prefix: str = '.kronos-'
    """Of a directory that is being deleted."""
    are_directories: bool = False
    """Whether ours are; else they are files."""

    def drop_old(
        self,
        directory: str | os.PathLike[str],
        count: int,
        now: datetime.datetime,
        oldest: str = '',
    ) -> None:
        """Leave the newest; delete also what a killed process left.

        :param count: so many stay
        :param now: what is unfinished for a day never becomes whole
        :param oldest: a name; what sorts before it goes in any case
        :raises OSError: something cannot be deleted
        """
        top = pathlib.Path(directory)
        own = sorted(
            (match[1], path)
            for path in top.iterdir()
            if (match := self.own.fullmatch(path.name)) and self._is_ours(path)
        )
        ages = sorted({age for age, _ in own})
        old = set(ages[: max(len(ages) - count, 0)])
        for age, path in own:
            if age in old or age < oldest:
                self._drop(path)
        # Younger ones may be those of somebody who is writing just now.
        before = (now - _DAY).timestamp()
        for path in sorted(top.iterdir()):
            if self.unfinished.fullmatch(path.name) and self._is_ours(path):
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime < before:
                        self._delete(path)

    def _is_ours(self, path: pathlib.Path) -> bool:
        return not self.are_directories or (
            path.is_dir() and not path.is_symlink()
        )

    def _drop(self, path: pathlib.Path) -> None:
        """Nobody sees half of a directory, also while it is deleted."""
        # Another process may have been faster.
        with contextlib.suppress(FileNotFoundError):
            if self.are_directories:
                hidden = path.with_name(f'{self.prefix}{uuid.uuid4().hex}')
                path = path.rename(hidden)
            self._delete(path)

    def _delete(self, path: pathlib.Path) -> None:
        if self.are_directories:
            shutil.rmtree(path)
        else:
            path.unlink()
