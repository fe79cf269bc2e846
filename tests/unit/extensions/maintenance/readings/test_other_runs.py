# SPDX-License-Identifier: Apache-2.0
"""Do other audits leave the hosts of a run alone?"""

from typing import Any

from oslotest import base

from kronos.engine.extension import PLAIN, Extension
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService, Host
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.extensions.maintenance.readings.other_runs import OtherRunsReader
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Look
from kronos.snapshots.scopes import Cloud
from tests.unit.extensions.maintenance.readings import test_done_hosts

AUDIT = 'a0d17000-1111-4111-8111-111111111111'
RUN = Maintenance('r', ('a', 'b', 'gone'))


class TestOtherRuns(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.hosts = {name: Host(name, faulty=1.0) for name in ('a', 'b', 'c')}
        self.services = {
            name: ComputeService(name, state='up', status='enabled')
            for name in self.hosts
        }

    def read(
        self,
        *live: Maintenance,
        own: Extension = PLAIN,
        query: str = 'done',
        **done: float,
    ) -> None:
        nova: Any = None  # it is not asked
        gathered = CloudInventory(Cloud(self.hosts, {}, []), self.services)
        answers = test_done_hosts.Prometheus(
            done=test_done_hosts.reading(**done)
        )
        reader = OtherRunsReader(RunQueries(query, ''), lambda: live)
        settings = Settings(extension=own)
        reader.read(Look(gathered, {}, nova, answers, settings, print))

    def close(self, step: Step, reason: str = '') -> None:
        service = self.services['b']
        service.status = 'disabled'
        service.disabled_reason = reason or str(
            ClosingReason('r', step, 1000.0, AUDIT)
        )

    def closed(self) -> list[str]:
        return [name for name, host in self.hosts.items() if host.closed]

    def test_nothing_goes_to_hosts_to_do(self) -> None:
        self.read(RUN, a=1.0)
        self.assertEqual(['b'], self.closed())
        self.assertEqual(
            'it is due for maintenance in run r', self.hosts['b'].closed
        )
        self.assertEqual('', self.hosts['b'].frozen)

    def test_nobody_knows_who_is_done(self) -> None:
        self.read(RUN, query='')
        self.assertEqual(['a', 'b'], self.closed())

    def test_its_own(self) -> None:
        self.close(Step.HANDED_OVER)
        self.read(RUN, own=MaintenanceRun(RUN))
        self.assertEqual([], self.closed())
        self.assertEqual('', self.hosts['b'].frozen)

    def test_closed_by_the_run(self) -> None:
        """It is not drained, and does not count as at fault."""
        self.close(Step.HANDED_OVER)
        self.read()
        self.assertIn('maintained in run r', self.hosts['b'].frozen)
        self.assertIsNone(self.hosts['b'].faulty)
        self.assertEqual(1.0, self.hosts['a'].faulty)
        self.assertEqual('', self.hosts['a'].frozen)

    def test_at_fault_while_it_is_emptied(self) -> None:
        self.close(Step.EMPTYING)
        self.read()
        self.assertEqual(1.0, self.hosts['b'].faulty)
        self.assertNotEqual('', self.hosts['b'].frozen)

    def test_somebody_elses_reason(self) -> None:
        self.close(Step.EMPTYING, 'KRONOS: at fault')
        self.read()
        self.assertEqual('', self.hosts['b'].frozen)
