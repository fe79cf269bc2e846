# SPDX-License-Identifier: Apache-2.0
"""Is the rule named that decides of an event?"""

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.monitor.rules import explanation, parser

RULES = (
    'rules: [{name: batch, action: drop, match: {flavor: "batch.*"}}, '
    '{name: ended, action: send, match: {kind: [crash]}, sinks: [hook], '
    'severity: critical, dedup_seconds: 30}]'
)


class TestExplain(base.BaseTestCase):
    def explain(self, *words: str) -> str:
        rules = parser.parse(RULES, 'F', ['hook'])
        return explanation.explain(words, rules, ['hook'])

    def test_each_ending(self) -> None:
        sent = (
            'LIFECYCLE/STOPPED_FAILED is a failure of kind crash. Rule ended '
            'applies: the event is sent as critical to hook, unless an event '
            'of its kind was sent for the same instance in the 30 s before.'
        )
        for words, text in (
            (['STOPPED_FAILED'], sent),
            (['LIFECYCLE/STOPPED_FAILED', 'project=9f0c'], sent),
            (['crash'], sent.replace('LIFECYCLE/STOPPED_FAILED', 'crash')),
            (
                ['STOPPED_FAILED', 'flavor=batch.small'],
                'LIFECYCLE/STOPPED_FAILED is a failure of kind crash. Rule '
                'batch applies: the event is dropped.',
            ),
            (
                ['WATCHDOG/RESET'],
                'WATCHDOG/RESET is a failure of kind hang. No rule matches: '
                'the event is dropped.',
            ),
            (
                ['STOPPED_DESTROYED'],
                'LIFECYCLE/STOPPED_DESTROYED is not a failure: no incident, '
                'and no message.',
            ),
            (
                ['REBOOT'],
                'REBOOT is not a failure: no incident, and no message.',
            ),
        ):
            self.assertEqual(text, self.explain(*words))

    def test_unknown(self) -> None:
        for words, reason in (
            (['STOPED_FAILED'], 'no such event, did you mean STOPPED_FAILED?'),
            (['WATCHDOG/REST'], 'did you mean WATCHDOG/RESET?'),
            (['crush'], 'did you mean crash?'),
            (['crash', 'flavour=x'], 'did you mean flavor?'),
            (['crash', 'flavor'], 'it must be FIELD=VALUE'),
            (['crash', 'kind=hang'], 'it must be FIELD=VALUE'),
        ):
            error = self.assertRaises(ConfigurationError, self.explain, *words)
            self.assertIn(reason, str(error))
