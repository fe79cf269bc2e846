# SPDX-License-Identifier: Apache-2.0
"""What does a process with Nova's own code say of a nova.conf?"""

import json
import pathlib

import fixtures
from oslotest import base

from kronos.cmd.checks import subprocess_probe, weigher
from tests.functional.nova import weighing

ENABLED = (
    f'[filter_scheduler]\nweight_classes = {",".join(weighing.CLASSES)}\n'
)
SECRET = 'geheim-4711'


class InspectingTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def inspect(self, text, asks=False, **fields):
        request = {
            'files': [self.write('nova.conf', text)],
            'folders': [],
            'asks': asks,
            'hosts': [],
            'aggregates': {},
            **fields,
        }
        return subprocess_probe.inspect(weigher.MODULE, [], request)

    def test_scores(self):
        """Of each host as a weighing of its aggregates has them."""
        prometheus = self.useFixture(weighing.Prometheus())
        prometheus.give({'host1': 0.3, 'host2': 0.1, 'host3': 0.6})
        policies = self.write('policies.yaml', weighing.policies())
        found = self.inspect(
            ENABLED + f'ram_weight_multiplier = 3\n[kronos]\nscore_step = 0\n'
            f'policies_file = {policies}\nweight_multiplier = 12\n'
            f'[kronos_prometheus]\nurl = {prometheus.url}\nmax_retries = 0\n',
            asks=True,
            hosts=[
                {'name': f'host{n}', 'type': 'QEMU', 'aggregates': names}
                for n, names in ((1, []), (2, []), (3, ['quiet']))
            ],
            aggregates={'quiet': {'kronos_mode': 'off'}},
        )
        self.assertEqual('', found['error'])
        self.assertTrue(found['is_enabled'])
        self.assertEqual([], found['troubles'])
        self.assertAlmostEqual(0.7, found['scores']['host1'])
        self.assertAlmostEqual(0.9, found['scores']['host2'])
        self.assertIsNone(found['scores']['host3'])
        multipliers = {
            one['name']: one['multiplier'] for one in found['weighers']
        }
        self.assertEqual(3.0, multipliers['RAMWeigher'])
        self.assertEqual(12.0, multipliers['KronosWeigher'])
        self.assertNotIn(None, multipliers.values())
        self.assertEqual(1, prometheus.seen['asked'])

    def test_prometheus_is_away(self):
        policies = self.write('policies.yaml', weighing.policies())
        found = self.inspect(
            ENABLED + f'[kronos]\npolicies_file = {policies}\n'
            f'[kronos_prometheus]\nurl = http://joe:{SECRET}@127.0.0.1:9\n'
            'max_retries = 0\n',
            asks=True,
        )
        self.assertIn('cannot connect', found['scores_error'])
        self.assertNotIn(SECRET, json.dumps(found))

    def test_nova_alone(self):
        found = self.inspect('')
        self.assertFalse(found['is_enabled'])
        self.assertIn('RAMWeigher', [one['name'] for one in found['weighers']])

    def test_a_class_that_is_not_there(self):
        """nova-scheduler does not start with it."""
        found = self.inspect(
            '[filter_scheduler]\nweight_classes = kronos.weighers.lod.Load\n'
        )
        self.assertIn('kronos.weighers.lod', found['error'])

    def test_options(self):
        found = self.inspect(ENABLED + '[kronos]\nscore_step = 7\n')
        [fault] = found['faults']
        self.assertIn('score_step', fault)

    def test_a_file_that_cannot_be_parsed(self):
        """Its text may be a secret, and is not told."""
        error = self.assertRaises(
            subprocess_probe.InspectionError, self.inspect, f'[a]\n{SECRET}\n'
        )
        self.assertNotIn(SECRET, str(error))
        self.assertIn('ConfigFileParseError', str(error))
