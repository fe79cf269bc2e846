# SPDX-License-Identifier: Apache-2.0
"""Is the goal's contract as frozen as it must be?"""

import json

from oslotest import base
from watcher.decision_engine.solution import efficacy

from kronos.strategies import goals

FROZEN = [
    'combined_imbalance_before',
    'combined_imbalance_after',
    'migrations',
    'hosts_over_threshold_before',
    'hosts_over_threshold_after',
]


class BalanceTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.goal = goals.Balance(config=None)
        self.efficacy = efficacy.Efficacy(self.goal, strategy=None)

    def test_names(self):
        self.assertEqual('kronos_balance', goals.Balance.get_name())
        self.assertEqual(
            'Kronos: even hosts', goals.Balance.get_translatable_display_name()
        )
        spec = self.goal.efficacy_specification
        self.assertEqual(FROZEN, [s.name for s in spec.indicators_specs])

    def test_specification_survives_the_database(self):
        spec = self.goal.efficacy_specification
        stored = json.loads(spec.serialize_indicators_specs())
        self.assertEqual(stored, spec.get_indicators_specs_dicts())

    def test_indicators_are_numbers(self):
        self.efficacy.set_efficacy_indicators(
            combined_imbalance_before=0.5,
            combined_imbalance_after=0.1,
            migrations=3,
            hosts_over_threshold_before=2,
            hosts_over_threshold_after=0,
        )
        self.efficacy.compute_global_efficacy()
        self.assertEqual(
            [0.5, 0.1, 3, 2, 0], [i.value for i in self.efficacy.indicators]
        )
        self.assertEqual(80.0, self.efficacy.global_efficacy[0].value)

    def test_without_indicators(self):
        self.efficacy.compute_global_efficacy()
        self.assertEqual([], self.efficacy.indicators)
        self.assertEqual(0.0, self.efficacy.global_efficacy[0].value)

    def test_an_even_cluster_does_not_divide_by_zero(self):
        self.efficacy.set_efficacy_indicators(**dict.fromkeys(FROZEN, 0))
        self.efficacy.compute_global_efficacy()
        self.assertEqual(0.0, self.efficacy.global_efficacy[0].value)
