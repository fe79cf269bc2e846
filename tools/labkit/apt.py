# SPDX-License-Identifier: Apache-2.0
"""Calls of apt beside others that install something, too.

Standard library only.
"""

import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import time

from labkit.telling import BootstrapError, say

LOCKS = (
    pathlib.Path('/var/lib/dpkg/lock-frontend'),
    pathlib.Path('/var/lib/dpkg/lock'),
    pathlib.Path('/var/lib/apt/lists/lock'),
    pathlib.Path('/var/cache/apt/archives/lock'),
)
"""One process has them at a time: that of dpkg while packages are installed,
those of apt while lists and packages are fetched."""
LOCK_SECONDS = 900
"""So long apt may be busy: a fresh Debian upgrades itself."""
LOOK_SECONDS = 1
_FLOCK = '@hhqqi4x'
"""``struct flock``: kind, whence, start, length, process."""
_BUSY = 'Could not get lock'


def command(*arguments: str) -> list[str]:
    """The words of an apt-get that waits while others install something."""
    return [
        'apt-get',
        '-q',
        f'-oDPkg::Lock::Timeout={LOCK_SECONDS}',
        *arguments,
    ]


def run(log: pathlib.Path, *arguments: str, check: bool = True) -> None:
    """Run apt-get, again if another process was quicker to lock something.

    Its own time-out is for dpkg's locks alone.

    :param log: what it prints is appended to it
    :param check: whether a failure is one
    :raises BootstrapError: it failed, or the locks are never free
    """
    end = time.monotonic() + LOCK_SECONDS
    while True:
        wait(end)
        code, text = _logged(command(*arguments), log)
        if not code or _BUSY not in text or time.monotonic() > end:
            break
        time.sleep(LOOK_SECONDS)
    if check and code:
        tail = text.splitlines()[-8:]
        raise BootstrapError(
            f'apt-get {arguments[0]} failed; all of it is in {log}. '
            'The end:\n  ' + '\n  '.join(tail)
        )


def wait(end: float) -> None:
    """Wait until no other process installs, or fetches, packages.

    :param end: of the monotonic clock
    :raises BootstrapError: one still does
    """
    shown = ''
    while holder := _holder():
        if time.monotonic() > end:
            raise BootstrapError(
                f'apt is locked: {holder} has used it for '
                f'{LOCK_SECONDS // 60} min. Wait until it ends, or end it, '
                'and try again'
            )
        if holder != shown:
            say(f'waiting for apt, which {holder} uses ...')
            shown = holder
        time.sleep(LOOK_SECONDS)
    if shown:
        say('apt is free')


def done(words: list[str], folder: pathlib.Path) -> None:
    """Run a command that changes nothing but a folder.

    :raises BootstrapError: it failed
    """
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if ended.returncode:
        tail = (ended.stdout + ended.stderr).strip().splitlines()[-8:]
        raise BootstrapError(
            f'{" ".join(words)} failed:\n  ' + '\n  '.join(tail)
        )


def _logged(words: list[str], log: pathlib.Path) -> tuple[int, str]:
    """Exit status of a command and its output, which the log gets, too."""
    environ = dict(
        os.environ, DEBIAN_FRONTEND='noninteractive', LC_ALL='C.UTF-8'
    )
    with log.open('ab') as output:
        begin = output.tell()
        code = _unbroken(
            subprocess.Popen(
                words,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    return code, log.read_bytes()[begin:].decode(errors='replace')


def _holder() -> str:
    """The process that has locked apt; '' if none has."""
    for path in LOCKS:
        try:
            with path.open('rb') as lock:
                question = struct.pack(
                    _FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0
                )
                answer = fcntl.fcntl(lock, fcntl.F_GETLK, question)
        except OSError:  # it is not there, or not for this user
            continue
        kind, _, _, _, process = struct.unpack(_FLOCK, answer)
        if kind != fcntl.F_UNLCK:
            return f'process {process} ({_program(process)})'
    return ''


def _program(process: int) -> str:
    try:
        return pathlib.Path(f'/proc/{process}/comm').read_text().strip()
    except OSError:  # it has ended, or is of another namespace
        return 'unknown'


def _unbroken(apt: 'subprocess.Popen[bytes]') -> int:
    """Wait for apt-get, also when interrupted: dpkg must end its step."""
    try:
        return apt.wait()
    except KeyboardInterrupt:
        say('interrupted; waiting for apt-get to end its step')
        apt.send_signal(signal.SIGINT)
        apt.wait()
        raise
