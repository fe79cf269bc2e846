# SPDX-License-Identifier: Apache-2.0
"""Is it said before a run which servers would not leave a host?"""

from oslotest import base

from kronos.clients.nova.rows import MigrationStatus
from kronos.engine.reasons import Code
from kronos.engine.types import Instance
from kronos.extensions.maintenance.client import host_checks


class TestHostChecks(base.BaseTestCase):
    def test_each_kind(self) -> None:
        check = host_checks.of(
            'h1',
            [
                Instance('u5', 'h1', 'locked', locked=True),
                Instance('u1', 'h1', 'idle'),
                Instance('u2', 'h1', 'off', status='SHUTOFF', power_state=4),
                Instance('u3', 'h1', '', status='VERIFY_RESIZE'),
                Instance('u4', 'h1', 'broken', status='ERROR'),
            ],
            [
                MigrationStatus('u9', 'finished', source='h1'),
                MigrationStatus('u8', 'finished', source='h2'),
                MigrationStatus('u3', 'finished', source='h1'),
            ],
        )
        self.assertEqual(
            (5, ['off'], ['u3']),
            (check.servers, check.stopped, check.resized),
        )
        self.assertEqual(
            ['broken', 'locked'], [name for name, _ in check.staying]
        )
        first, *others = check.lines
        self.assertEqual(
            'h1: 5 servers, 1 stopped: off, 1 to be confirmed or reverted: '
            'u3, 1 to come back if a resize is reverted: u9, cannot be '
            'emptied',
            first,
        )
        self.assertEqual(2, len(others))
        why = check.staying[1][1]
        self.assertEqual(
            f'h1: locked stays: [{why.code.value}] {why}. {why.code.remedy}',
            others[1],
        )
        document = check.document
        self.assertEqual(
            (['u9'], False),
            (document['may_return'], document['can_be_emptied']),
        )
        [_, row] = document['staying']
        self.assertEqual(
            ('locked', Code.INSTANCE_LOCKED.value, why.code.remedy),
            (row['server'], row['reason_code'], row['remedy']),
        )

    def test_an_empty_host(self) -> None:
        check = host_checks.of('h1', [])
        self.assertEqual(['h1: 0 servers'], check.lines)
        self.assertEqual(
            {
                'host': 'h1',
                'servers': 0,
                'stopped': [],
                'resized': [],
                'may_return': [],
                'can_be_emptied': True,
                'staying': [],
            },
            check.document,
        )
