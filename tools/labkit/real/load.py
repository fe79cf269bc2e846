# SPDX-License-Identifier: Apache-2.0
"""The /proc of each real host: only what its own guests use.

Of the machine's own figures every host would have the same, and no cloud
would ever be uneven. Written anew each second for the node exporters, until
it is ended. ``python -m labkit.real.load FOLDER HOLDER_PID ...``
"""

import contextlib
import os
import pathlib
import sys
import time

from labkit.real import topology

HERTZ = os.sysconf('SC_CLK_TCK')
PAGE = os.sysconf('SC_PAGE_SIZE')
PIDS = 'run/libvirt/qemu'
"""Where libvirt writes down which process is which guest's."""
BASE_MEMORY_KB = 64 * 1024
"""Used by the host itself."""


class Host:
    """One host's figures, summed up over the guests that ever ran there.

    :param folder: where they are written
    :param holder: pid of the process that keeps its namespaces
    """

    def __init__(self, folder: pathlib.Path, holder: int) -> None:
        self._folder = folder
        self._pids = pathlib.Path(f'/proc/{holder}/root/{PIDS}')
        self._began = time.monotonic()
        self._used = 0.0
        """Seconds of processors."""
        self._seen: dict[int, float] = {}
        for pid in self._guests():
            # What it used before this began is no load of now.
            with contextlib.suppress(OSError):
                self._seen[pid], _ = _usage(pid)
        folder.mkdir(parents=True, exist_ok=True)

    def write(self) -> None:
        """Look at the guests, and write what has become of them."""
        resident = 0
        seen = {}
        for pid in self._guests():
            try:
                seconds, pages = _usage(pid)
            except OSError:
                continue
            seen[pid] = seconds
            self._used += max(0.0, seconds - self._seen.get(pid, 0.0))
            resident += pages * PAGE // 1024
        self._seen = seen
        self._replace('stat', self._stat())
        self._replace('meminfo', _meminfo(resident))
        share = len(seen)
        self._replace(
            'loadavg', f'{share:.2f} {share:.2f} {share:.2f} 1/1 1\n'
        )

    def _guests(self) -> list[int]:
        found = []
        for file in self._pids.glob('*.pid'):
            # It may have just begun, or ended.
            with contextlib.suppress(OSError, ValueError):
                found.append(int(file.read_text()))
        return found

    def _stat(self) -> str:
        passed = time.monotonic() - self._began
        used = min(self._used, topology.CORES * passed)
        lines = []
        for name, cores in [
            ('cpu', topology.CORES),
            *((f'cpu{number}', 1) for number in range(topology.CORES)),
        ]:
            share = used * cores / topology.CORES
            idle = passed * cores - share
            lines.append(
                f'{name} {share * HERTZ:.0f} 0 0 {idle * HERTZ:.0f} '
                '0 0 0 0 0 0'
            )
        lines += [
            'intr 0',
            'ctxt 0',
            'btime 0',
            'processes 1',
            'procs_running 1',
            'procs_blocked 0',
            'softirq' + ' 0' * 11,
        ]
        return '\n'.join(lines) + '\n'

    def _replace(self, name: str, text: str) -> None:
        new = self._folder / f'{name}.new'
        new.write_text(text)
        new.replace(self._folder / name)


def _usage(pid: int) -> tuple[float, int]:
    """Seconds of processors, and resident pages."""
    text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    fields = text.rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / HERTZ, int(fields[21])


def _meminfo(resident: int) -> str:
    """:param resident: KiB of the guests"""
    total = topology.HOST_MEMORY_MB * 1024
    free = max(0, total - BASE_MEMORY_KB - resident)
    return ''.join(
        f'{name}: {value:>12} kB\n'
        for name, value in (
            ('MemTotal', total),
            ('MemFree', free),
            ('MemAvailable', free),
            ('Buffers', 0),
            ('Cached', 0),
        )
    )


def main() -> None:
    words = sys.argv[1:]
    hosts = [
        Host(pathlib.Path(folder), int(holder))
        for folder, holder in zip(words[::2], words[1::2], strict=True)
    ]
    while True:
        for host in hosts:
            host.write()
        time.sleep(1)


if __name__ == '__main__':
    main()
