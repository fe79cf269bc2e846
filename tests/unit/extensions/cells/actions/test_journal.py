# SPDX-License-Identifier: Apache-2.0
"""Does the evidence tell what was seen, and how long a guest was off?"""

import json

from oslotest import base

from kronos.clients.nova.rows import MigrationStatus
from kronos.engine.types import Instance
from kronos.extensions.cells.actions.comparison import ServerCheck
from kronos.extensions.cells.actions.journal import MOVED, Journal
from kronos.extensions.cells.actions.parameters import CellMoveTask
from tests.unit.extensions.cells.actions import test_task

RUNNING, OFF = 1, 4


class EvidenceTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        task = CellMoveTask.from_parameters(test_task.PARAMETERS)
        self.evidence = Journal(task, 1000.0)

    def see(self, at, power=RUNNING, task=None, status='RESIZE', **more):
        fields = {'host': 'old-1', **more}
        instance = Instance(
            uuid='a',
            status=status,
            task_state=task,
            power_state=power,
            **fields,
        )
        migration = MigrationStatus('a', 'migrating', 'm')
        self.evidence.look(at, instance, migration)


class TestStatuses(EvidenceTestCase):
    def test_changes_only(self):
        for at in (1000.0, 1005.0, 1010.0):
            self.see(at)
        self.see(1015.0, OFF)
        self.see(1020.0, OFF)
        self.see(1025.0, OFF, host='new-1')
        self.assertEqual(
            [(1000.0, 1010.0), (1015.0, 1020.0), (1025.0, 1025.0)],
            [(one.since, one.until) for one in self.evidence.seen],
        )

    def test_a_state_that_comes_back(self):
        """It is another one: Nova flickers while it reverts."""
        for at, task in ((1.0, 'x'), (2.0, None), (3.0, 'x')):
            self.see(at, task=task)
        self.assertEqual(
            ['x', '', 'x'], [one.task for one in self.evidence.seen]
        )

    def test_deleted(self):
        self.evidence.look(1000.0, None, None)
        [seen] = self.evidence.seen
        self.assertEqual(('deleted', '', ''), (
            seen.status, seen.host, seen.migration
        ))  # fmt: skip


class TestDowntime(EvidenceTestCase):
    def test_off(self):
        """From the last sight of it running to the next one, at most."""
        self.see(1000.0)
        self.see(1010.0)
        self.see(1020.0, OFF)
        self.see(1030.0)
        self.assertEqual(20.0, self.evidence.downtime())

    def test_nova_calls_it_running_while_it_moves(self):
        """Nobody knows when in a task it was powered off."""
        self.see(1000.0)
        self.see(1010.0, task='resize_migrating')
        self.see(1020.0, OFF, task='resize_migrated')
        self.see(1030.0, status='VERIFY_RESIZE')
        self.assertEqual(30.0, self.evidence.downtime())

    def test_never_off(self):
        self.see(1000.0)
        self.see(1010.0, task='resize_prep')
        self.see(1020.0)
        self.assertIsNone(self.evidence.downtime())

    def test_one_that_was_stopped(self):
        for at in (1000.0, 1010.0):
            self.see(at, OFF, task=f'{at}')
        self.assertIsNone(self.evidence.downtime())

    def test_one_that_does_not_come_back(self):
        self.see(1000.0)
        self.see(1010.0, OFF)
        self.assertIsNone(self.evidence.downtime())

    def test_taken_back(self):
        """The first time counts: how long the move itself took it away."""
        for at, power in enumerate((RUNNING, OFF, RUNNING, OFF, OFF, RUNNING)):
            self.see(float(at), power, task=f'{at}')
        self.assertEqual(2.0, self.evidence.downtime())


class TestShort(EvidenceTestCase):
    def test_nothing_was_seen(self):
        self.assertEqual('old/old-1 -> new/new-1', self.evidence.short())

    def test_all(self):
        """The host is the one that it is on, which Nova may have chosen."""
        self.see(1000.0)
        self.see(1010.0, OFF)
        self.see(1014.6, host='new-7')
        self.evidence.note(
            [ServerCheck('host', True, ''), ServerCheck('zone', True, '')]
        )
        self.evidence.migration = 'm'
        self.assertEqual(
            'old/old-1 -> new/new-7, off for at most 15 s, 2 checks passed, '
            'migration m',
            self.evidence.short(),
        )


class TestDocument(EvidenceTestCase):
    def test_it_is_json(self):
        self.see(1000.0, power=0)
        self.evidence.note([ServerCheck('host', False, 'no')])
        self.evidence.note([ServerCheck('old', True, '')], reverted=True)
        self.evidence.requests['migrate'] = 'req-1'
        found = json.loads(
            json.dumps(
                self.evidence.document(1100.0, MOVED, 'all is well'),
                allow_nan=False,
            )
        )
        self.assertEqual(
            {
                'format': 'cell_move/1',
                'server': {'uuid': 'a', 'name': 'web'},
                'outcome': 'moved',
                'message': 'all is well',
                'began': 1000.0,
                'ended': 1100.0,
                'requests': {'migrate': 'req-1'},
                'migration': '',
                'downtime_seconds': None,
                'before': {},
                'after': {},
                'statuses': [
                    {
                        'at': 1000.0,
                        'until': 1000.0,
                        'status': 'RESIZE',
                        'task': '',
                        'power': 'unknown',
                        'host': 'old-1',
                        'migration': 'migrating',
                    }
                ],
                'checks': [{'name': 'host', 'ok': False, 'told': 'no'}],
                'old_state': [{'name': 'old', 'ok': True, 'told': ''}],
                'mended': [],
                'commands': [],
            },
            {key: found[key] for key in found if key != 'planned'},
        )
        self.assertEqual(
            ('old', 'new', ['new', 'next']),
            tuple(
                found['planned'][name]
                for name in ('source_cell', 'destination_cell', 'target_cells')
            ),
        )

    def test_later_checks_replace_earlier_ones(self):
        self.evidence.note([ServerCheck('host', False, '')])
        self.evidence.note([ServerCheck('host', True, '')])
        self.assertEqual(
            [{'name': 'host', 'ok': True, 'told': ''}], self.evidence.checks
        )
