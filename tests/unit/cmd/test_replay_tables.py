# SPDX-License-Identifier: Apache-2.0
"""Do the tables of kronos-replay, and its page, say what a plan says?"""

from oslotest import base

from kronos.cmd import replay_tables
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport, Sample
from kronos.reports import document
from kronos.reports.html import page
from tests.builders import policies, stuck_ends


class LabelsTestCase(base.BaseTestCase):
    """Labels that match no host of the scope."""

    def test_table(self) -> None:
        snapshot = policies.snapshot({'cpu': {'a': 0.2, 'b': 0.7}})
        samples = snapshot.readings['cpu'].imbalance.samples
        samples += [Sample(f'db{n}', 0.5, 0.0) for n in range(7)]
        [scope] = propose.propose(
            [snapshot], [policies.policy()], Settings()
        ).scopes
        self.assertIn(
            'Labels of policy cpu that match no host of the scope: db0, db1, '
            'db2, db3, db4 and 2 more',
            replay_tables.table(scope, None).splitlines(),
        )


class RestTestCase(base.BaseTestCase):
    """Hosts that no migration helps, and the others."""

    def setUp(self) -> None:
        super().setUp()
        snapshot, rules, settings = stuck_ends.zone_beside_a_zone()
        report = propose.propose([snapshot], rules, settings)
        self.scope = report.scopes[0]

    def test_table(self) -> None:
        lines = replay_tables.table(self.scope, None).splitlines()
        rows = [line.split() for line in lines]
        others = ['of', 'the', 'others', '0.6000', '0.0000']
        self.assertEqual(2, rows.count(others), 'of the policy, combined')
        [head] = [row for row in rows if row[:1] == ['instance']]
        self.assertEqual(['of', 'the', 'others', 'cpu'], head[-4:])
        last = ['+0.0000', '0.7800', '0.0000', '0.7800']
        self.assertIn(last, [row[-4:] for row in rows])
        [_] = [
            line
            for line in lines
            if line.startswith('Set aside for cpu, since no migration helps: ')
        ]

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assertIn('Set aside for cpu, since no migration helps: ', text)
        self.assertIn('The other hosts: 0.6000 -&gt; 0.0000.', text)
