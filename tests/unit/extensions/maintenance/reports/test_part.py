# SPDX-License-Identifier: Apache-2.0
"""Does a report say how a run stands, and what is in its way?"""

import json

from oslotest import base

from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.reports.part import MaintenanceReport
from tests.builders import maintained

PART = MaintenanceReport()


class TestReport(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        cloud = maintained.cloud(3, 0.3, 1, spares=1)
        server = next(
            s for s in cloud.instances.values() if s.host == 'host-001'
        )
        server.locked, server.name = True, 'db'
        names = tuple(sorted(cloud.hosts)[:3])
        self.run_of = maintained.Run(cloud, Maintenance('r', names))
        self.result = self.run_of.plan()

    def test_document(self) -> None:
        row = PART.scope(self.result)['maintenance']
        json.dumps(row, allow_nan=False)
        self.assertEqual(
            ['to do'] * 3, [host['state'] for host in row['hosts']]
        )
        self.assertEqual('r', row['run'])
        [staying] = row['look']['staying']
        self.assertEqual('host-001', staying['host'])
        expected = {h['host']: h['expected_seconds'] for h in row['hosts']}
        self.assertIsNone(expected['host-001'])
        self.assertGreater(expected['host-000'], 1200)
        self.assertEqual(
            len(self.run_of.cloud.instances)
            - sum(
                s.host == 'host-001'
                for s in self.run_of.cloud.instances.values()
            ),
            row['forecast']['moves'],
        )

    def test_lines(self) -> None:
        lines = PART.lines(self.result, wording.ShortUuids(set()))
        text = '\n'.join(lines)
        self.assertIn('Run r: ', lines[0])
        self.assertIn('the end in about', lines[0])
        self.assertIn('host-000: to do, done in about', text)
        self.assertIn('host-001 cannot be emptied: db: [', text)

    def test_lines_of_a_host(self) -> None:
        """What becomes of it, or what keeps it, or why it waits."""
        run = outcome.of(self.result)
        lines = {
            host: PART.host_lines({'maintenance': outcome.of_host(run, host)})
            for host in (*run.states, 'host-003')
        }
        self.assertEqual([], lines['host-003'])
        self.assertEqual([], PART.host_lines({}))
        [closed] = run.waves.closing
        self.assertIn(
            'to do; the plan: closing, handing over; done and open in about ',
            lines[closed][0],
        )
        state, why = lines['host-001']
        self.assertEqual('Run r: to do', state)
        self.assertIn('host-001 cannot be emptied: db: [', why)
        [waiting] = {'host-000', 'host-002'} - {closed}
        self.assertIn('No further host is closed: 1 ', lines[waiting][1])

    def test_missing(self) -> None:
        outcome.of(self.result).missing = ['far']
        text = PART.lines(self.result, wording.ShortUuids(set()))
        self.assertIn('In no scope of the audit: far', text)

    def test_settings(self) -> None:
        spec = self.run_of.asked
        row = PART.settings(Settings(extension=MaintenanceRun(spec)))
        self.assertEqual([*spec.hosts], row['maintenance']['hosts'])
        self.assertIsNone(PART.settings(Settings())['maintenance'])

    def test_nothing_is_maintained(self) -> None:
        result = AggregateResult('a', self.result.stopped, '')
        self.assertIsNone(PART.scope(result)['maintenance'])
        self.assertEqual([], PART.lines(result, wording.ShortUuids(set())))
