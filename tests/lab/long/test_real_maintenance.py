# SPDX-License-Identifier: Apache-2.0
"""Four hosts with real guests are maintained one after the other."""

import time
from typing import ClassVar

from tests.lab import maintained, real

from labkit.real import topology  # isort: skip

PER_HOST = 2
MOST_STILL = 10.0
"""Seconds for which a guest may stand still: it shares its processor."""
DONE = (
    'label_replace(process_start_time_seconds{{instance=~"r[a-d]:9100"}} > '
    '{begin:.0f}, "host", "$1", "instance", "(.+):.+")'
)
"""A host is done if its exporter has been started since."""


class TestReal(real.RealTestCase, maintained.MaintainedTestCase):
    number: ClassVar = len(topology.NAMES)
    rack: ClassVar = topology.NAMES
    aggregate: ClassVar = topology.AGGREGATE
    limit: ClassVar = 1200

    def setUp(self) -> None:
        super().setUp()
        # With what QEMU takes beside its guests, they fill so small a host.
        self.change('memory', capacity_threshold=0.95)
        self.configure_query(DONE.format(begin=time.time()))

    def make_rack(self) -> None:
        """The lab has made it."""

    def restore(self) -> None:
        """They run as before."""

    def test_guests_answer_throughout(self) -> None:
        names = [f'{h}-{n}' for h in self.rack for n in range(PER_HOST)]
        self.boot_guests({name: name[:2] for name in names})
        self.begin()
        self.to_end()
        self.check_end()
        self.check_moves(len(names) + PER_HOST, PER_HOST)
        self.assert_alive(*names)
        for name in names:
            still = self.standstill(name)
            self.tell(f'{name} stood still', still)
            self.assertLess(still, MOST_STILL, name)

    def is_done(self, host: str) -> bool:
        return self.rebooted[host] > 0

    def reboot(self, *hosts: str) -> None:
        """Stop all that runs on hosts without guests, and start it again."""
        for host in hosts:
            names = self.services_of(host)
            for name in names:
                self.lab.stop(name)
            for name in names[::-1]:
                self.lab.start(name)
        self.rebooted.update(hosts)

    def services_of(self, name: str) -> list[str]:
        host = self.hosts[name]
        return [*host.exporters, host.compute, host.libvirtd]

    def check_versions(self) -> None:
        """QEMU is as it was."""
