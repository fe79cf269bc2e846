# SPDX-License-Identifier: Apache-2.0
"""Does the first rule that matches decide, by all that an incident has?"""

import testscenarios
from oslotest import base

from kronos.monitor.domains import State
from kronos.monitor.events import Kind
from kronos.monitor.incidents import Incident, Seen
from kronos.monitor.nova_metadata import Metadata
from kronos.monitor.rules import decision
from kronos.monitor.rules.models import Action, Match, Rule
from tests.unit.monitor.hypervisor import ONE

INCIDENT = Incident(
    'id',
    ONE,
    'instance-1',
    Kind.CRASH,
    1000.0,
    State.SHUTOFF,
    1,
    Metadata(
        'web 1',
        '9f0c',
        'team',
        'batch.large',
        {'hw:watchdog_action': 'reset'},
        '1b0c',
        {'os_distro': 'debian'},
    ),
    [Seen('LIFECYCLE', 'STOPPED_FAILED', '', 1000.0)],
)


class TestMatch(testscenarios.WithScenarios, base.BaseTestCase):
    scenarios = [
        (f'{match}', {'match': match, 'wanted': wanted})
        for match, wanted in (
            ({}, True),
            ({'kind': ['crash', 'panic']}, True),
            ({'kind': ['panic']}, False),
            ({'event': ['LIFE*']}, True),
            ({'detail': ['STOPPED_*']}, True),
            ({'detail': ['stopped_*']}, False),
            ({'instance': ['1111*']}, True),
            ({'name': ['instance-?']}, True),
            ({'name': ['web *']}, True),
            ({'project': ['9f0c*']}, True),
            ({'project': ['team']}, True),
            ({'project': ['other', '*m']}, True),
            ({'flavor': ['batch.*']}, True),
            ({'extra_specs': ['hw:watchdog_action=*']}, True),
            ({'extra_specs': ['hw:*=pause']}, False),
            ({'image': ['os_distro=debian']}, True),
            ({'image': ['1b0c']}, True),
            ({'host': ['node*']}, True),
            ({'host': ['node*'], 'flavor': ['m1.*']}, False),
        )
    ]
    match: dict[str, list[str]]
    wanted: bool

    def test_it(self) -> None:
        fields = decision.fields_of(INCIDENT, 'node1')
        match = Match.model_validate(self.match)
        self.assertEqual(self.wanted, decision.matches(match, fields))


class TestDecision(base.BaseTestCase):
    def decide(self, *rules: dict[str, object]) -> decision.Ruling:
        return decision.decide(
            [Rule.model_validate(rule) for rule in rules],
            decision.fields_of(INCIDENT, 'node1'),
            ['a', 'b'],
        )

    def test_the_first_one(self) -> None:
        result = self.decide(
            {'name': 'no', 'action': 'send', 'match': {'kind': 'hang'}},
            {'name': 'yes', 'action': 'drop', 'match': {'kind': 'crash'}},
            {'name': 'late', 'action': 'send'},
        )
        self.assertEqual(('yes', Action.DROP), (result.rule, result.action))

    def test_sinks(self) -> None:
        self.assertEqual(
            ('a', 'b'), self.decide({'name': 'x', 'action': 'send'}).sinks
        )
        chosen = {'name': 'x', 'action': 'send', 'sinks': ['b']}
        self.assertEqual(('b',), self.decide(chosen).sinks)

    def test_none(self) -> None:
        result = self.decide(
            {'name': 'no', 'action': 'send', 'match': {'kind': 'hang'}}
        )
        self.assertEqual(('', Action.DROP), (result.rule, result.action))

    def test_what_is_not_known_matches_nothing(self) -> None:
        """Not even the pattern for everything."""
        match = Match.model_validate({'flavor': ['*']})
        self.assertFalse(decision.matches(match, {'flavor': ['']}))
