# SPDX-License-Identifier: Apache-2.0
"""The workplace of a fetch: what it has so far, each part a whole file.

It is inside of the load's directory until the load is whole. A fetch that was
cut goes on with what is there.
"""

import contextlib
import errno
import fcntl
import io
import json
import os
import pathlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, BinaryIO

import numpy as np
import pydantic

from kronos.common import atomic_files, first_fault
from kronos.common.exceptions import ArchiveError
from kronos.recordings import load as recordings
from kronos.recordings import schema, writer
from kronos.recordings.recording import Recording
from kronos.recordings.safe_files import MAX_ROWS, STRICT, Folder
from kronos.simulate import load_schema
from kronos.simulate.fetch.lives import Life
from kronos.simulate.fetch.ranges import Block

FORMAT_VERSION = 'fetch/1'
FOLDER, PIECES = 'fetch', 'pieces'
PLAN, LIVES, RECORDING = 'plan.json', 'lives.json', 'recording'
PIECE_SECONDS = 6 * 3600
PREFIX = '.kronos-fetch-'
"""Of a file that is being written."""
_BROKEN = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Piece:
    """Some ticks that are fetched and kept together."""

    number: int
    first: int
    ticks: int


@dataclass
class PolicyPlan:
    """What is asked for one policy."""

    name: str
    usage_query: str
    usage_label: str
    host_query: str
    host_label: str
    window: str
    host_window: str
    limits: list[str] = field(default_factory=list)


@dataclass
class Wish:
    """What a user asked for."""

    seconds: float
    step: int
    raw: dict[str, str]
    """Raw queries by policy, instead of those that are derived."""
    policies: str
    """The text of the policies file."""
    anonymize: bool = False


