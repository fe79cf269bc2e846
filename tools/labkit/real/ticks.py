# SPDX-License-Identifier: Apache-2.0
"""The time that a real guest stands still. Its lines come once a second.

What a console prints is written to a file at once, on the host where its
guest is; the file is read again and again while the guest moves.
"""

import pathlib
import re
import threading
import time
from dataclasses import dataclass

from labkit.real.topology import RealHost

TICK = re.compile(rb'tick (\d+)\.(\d+)\r?\n')
EVERY = 0.02
"""Seconds between two looks: so exact is what is measured."""


@dataclass(frozen=True)
class Tick:
    at: float
    """Seconds of this machine, as they only grow."""
    uptime: float
    """Seconds of the guest."""
    host: str


class Ticks:
    """Listens to one guest, wherever it is, until it is told to end.

    :param hosts: on which it may be
    :param uuid: of its server
    """

    def __init__(self, hosts: list[RealHost], uuid: str) -> None:
        self._files = {
            host.name: host.folder / 'instances' / uuid / 'console.log'
            for host in hosts
        }
        self._at = {name: _size(file) for name, file in self._files.items()}
        self._over = threading.Event()
        self.heard: list[Tick] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def end(self) -> list[Tick]:
        """All that was heard."""
        self._over.set()
        self._thread.join()
        return self.heard

    def _listen(self) -> None:
        while not self._over.wait(EVERY):
            for name in self._files:
                self._read(name)

    def _read(self, name: str) -> None:
        file, begin = self._files[name], self._at[name]
        size = _size(file)
        if size < begin:  # it was begun anew
            begin = 0
        if size == begin:
            return
        try:
            with file.open('rb') as opened:
                opened.seek(begin)
                text = opened.read()
        except OSError:
            return
        whole = text[: text.rfind(b'\n') + 1]
        self._at[name] = begin + len(whole)
        now = time.monotonic()
        for found in TICK.finditer(whole):
            uptime = float(b'.'.join(found.groups()))
            self.heard.append(Tick(now, uptime, name))


def _size(file: pathlib.Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def standstills(heard: list[Tick]) -> list[float]:
    """Seconds for which a guest was not heard at each move, besides its rest.

    Between the last line at one host and the first at the other, less what
    has passed for the guest itself.
    """
    return [
        after.at - before.at - (after.uptime - before.uptime)
        for before, after in zip(heard, heard[1:], strict=False)
        if before.host != after.host
    ]


def standstill(heard: list[Tick]) -> float:
    """The longest of them; 0 if it did not move."""
    return max([0.0, *standstills(heard)])


def gap(heard: list[Tick]) -> float:
    """The longest time between two lines, in seconds of this machine."""
    return max(
        (b.at - a.at for a, b in zip(heard, heard[1:], strict=False)),
        default=float('inf'),
    )
