# SPDX-License-Identifier: Apache-2.0
"""Do rules cover the same extra specs, whatever these are called?"""

import dataclasses

from oslotest import base

from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import recordings


class TestSpecs(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.was = recordings.small()

    def test_extra_specs(self) -> None:
        """The same rules cover the same specs, whatever they are called."""
        specs = {
            'hw:cpu_policy': 'dedicated',
            'acme:rack': 'Qz7',
            'acme:row': 'Qz8',
            'trait:CUSTOM_QZ': 'required',
            'aggregate_instance_extra_specs:qzowner': 'qzteam',
        }
        self.was.seeds = recordings.Seeds()
        self.was.gathered.instances[0].extra_specs = specs
        self.was.settings.allowed_extra_specs = [
            'hw:cpu_policy=dedicated',
            'acme:ra*',
            'acme:row=Qz8',
            'trait:CUSTOM_Q*',
            'hw:*',
            'other',
        ]
        now = anonymizer.anonymized(self.was)
        found = now.gathered.instances[0].extra_specs
        self.assertEqual('dedicated', found['hw:cpu_policy'])
        self.assertEqual('required', found['trait:CUSTOM_NAME_001'])
        self.assertNotIn('qz', str(found).lower())
        self.assertNotIn('acme', str(found))
        old = self.unmoved(self.was)
        self.assertIn('aggregate_instance_extra_specs', old)
        self.assertIn('aggregate_instance_extra_specs', self.unmoved(now))
        rules = now.settings.allowed_extra_specs
        self.assertNotIn('acme', str(rules))
        keys = [*found]
        for key in keys[:4]:
            self.assertTrue(
                any(
                    key == rule.partition('=')[0]
                    or (rule[-1] == '*' and key.startswith(rule[:-1]))
                    for rule in rules
                ),
                key,
            )

    def unmoved(self, found: Recording) -> str:
        """Why the first instance stays."""
        first = found.gathered.instances[0].uuid
        request = ScopeRequest([found.gathered.cloud.aggregates[0].name])
        one = dataclasses.replace(found, request=request)
        [scope] = replay(one, ReplayOptions()).report.scopes
        return scope.unmovable[first]
