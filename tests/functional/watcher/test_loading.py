# SPDX-License-Identifier: Apache-2.0
"""Does Watcher find Kronos' plugins, and leave their audits alone?"""

import oslo_config.cfg
from watcher import objects
from watcher.applier.loading import default as applier_loading
from watcher.decision_engine import sync
from watcher.decision_engine.loading import default as loading

from tests.functional.watcher import base

COMMON = [
    'aggregates',
    'include_unassigned_hosts',
    'max_migrations',
    'restrict_to_az',
]
PHASES = [
    'enforce_hard_affinity',
    'enforce_soft_affinity',
    'evacuate_disabled_hosts',
]
# Display name, goal, and the parameters beside the common ones.
STRATEGIES = {
    'kronos_spread': ('Kronos: spread', 'kronos_balance', PHASES),
    'kronos_pack': ('Kronos: pack', 'kronos_consolidate', PHASES),
    'kronos_evacuate': ('Kronos: evacuate', 'kronos_drain', ['hosts']),
    'kronos_affinity': (
        'Kronos: affinity',
        'kronos_affinity',
        ['enforce_soft_affinity'],
    ),
}
CELL = [
    'close_source',
    'confirm',
    'flavor_map',
    'hosts',
    'include_stopped',
    'max_migrations',
    'order',
    'source_cell',
    'target_cells',
    'unpin_az',
]
"""The parameters of the strategy that takes no aggregates."""


class LoadingTestCase(base.KronosTestCase):
    START_APPLIER = False

    def test_names_of_goals_and_strategies(self):
        goals = self.admin_api.get('/goals').json()['goals']
        for name, (shown, goal, more) in STRATEGIES.items():
            self.assertIn(goal, [row['name'] for row in goals])
            strategy = self.admin_api.get(f'/strategies/{name}').json()
            self.assertEqual(shown, strategy['display_name'])
            self.assertEqual(goal, strategy['goal_name'])
            self.assertEqual(
                sorted([*COMMON, *more]),
                sorted(strategy['parameters_spec']['properties']),
            )

    def test_the_strategy_of_cells(self):
        strategy = self.admin_api.get('/strategies/kronos_cell_drain').json()
        self.assertEqual('kronos_cell', strategy['goal_name'])
        self.assertEqual('Kronos: empty a cell', strategy['display_name'])
        self.assertEqual(
            CELL, sorted(strategy['parameters_spec']['properties'])
        )

    def test_loads_again_and_again(self):
        """Options are registered at each load; they must be equal."""
        for _ in range(3):
            for loader, name in (
                *(
                    (loading.DefaultStrategyLoader(), name)
                    for name in STRATEGIES
                ),
                *(
                    (loading.DefaultGoalLoader(), goal)
                    for _, goal, _ in STRATEGIES.values()
                ),
                (loading.DefaultPlannerLoader(), 'kronos'),
                (applier_loading.DefaultActionLoader(), 'kronos_live_migrate'),
            ):
                self.assertIsNotNone(loader.load(name))

    def test_options_are_those_of_watcher(self):
        conf = oslo_config.cfg.CONF
        self.assertEqual(600, conf.kronos.migration_timeout)
        self.assertEqual(30, conf.kronos_prometheus.timeout)

    def test_three_restarts_cancel_no_audit(self):
        before = self.create_audit(name='kept')
        plan = self.plan(before)
        ids = self.ids()
        for _ in range(3):
            sync.Syncer().sync()
        self.assertEqual(
            'SUCCEEDED', self.wait_for('audits', before['uuid'])['state']
        )
        self.assertEqual(plan['state'], self.plan(before)['state'])
        self.assertEqual(ids, self.ids())

    def ids(self):
        return [
            (
                objects.Strategy.get_by_name(self.context, name).id,
                objects.Goal.get_by_name(self.context, goal).id,
            )
            for name, (_, goal, _) in STRATEGIES.items()
        ]


class ParametersTestCase(base.KronosTestCase):
    START_APPLIER = False

    def test_the_api_refuses_nonsense(self):
        for parameters, word in (
            ({'agregates': 'alpha'}, 'agregates'),
            ({'aggregates': 'alpha', 'max_migrations': 0}, '0'),
            ({'aggregates': 'alpha', 'restrict_to_az': 'maybe'}, 'maybe'),
        ):
            response = self.admin_api.post(
                '/audits',
                {
                    'audit_type': 'ONESHOT',
                    'goal': 'kronos_balance',
                    'strategy': 'kronos_spread',
                    'parameters': parameters,
                },
            )
            self.assertEqual(400, response.status_code)
            self.assertIn(word, response.text)
