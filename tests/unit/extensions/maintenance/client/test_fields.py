# SPDX-License-Identifier: Apache-2.0
"""Do programs get all keys, and people one line a host?"""

from typing import Any

from kronos.extensions.maintenance.client import fields, run_history
from kronos.extensions.maintenance.client.run_status import RunStatus
from kronos.extensions.maintenance.closing_reason import Step
from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc import clouds

STATUS = ('run', 'state', 'k', 'closed', 'eta', 'hosts')
HOST = [
    'host',
    'state',
    'since',
    'running',
    'stopped',
    'moves',
    'eta',
    'reason_code',
    'reason',
]


class TestFields(maintained.MaintainedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.begin()

    def status(self) -> RunStatus:
        reader = self.reader()
        return reader.status(reader.run(None))

    @staticmethod
    def machine(values: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value.machine_readable()
            if hasattr(value, 'machine_readable')
            else value
            for name, value in values.items()
        }

    def test_run(self) -> None:
        values = self.machine(fields.of_run(self.status().run))
        self.assertEqual(
            ('r1', 'ONGOING', maintained.AUDIT, 1, ['h1', 'h2', 'h3']),
            tuple(
                values[name]
                for name in ('run', 'state', 'audit', 'k', 'hosts')
            ),
        )

    def test_status(self) -> None:
        self.plan_next(
            efficacy_indicators=[
                {'name': 'hosts_done', 'value': 0.0},
                {'name': fields.SECONDS_TO_END, 'value': 3600.0},
            ],
            created_at='2026-11-01T10:00:00',
        )
        self.watcher.audits[maintained.AUDIT]['created_at'] = (
            '2026-11-01T09:00:00'
        )
        self.close('h1', Step.EMPTYING)
        self.close_by_hand('h2')
        self.servers['h1'] = ['ACTIVE', 'SHUTOFF']
        status = self.status()
        values = self.machine(fields.of_status(status))
        self.assertLessEqual({*STATUS}, {*values})
        self.assertEqual(
            ('running', 1, 2, '2026-11-01T11:00:00Z'),
            tuple(values[name] for name in ('state', 'k', 'closed', 'eta')),
        )
        first, second, third = values['hosts']
        self.assertEqual(HOST, [*first])
        self.assertEqual(('emptying', 1, 1), (*[*first.values()][1:2], 1, 1))
        self.assertRegex(first['since'], r'^\d{4}-\d\d-\d\dT.*Z$')
        self.assertEqual('mine', second['reason'])
        self.assertEqual(
            ('to do', None, None),
            (third['state'], third['since'], third['running']),
        )
        lines = fields.of_status(status)['hosts'].human_readable().split('\n')
        self.assertRegex(
            lines[0], r'^h1: emptying since \S+Z \(1 running, 1 stopped\)$'
        )
        self.assertEqual('h2: foreign [host_taken_over]: mine', lines[1])
        self.assertEqual('h3: to do', lines[2])
        one = self.machine(fields.of_status(status, 'h2'))
        self.assertEqual(['h2'], [row['host'] for row in one['hosts']])

    def test_what_is_not_known_is_null(self) -> None:
        values = self.machine(fields.of_status(self.status()))
        self.assertEqual(('waiting', None), (values['state'], values['eta']))
        self.assertEqual([None] * 3, [row['state'] for row in values['hosts']])

    def test_report(self) -> None:
        self.act(run_history.CLOSE, 'h1', 100)
        for minutes in (95, 92):
            self.act('kronos_live_migrate', 'h1', minutes)
        self.act(run_history.HAND_OVER, 'h1', 90)
        self.act(run_history.REOPEN, 'h1', 20)
        self.act(run_history.CLOSE, 'h2', 10)
        self.act(
            'kronos_live_migrate',
            'h2',
            5,
            state='FAILED',
            status_message=clouds.TOLD,
        )
        status = self.status()
        values = self.machine(fields.of_report(status))
        self.assertEqual(
            (2, 1, 1, 1, ['h1']),
            tuple(
                values[name]
                for name in (
                    'moves',
                    'servers_moved',
                    'servers_moved_twice',
                    'moves_failed',
                    'hosts_late',
                )
            ),
        )
        first, second, _ = values['hosts']
        self.assertEqual(
            (600.0, 4200.0, 2),
            (
                first['emptying_seconds'],
                first['handed_over_seconds'],
                first['moves'],
            ),
        )
        self.assertIsNone(second['handed_over_at'])
        self.assertEqual(['h1', 'h2', 'h2'], values['servers'][0]['hosts'])
        lines = fields.of_report(status)['hosts'].human_readable().split('\n')
        self.assertRegex(
            lines[0],
            r'^h1: closed at \S+Z, empty after 10 min \(2 moves\), opened '
            r'after 1 h 10 min more$',
        )
        self.assertEqual('h3: not closed by the run', lines[2])
