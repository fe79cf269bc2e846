# SPDX-License-Identifier: Apache-2.0
"""The processes that came of a run, and their end, which none outlives.

A test may start services in sessions of their own, whose parents are gone
before they are. All inherit a mark in the environment; who drops that is found
by its parents. Standard library only.
"""

import os
import pathlib
import signal
import time
import uuid
from collections.abc import MutableMapping

from labkit import process

MARK = 'KRONOS_RUN'
"""A variable of the environment: the marks of the run, and of those around."""
PATIENCE = 15.0
"""Seconds in which they may end by themselves."""
KILL_SECONDS = 10.0
LOOK_SECONDS = 0.1
STACK_SECONDS = 2.0
Born = dict[int, str]
"""Pids, each with when it started: a recycled one has another."""


class Run:
    """What is started with an environment, and all that comes of it.

    :param environment: gets the mark; by default that of this process, whose
        children count then, whatever their environment
    """

    def __init__(
        self, environment: MutableMapping[str, str] | None = None
    ) -> None:
        self._mark = uuid.uuid4().hex
        self._roots = {os.getpid()} if environment is None else set()
        marked = os.environ if environment is None else environment
        marked[MARK] = f'{marked.get(MARK, "")} {self._mark}'.lstrip()

    def processes(self) -> Born:
        """Those that run, without this one."""
        parents: dict[int, int] = {}
        found: Born = {}
        for entry in os.listdir('/proc'):
            pid = int(entry) if entry.isdigit() else os.getpid()
            seen = process.stat(pid)
            if pid == os.getpid() or seen is None or seen.state in 'ZX':
                continue
            parents[pid] = _parent(pid)
            if self._mark.encode() in _environment(pid):
                found[pid] = seen.born
        known = {*self._roots, *found}
        while more := {
            pid
            for pid, parent in parents.items()
            if parent in known and pid not in known
        }:
            known |= more
            for pid in more:
                if seen := process.stat(pid):
                    found[pid] = seen.born
        return found

    def stacks(self) -> list[str]:
        """A line for each: pid and command.

        Those of tests write the stacks of their threads to standard error,
        see ``tests/__init__.py``.
        """
        lines = []
        for pid in sorted(self.processes()):
            words = _words(pid)
            lines.append(f'{pid} {words}')
            if 'python' in words.partition(' ')[0]:
                _send(pid, signal.SIGUSR1)
        time.sleep(STACK_SECONDS)
        return lines

    def end(self, patience: float = PATIENCE) -> list[int]:
        """End them all: ask first, then end what is left.

        :returns: those that cannot be ended
        """
        seen: Born = {}
        self._signal(seen, signal.SIGTERM, patience)
        return self._signal(seen, signal.SIGKILL, KILL_SECONDS)

    def _signal(self, seen: Born, number: int, seconds: float) -> list[int]:
        """Send a signal to each once, also to those that come meanwhile.

        :param seen: all that there were; who lost its parent is still ours
        :returns: those that run after so many seconds
        """
        deadline = time.monotonic() + seconds
        sent: Born = {}
        while True:
            seen |= self.processes()
            left = {pid: born for pid, born in seen.items() if _is(pid, born)}
            if not left or time.monotonic() > deadline:
                return sorted(left)
            for pid, born in left.items():
                if sent.get(pid) != born and not _is_of_apt(pid):
                    _send(pid, number)
                    _send(pid, signal.SIGCONT)
            sent |= left
            time.sleep(LOOK_SECONDS)


def _is(pid: int, born: str) -> bool:
    seen = process.stat(pid)
    return seen is not None and seen.state not in 'ZX' and seen.born == born


def _is_of_apt(pid: int) -> bool:
    """Whether dpkg must end its step: :mod:`labkit.apt` shields it."""
    seen = process.stat(pid)
    if seen is None:
        return False
    try:
        leader = pathlib.Path(f'/proc/{seen.session}/comm').read_text()
    except OSError:
        return False
    return leader.strip() == 'apt-get'


def _parent(pid: int) -> int:
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return 0
    return int(text.rpartition(')')[2].split()[1])


def _words(pid: int) -> str:
    try:
        words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes()
    except OSError:
        return ''
    return words.replace(b'\0', b' ').decode(errors='replace').strip()


def _environment(pid: int) -> bytes:
    try:
        return pathlib.Path(f'/proc/{pid}/environ').read_bytes()
    except OSError:  # it has ended, or is of another user
        return b''


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return
