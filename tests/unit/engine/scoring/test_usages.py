# SPDX-License-Identifier: Apache-2.0
"""What the samples of a policy say that instances use."""

import math

from oslotest import base

from kronos.engine.scoring import usages
from kronos.engine.settings import Settings
from kronos.engine.types import Sample
from tests.builders import scopes


class TestMeasure(base.BaseTestCase):
    def measured(self, *samples):
        policy = scopes.policy('cpu')
        snapshot = scopes.scope(
            [policy], {'a': [0.5]}, [scopes.vm('v', 'a', [0.0])]
        )
        snapshot.readings['cpu'].profile.samples = list(samples)
        names = usages.named(snapshot, policy.vm_profile_label_type)
        return usages.measure(policy, snapshot, Settings(), names).usage

    def test_the_newest_counts(self):
        found = self.measured(Sample('v', 0.1, 5.0), Sample('v', 0.4, 4.0))
        self.assertEqual({'v': 0.1}, found)

    def test_of_equally_new_ones_the_largest(self):
        found = self.measured(Sample('v', 0.1, 5.0), Sample('v', 0.4, 5.0))
        self.assertEqual({'v': 0.4}, found)

    def test_what_is_no_number_or_of_another_server(self):
        found = self.measured(
            Sample('v', math.nan, 5.0),
            Sample('v', -0.5, 6.0),
            Sample('w', 0.4, 7.0),
        )
        self.assertEqual({}, found)
