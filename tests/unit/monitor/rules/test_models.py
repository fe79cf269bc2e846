# SPDX-License-Identifier: Apache-2.0
"""Are the fields of rules what they are said to be?"""

import pydantic
from oslotest import base

from kronos.monitor.rules.models import Action, Match, Rule, Severity


class TestRule(base.BaseTestCase):
    def test_defaults(self) -> None:
        rule = Rule.model_validate({'name': 'a', 'action': 'send'})
        self.assertEqual(
            (Action.SEND, Severity.ERROR, None, 0, Match()),
            (
                rule.action,
                rule.severity,
                rule.sinks,
                rule.dedup_seconds,
                rule.match,
            ),
        )

    def test_a_single_text_is_a_list(self) -> None:
        match = Match.model_validate({'kind': 'crash', 'project': '9f*'})
        self.assertEqual((['crash'], ['9f*']), (match.kind, match.project))

    def test_nothing_is_coerced(self) -> None:
        for wrong in (
            {'dedup_seconds': '30'},
            {'dedup_seconds': float('nan')},
            {'dedup_seconds': -1},
            {'name': 'Upper'},
            {'name': 'x' * 65},
            {'action': 'SEND'},
            {'sinks': []},
            {'match': {'project': []}},
            {'match': {'project': None}},
            {'match': {'kind': None}},
            {'match': {'project': [7]}},
            {'match': {'kind': ['crush']}},
        ):
            self.assertRaises(
                pydantic.ValidationError,
                Rule.model_validate,
                {'name': 'a', 'action': 'send', **wrong},
            )

    def test_severities_have_an_order(self) -> None:
        ranks = [Severity(one).rank for one in ('info', 'warning', 'critical')]
        self.assertEqual(sorted(ranks), ranks)

    def test_every_field_says_its_rule(self) -> None:
        for model in (Rule, Match):
            for name, field in model.model_fields.items():
                self.assertTrue(field.description, name)
