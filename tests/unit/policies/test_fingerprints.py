# SPDX-License-Identifier: Apache-2.0
"""Tests of the fingerprint of a policy's queries."""

import json
import unittest

from kronos.policies import fingerprints
from kronos.policies.models import Policy

ROW = {
    'name': 'cpu',
    'mode': 'spread',
    'weight': 1.0,
    'imbalance_query': 'host_cpu',
    'vm_profile_query': 'vm_cpu',
}


def of(**fields):
    policy = Policy.model_validate_json(json.dumps({**ROW, **fields}))
    return fingerprints.of(policy)


class FingerprintTest(unittest.TestCase):
    def test_it_is_short_and_stays(self):
        self.assertRegex(of(), '^[0-9a-f]{12}$')
        self.assertEqual(of(), of())

    def test_a_query_changes_it(self):
        for field in ('imbalance_query', 'vm_profile_query', 'host_label'):
            self.assertNotEqual(of(), of(**{field: 'other'}), field)
        self.assertNotEqual(of(), of(host_capacity_query='other'))

    def test_a_name_a_threshold_or_a_ceiling_does_not(self):
        self.assertEqual(
            of(), of(name='load', threshold=0.3, capacity_query='other')
        )
