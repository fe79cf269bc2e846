# SPDX-License-Identifier: Apache-2.0
"""Do servers boot where Nova's scheduler would put them?"""

from oslotest import base

from kronos.simulate.audits import Auditor
from kronos.simulate.boots import Boots, Scheduler
from kronos.simulate.cloud import Cloud
from kronos.simulate.meter import Meter
from tests.builders import loads, simulations

NOW = loads.START


class TestScheduler(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        # The first host has few servers, which are busy.
        self.load = loads.load(
            [[6.0, 0.5, 0.5, 1.0, 1.0, 1.0]] * 2,
            [0, 1, 1, 2, 2, 2],
            [8.0, 8.0, 8.0],
        )
        self.cloud = Cloud(self.load)
        for server, host in enumerate([0, 1, 1]):
            self.cloud.boot(server, host)
        meter = Meter(self.load, self.cloud)
        meter.measure(0)
        self.auditor = Auditor(
            simulations.audit(self.load),
            self.load.recording,
            self.cloud,
            meter,
        )

    def scheduler(self, boots: Boots) -> Scheduler:
        return Scheduler(boots, self.cloud, self.auditor, 0.0)

    def boot(self, scheduler: Scheduler, *servers: int) -> list[int]:
        hosts = []
        for server in servers:
            host = scheduler.host_of(server, 1, 1, NOW)
            self.cloud.boot(server, host)
            hosts.append(host)
        return hosts

    def test_as_they_went(self) -> None:
        scheduler = self.scheduler(Boots())
        self.assertEqual([1, 1], self.boot(scheduler, 3, 4))
        self.assertEqual(0, scheduler.counts.elsewhere)

    def test_no_room_there(self) -> None:
        self.cloud.capacity[1, 1] = 3 * 2048
        scheduler = self.scheduler(Boots())
        self.assertEqual([1, 2], self.boot(scheduler, 3, 4))
        self.assertEqual(1, scheduler.counts.elsewhere)
        self.cloud.capacity[1] = 0
        self.assertEqual([1], self.boot(scheduler, 5))
        self.assertEqual(1, scheduler.counts.without_room)

    def test_by_weighers_of_nova(self) -> None:
        """Who has most memory and vCPUs left gets the next one."""
        scheduler = self.scheduler(Boots(by_weighers=True))
        self.assertEqual([2, 0, 2], self.boot(scheduler, 3, 4, 5))

    def test_with_weigher_of_kronos(self) -> None:
        scheduler = self.scheduler(Boots(by_weighers=True, multiplier=100.0))
        self.assertEqual([2, 2, 1], self.boot(scheduler, 3, 4, 5))

    def test_hosts_of_other_scopes(self) -> None:
        """What no audit plans goes where it went."""
        aggregate = self.load.recording.gathered.cloud.aggregates[0]
        aggregate.hosts = ['h0000', 'h0002']
        self.auditor = Auditor(
            self.auditor.audit,
            self.load.recording,
            self.cloud,
            Meter(self.load, self.cloud),
        )
        scheduler = self.scheduler(Boots(by_weighers=True))
        self.assertEqual([1], self.boot(scheduler, 3))
