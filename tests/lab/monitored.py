# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios share whose hosts have instance monitors?"""

import os
import signal
import time
from collections.abc import Mapping
from typing import ClassVar

import _bootstrap
from labkit.real import hosts, monitors

from tests.lab import base, real


class MonitoredTestCase(real.RealTestCase):
    """Real hosts whose guests are watched.

    Skipped where they cannot be had.
    """

    monitored = True
    masakari: ClassVar[bool] = False

    def setUp(self) -> None:
        super().setUp()
        if self.masakari:
            _bootstrap.ensure(packages=False, masakari=True)
        base.lab().up(monitor=True, masakari=self.masakari)
        self.addCleanup(self.watch, None)

    def watch(
        self, sinks: Mapping[str, monitors.Options] | None, **more: str
    ) -> None:
        """Let the monitors tell others.

        :param sinks: as of :func:`monitors.write`
        :param more: their options
        """
        for host in self.hosts.values():
            self.lab.stop(host.monitor)
            monitors.write(host, sinks, more)
            self.lab.start(host.monitor)

    def emulator(self, name: str) -> int:
        """The process of a server's guest; 0 if there is none."""
        domain = self.domain(name)
        found = [
            hosts.guests(host).get(domain, 0) for host in self.hosts.values()
        ]
        return max(found)

    def kill(self, name: str) -> float:
        """Kill a server's guest; when, in Unix seconds."""
        pid = self.emulator(name)
        self.assertTrue(pid, f'{name} has a guest')
        os.kill(pid, signal.SIGKILL)
        return time.time()

    def anew(self, name: str, before: int) -> bool:
        """Whether a server is ACTIVE with another guest than before."""
        server = self.server(name)
        if (server['status'], server['OS-EXT-STS:task_state']) != (
            'ACTIVE',
            None,
        ):
            return False
        return self.emulator(name) not in (0, before)
