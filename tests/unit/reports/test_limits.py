# SPDX-License-Identifier: Apache-2.0
"""Does a table show what limits a plan?"""

from oslotest import base

from kronos.engine.types import (
    AggregateResult,
    ConsentStanding,
    InstanceStanding,
    StopReason,
)
from kronos.reports import limits
from tests.builders import limited


class TestSentences(base.BaseTestCase):
    def test_all(self) -> None:
        self.assertEqual(
            [
                'Window: open until 2027-01-15 10:00 (UTC)',
                'Moves by project_budget: 1 used, 3 free, 2 planned',
                'Moves by group_budget: 0 used, 1 free, 1 planned',
                'Consent: unknown 1, drain 1; 2 servers stay because of it: '
                'web5 of project other; web0 of project acme',
            ],
            limits.sentences(limited.scope()),
        )

    def test_none(self) -> None:
        scope = AggregateResult('alpha', StopReason.BALANCED, 'balanced')
        self.assertEqual([], limits.sentences(scope))


class TestStayingServers(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.scope = AggregateResult(
            'alpha',
            StopReason.BALANCED,
            'balanced',
            instances={
                'u1': InstanceStanding('web-8', 'h1'),
                'u2': InstanceStanding('a; all\x1b[31m\nis well', 'h1'),
                'u3': InstanceStanding('', 'h2'),
                'u4': InstanceStanding('web-8', 'h2'),
            },
            consents=[
                ConsentStanding('never', 'p1', 3, ['u1', 'u2']),
                ConsentStanding('drain', 'p1', 1, []),
                ConsentStanding('unknown', '', 2, ['u3', 'u4']),
            ],
        )

    def test_names_and_projects(self) -> None:
        """Names are their owners', so each is one word."""
        text = limits.staying_servers(self.scope)
        first, _, last = text.rpartition('; ')
        self.assertTrue(first.startswith('web-8 (u1), '), text)
        self.assertTrue(first.endswith("' of project p1"), text)
        self.assertEqual('u3, web-8 (u4) of no known project', last)
        self.assertTrue(text.isprintable(), text)

    def test_some(self) -> None:
        self.assertEqual(
            'web-8 (u4) of no known project',
            limits.staying_servers(self.scope, {'u4'}),
        )
        self.assertEqual('', limits.staying_servers(self.scope, {'u9'}))

    def test_limit(self) -> None:
        self.assertEqual(
            'web-8 (u1) of project p1 and 3 more',
            limits.staying_servers(self.scope, limit=1),
        )
        self.assertEqual(
            'web-8 (u1) of project p1 and 1 more',
            limits.staying_servers(self.scope, {'u1', 'u3'}, limit=1),
        )
