# SPDX-License-Identifier: Apache-2.0
"""The processes of the lab: their start and their end.

Each runs in a session of its own whose leader is recorded with its start
time; only members of such sessions are ever signalled. Standard library
only.
"""

import contextlib
import functools
import os
import pathlib
import signal
import subprocess
import time
from dataclasses import dataclass

from labkit import layout


@dataclass
class Record:
    """One started process, as written to the run folder."""

    name: str
    pid: int
    born: str
    """Boot and start time: a recycled pid has another."""


@dataclass
class Stat:
    """What of /proc/PID/stat matters here."""

    state: str
    session: int
    born: str


def stat(pid: int) -> Stat | None:
    """Of a process, or None if there is none."""
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(')')[2].split()
    return Stat(fields[0], int(fields[3]), f'{_boot()}:{fields[19]}')


@functools.cache
def _boot() -> str:
    return pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()


def spawn(
    name: str,
    command: list[str],
    environ: dict[str, str] | None = None,
    cwd: pathlib.Path | None = None,
) -> Record:
    """Start a process detached from this one and record it."""
    log = layout.LOG / f'{name}.log'
    with log.open('ab') as output:
        child = subprocess.Popen(
            command,
            env={**os.environ, **(environ or {})},
            cwd=cwd or layout.RUN,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return write_record(name, child.pid)


def write_record(name: str, pid: int) -> Record:
    seen = stat(pid)
    record = Record(name, pid, seen.born if seen else '')
    layout.write_json(
        layout.RUN / f'{name}.pid', {'pid': pid, 'born': record.born}
    )
    return record


def records() -> dict[str, Record]:
    """All that was started and not yet stopped, by name."""
    found = {}
    for file in sorted(layout.RUN.glob('*.pid')):
        content = layout.read_json(file)
        found[file.stem] = Record(
            file.stem, int(content['pid']), str(content['born'])
        )
    return found


def is_running(record: Record) -> bool:
    """Whether the leader itself still runs."""
    seen = stat(record.pid)
    return (
        seen is not None
        and seen.state not in 'ZX'
        and seen.born == record.born
    )


def members(record: Record) -> list[int]:
    """Pids of the record's session: the leader and what it started.

    The kernel gives a pid to nobody else while a session bears it, so a
    leader with another start time means that all of ours have ended.
    """
    leader = stat(record.pid)
    if leader and leader.born != record.born:
        return []
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            seen = stat(int(entry))
            if seen and seen.session == record.pid and seen.state not in 'ZX':
                found.append(int(entry))
    return found


def stop(wanted: list[Record], patience: float = 20.0) -> None:
    """End processes: ask the leaders, then end what is left of them."""
    for record in wanted:
        if is_running(record):
            _signal([record.pid], signal.SIGTERM)
            resume(record)
    left = _wait(wanted, patience)
    for record in left:
        _signal(members(record), signal.SIGKILL)
    for record in _wait(left, 10.0):
        raise TimeoutError(
            f'{record.name}: {members(record)} did not end when killed'
        )
    for record in wanted:
        (layout.RUN / f'{record.name}.pid').unlink(missing_ok=True)


def kill(record: Record) -> None:
    """End a process the hard way, as a crash would."""
    _signal(members(record), signal.SIGKILL)
    _wait([record], 10.0)
    (layout.RUN / f'{record.name}.pid').unlink(missing_ok=True)


def pause(record: Record) -> None:
    """Let a process do nothing, while the kernel accepts connections."""
    _signal(members(record), signal.SIGSTOP)


def resume(record: Record) -> None:
    """Let a process go on that was paused."""
    _signal(members(record), signal.SIGCONT)


def _wait(wanted: list[Record], seconds: float) -> list[Record]:
    """Those that still run after at most so many seconds."""
    deadline = time.monotonic() + seconds
    left = list(wanted)
    while left and time.monotonic() < deadline:
        left = [one for one in left if members(one)]
        if left:
            time.sleep(0.1)
    for record in wanted:
        _reap(record.pid)
    return left


def _reap(pid: int) -> None:
    """Take note of the end of a child, which would stay a zombie."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def memory_kb(record: Record) -> int:
    """Memory of a session, shared pages counted by share (PSS)."""
    total = 0
    for pid in members(record):
        try:
            text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text()
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith('Pss:'):
                total += int(line.split()[1])
    return total


def rotate_logs() -> None:
    """Keep the logs of the last time apart, and drop those before."""
    for file in layout.LOG.glob('*.log'):
        file.replace(file.with_suffix('.log.1'))


def log_tail(name: str, lines: int = 15) -> list[str]:
    """The last lines of a service's log."""
    file = layout.LOG / f'{name}.log'
    if not file.exists():
        return []
    with file.open('rb') as log:
        log.seek(max(0, file.stat().st_size - 200 * 1024))
        text = log.read().decode(errors='replace')
    return text.splitlines()[-lines:]
