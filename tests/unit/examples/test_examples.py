# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/source/contributor/plugins.rst do what it says.

The strategy is tried in a real Watcher, by the functional tests.
"""

import fixtures
from oslotest import base
from watcher.decision_engine.solution import efficacy

from kronos.engine.planning import phases, propose
from kronos.engine.settings import (
    PHASES_OF_MODE,
    PhaseSelection,
    PlanMode,
    Settings,
)
from kronos.engine.types import MigrationPhase, ServerGroup, StopReason
from tests.builders import scopes
from tests.builders.scopes import policy, vm
from tests.unit.engine.oracles.legality import Judge
from tests.unit.examples import goal, mixture, search, strategy
from tests.unit.strategies import declared

CPU = policy('cpu', threshold=0.1)


def crowded(**more):
    """Six instances of a tenth on the one host, none on the two others."""
    vms = [vm(f'v{number}', 'a', [0.1]) for number in range(6)]
    hosts = {'a': [0.6], 'b': [0.0], 'c': [0.0]}
    return scopes.scope([CPU], hosts, vms, **more)


class TestStrategy(base.BaseTestCase):
    def test_it_declares_all_that_an_audit_needs(self):
        quiet = strategy.Quiet
        found = declared.settings(
            quiet,
            {'max_migrations': 2},
            enforce_hard_affinity=True,
            require_headroom=False,
        )
        self.assertTrue(found.rebalance and found.enforce_hard_affinity)
        kronos = declared.kronos(policies_file='policies.yaml')
        self.assertEqual('policies.yaml.quiet', quiet.policies_file(kronos))
        self.assertEqual('kronos_balance', quiet.get_goal_name())
        report = propose.plan([crowded()], [CPU], found, 2).report
        self.assertEqual(2, quiet.indicators(report)['migrations'])
        (scope,) = report.scopes
        self.assertIn('0.60 -> ', quiet.summary(scope))


class TestMixture(base.BaseTestCase):
    def test_a_row_is_all_that_a_mode_needs(self):
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.engine.settings.PHASES_OF_MODE',
                {**PHASES_OF_MODE, PlanMode.AFFINITY: mixture.ROW},
            )
        )
        settings = Settings()
        settings.set_mode(PlanMode.AFFINITY, PhaseSelection())
        pair = ServerGroup('g', 'anti-affinity', ['v1', 'v2'])
        snapshot = crowded(groups=[pair])
        snapshot.services['c'].status = 'disabled'
        snapshot.instances['v3'].host = 'c'
        report = propose.plan([snapshot], [CPU], settings, 2).report
        self.assertEqual(
            [MigrationPhase.EVACUATE, MigrationPhase.AFFINITY],
            [step.phase for step in report.steps],
        )


class TestGoal(base.BaseTestCase):
    def test_its_numbers_are_what_watcher_asks_for(self):
        settings = Settings(max_migrations=3)
        report = propose.plan([crowded()], [CPU], settings, 2).report
        found = efficacy.Efficacy(goal.Calm(config=None), strategy=None)
        found.set_efficacy_indicators(**goal.Calm.indicators(report))
        found.compute_global_efficacy()
        (share,) = found.global_efficacy
        self.assertEqual(('instances_moved', 50.0), (share.name, share.value))


class TestSearch(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        searches = {**phases.SEARCHES, MigrationPhase.SPREAD: search.run}
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.engine.planning.phases.SEARCHES', searches
            )
        )

    def plan(self, settings, **more):
        snapshot = crowded(**more)
        (found,) = propose.plan([snapshot], [CPU], settings, 2).report.scopes
        faults = Judge(snapshot, [CPU], settings).faults(found)
        # What else might have helped, the oracle knows; this search need not.
        self.assertEqual([], [one for one in faults if 'step' in one])
        return found

    def test_it_plans_in_order(self):
        found = self.plan(Settings(max_migrations=20))
        self.assertEqual('v0', found.steps[0].instance)
        self.assertIs(StopReason.STUCK, found.stopped)
        self.assertEqual('each instance was looked at once', found.reason)
        self.assertLess(found.combined_after, found.combined_before)

    def test_it_keeps_within_the_budget_and_the_rules(self):
        group = ServerGroup('g', 'affinity', ['v0', 'v1', 'v2'])
        found = self.plan(Settings(max_migrations=2), groups=[group])
        self.assertEqual(['v3', 'v4'], [one.instance for one in found.steps])
        self.assertIs(StopReason.BUDGET, found.stopped)

    def test_who_stays_has_a_reason(self):
        found = self.plan(Settings(max_migrations=20))
        moved = {one.instance for one in found.steps}
        self.assertEqual(
            {f'v{number}' for number in range(6)} - moved, {*found.stayed}
        )
        for reason in found.stayed.values():
            self.assertTrue(reason.code)
