# SPDX-License-Identifier: Apache-2.0
"""What does a report say of hosts that no migration helps?"""

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.types import Rest
from kronos.reports import rest
from tests.builders import stuck_ends


class TestRest(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        snapshot, policies, settings = stuck_ends.zone_beside_a_zone()
        report = propose.propose([snapshot], policies, settings)
        propose.certify(report)
        rest_of_scope = report.scopes[0].rest
        assert rest_of_scope is not None
        self.rest: Rest = rest_of_scope

    def test_row(self) -> None:
        row = rest.row(self.rest)
        assert row is not None
        self.assertEqual(0, row['after_steps'])
        self.assertEqual(
            [('cpu', 'dc1-0', 'highest'), ('cpu', 'dc1-1', 'highest')],
            [
                (host['policy'], host['host'], host['end'])
                for host in row['set_aside']
            ][:2],
        )
        self.assertIn('The other hosts: 0.6000 -> 0.0000.', row['text'])
        self.assertEqual(10, row['certificate']['migrations'])

    def test_sentences(self) -> None:
        first, second = rest.sentences(self.rest)
        self.assertStartsWith(
            first,
            'Set aside for cpu, since no migration helps: dc1-0 (highest, '
            '0.800: no migration from it lowers its score enough), ',
        )
        self.assertStartsWith(second, 'Without the hosts that are set aside: ')

    def assertStartsWith(self, text: str, start: str) -> None:
        self.assertEqual(start, text[: len(start)])

    def test_brief(self) -> None:
        self.assertEqual(
            ', 0.60 -> 0.00 without 3 hosts that no migration helps',
            rest.brief(self.rest),
        )

    def test_none(self) -> None:
        self.assertIsNone(rest.row(None))
        self.assertEqual([], rest.sentences(None))
