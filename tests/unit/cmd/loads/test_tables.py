# SPDX-License-Identifier: Apache-2.0
"""Do the tables show every figure of every column?"""

from oslotest import base

from kronos.cmd.loads import tables
from kronos.simulate.columns import Kind
from kronos.simulate.outcome import results
from tests.unit.simulate.outcome.test_results import made


class TestTable(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.outcome = [
            made('nothing moved', Kind.NOTHING),
            made('as recorded', moves=12),
        ]

    def test_table(self) -> None:
        document = {
            'sentence': results.sentence(self.outcome),
            'load': {
                'days': 1.0,
                'hosts': 2,
                'servers': 1,
                'limits': ['nobody knows'],
            },
        }
        lines = tables.table(document, self.outcome).splitlines()
        self.assertIn('With as recorded: 12 moves', lines[0])
        self.assertIn('1.0 days of 2 hosts and 1 server.', lines)
        [moves] = [line for line in lines if line.startswith('moves a day')]
        self.assertEqual(['0.0', '12.0'], moves.split()[-2:])
        self.assertIn(
            '(1) nothing moved: servers stay where they start', lines
        )
        self.assertLess(
            lines.index('1.0 days of 2 hosts and 1 server.'),
            lines.index(moves),
        )
        self.assertEqual('Limit: nobody knows', lines[-1])

    def test_rows(self) -> None:
        head, *rows = tables.rows(self.outcome)
        self.assertEqual('moves_per_day', head[1])
        self.assertEqual(
            ['nothing moved', 'as recorded'], [row[0] for row in rows]
        )
        self.assertEqual({len(head)}, {len(row) for row in rows})