@dataclass
class Plan:
    """The file ``plan.json``: what a fetch is about."""

    __pydantic_config__ = STRICT

    format_version: str
    start: load_schema.Seconds
    """Of tick 0, in Unix seconds."""
    step: Annotated[int, pydantic.Field(ge=1, le=load_schema.LONGEST_STEP)]
    ticks: Annotated[int, pydantic.Field(ge=2, le=load_schema.MOST_TICKS)]
    policies: list[PolicyPlan]
    wish: Wish

    def pieces(self) -> list[Piece]:
        """All of them, the oldest first."""
        most = max(1, PIECE_SECONDS // self.step)
        return [
            Piece(number, first, min(most, self.ticks - first))
            for number, first in enumerate(range(0, self.ticks, most))
        ]

    def moment(self, tick: int) -> float:
        """Unix seconds of a tick."""
        return self.start + tick * self.step


def usage_piece(policy: str, piece: Piece) -> str:
    """The name of what a piece of a policy's usage is kept under."""
    return f'usage-{policy}-{piece.number:05}'


def host_piece(policy: str, piece: Piece) -> str:
    """The same of the hosts' readings."""
    return f'hosts-{policy}-{piece.number:05}'


@dataclass
class PolicyNotes:
    """What is known of a policy once its arrays are written."""

    __pydantic_config__ = STRICT

    limits: list[str]


_PLAN = first_fault.adapter(Plan, most=MAX_ROWS)
_LIVES = schema.adapter(list[Life])
_NOTES = first_fault.adapter(PolicyNotes, most=MAX_ROWS)


class Workplace:
    """The files of one fetch.

    One class, since each file is of use with the others alone.

    :param directory: of the load
    :raises ArchiveError: there is something else
    """

    def __init__(self, directory: str) -> None:
        self.target = pathlib.Path(directory)
        self.path = self.target / FOLDER
        self._folder = Folder(str(self.path))
        if not self.is_begun and not self.is_whole:
            self._require_room()

    @property
    def is_whole(self) -> bool:
        """Whether the load is there."""
        return os.path.lexists(self.target / load_schema.META)

    @property
    def is_there(self) -> bool:
        """Whether any file of a fetch is."""
        return os.path.lexists(self.path)

    @property
    def is_begun(self) -> bool:
        """Whether a fetch can go on."""
        return self._folder.has(PLAN)

    def _require_room(self) -> None:
        """What a fetch left that was cut at its very beginning may go."""
        names = self._names()
        if names is not None and names <= {FOLDER}:
            with self.guarded():
                if not self.path.is_symlink():
                    atomic_files.delete(self.path)
        writer.require_room(str(self.target))

    def _names(self) -> set[str] | None:
        if self.target.is_symlink() or not self.target.is_dir():
            return None
        with self.guarded():
            return set(os.listdir(self.target))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other fetches out of the directory, which is made.

        :raises ArchiveError: one is at work there, or it cannot be made
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with self.guarded():
            self.target.mkdir(mode=writer.DIRECTORY_MODE, exist_ok=True)
            handle = os.open(self.target, flags)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise ArchiveError(
                path=str(self.target),
                reason='another fetch is running there. Wait for its end, or '
                'use a new directory',
            ) from None
        finally:
            os.close(handle)
            # Of a fetch that came to nothing, nothing stays.
            with contextlib.suppress(OSError):
                self.target.rmdir()

    def begin(
        self, plan: Plan, recording: Recording, lives: list[Life]
    ) -> None:
        """Write what the rest needs; the plan last, which makes it begun.

        :raises ArchiveError: it cannot be written
        """
        with self.guarded():
            self.path.mkdir(mode=0o700, exist_ok=True)
            (self.path / PIECES).mkdir(exist_ok=True)
        recordings.write(str(self.path / RECORDING), recording)
        self._write(LIVES, _LIVES.dump_json(lives))
        self._write(PLAN, _PLAN.dump_json(plan, indent=1))

    def tidy(self) -> None:
        """Delete what a killed fetch was writing.

        :raises ArchiveError: it cannot be deleted
        """
        with self.guarded():
            for path in self.path.glob(f'{PREFIX}*'):
                atomic_files.delete(path)

    def plan(self) -> Plan:
        """:raises ArchiveError: it is not as :meth:`begin` wrote it"""
        plan = self._folder.decode(_PLAN, PLAN)
        if plan.format_version != FORMAT_VERSION:
            raise self._folder.fault(
                PLAN,
                f'format_version: must be {FORMAT_VERSION}, is '
                f'{plan.format_version:.20}; fetch into a new directory',
            )
        return plan

    def recording(self) -> Recording:
        """:raises ArchiveError: as of :meth:`plan`"""
        return recordings.read(str(self.path / RECORDING))

    def lives(self) -> list[Life]:
        """:raises ArchiveError: as of :meth:`plan`"""
        lives: list[Life] = self._folder.decode(_LIVES, LIVES)
        return lives

    def write(self, piece: str, block: Block) -> None:
        """:raises ArchiveError: it cannot be written"""
        labels = json.dumps(block.labels).encode()
        file = io.BytesIO()
        np.savez(
            file,
            labels=np.frombuffer(labels, np.uint8),
            values=block.values,
        )
        self._write(_file(piece), file.getvalue())

    def read(self, piece: str, ticks: int) -> Block | None:
        """A piece; None if it is missing, or not whole.

        :param ticks: that it must have
        """
        try:
            with (
                self._folder.opened(_file(piece)) as file,
                np.load(file, allow_pickle=False) as arrays,
            ):
                labels = json.loads(arrays['labels'].tobytes())
                values = arrays['values']
        except (ArchiveError, *_BROKEN):
            return None
        if values.dtype != np.float32 or values.shape != (ticks, len(labels)):
            return None
        return Block(labels, values)

    def notes(self, policy: str) -> PolicyNotes | None:
        """What is known of a policy; None: its arrays are to be written."""
        name = _notes(policy)
        if not self._folder.has(name):
            return None
        return self._folder.decode(_NOTES, name)

    def finish_policy(self, policy: str, notes: PolicyNotes) -> None:
        """Note that a policy's arrays are written; its pieces go.

        :raises ArchiveError: a file cannot be written or deleted
        """
        self._write(_notes(policy), _NOTES.dump_json(notes))
        with self.guarded():
            for path in sorted((self.path / PIECES).iterdir()):
                # The number of a piece is behind the last dash.
                kind_and_policy = path.name.rpartition('-')[0]
                if kind_and_policy in (f'usage-{policy}', f'hosts-{policy}'):
                    atomic_files.delete(path)

    @contextlib.contextmanager
    def published(self, name: str) -> Iterator[BinaryIO]:
        """A file of the load, to be written whole or not at all.

        :raises ArchiveError: it cannot be written
        """
        with (
            self.guarded(),
            atomic_files.opened(
                self.target / name, writer.FILE_MODE, PREFIX, self.path
            ) as file,
        ):
            yield file

    def finish(self) -> None:
        """Remove the workplace of a load that is whole."""
        with self.guarded():
            atomic_files.delete(self.path)

    def _write(self, name: str, data: bytes) -> None:
        """Write a file whole, or not at all."""
        with self.guarded():
            atomic_files.replace(
                self.path / name, data, writer.FILE_MODE, PREFIX, self.path
            )

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Do something to files.

        :raises ArchiveError: that goes wrong
        """
        try:
            yield
        except OSError as error:
            remedy = ''
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                remedy = (
                    '. Free space there, and repeat the command to continue'
                )
            raise ArchiveError(
                path=error.filename or str(self.target),
                reason=f'it cannot be written: {error.strerror}{remedy}',
            ) from error


def _file(piece: str) -> str:
    return f'{PIECES}/{piece}.npz'


def _notes(policy: str) -> str:
    return f'notes-{policy}.json'
