# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/source/contributor/plugins.rst do what it says.

The strategy is tried in a real Watcher, by the functional tests.
"""

import fixtures
from oslotest import base
from watcher.decision_engine.solution import efficacy

from kronos.common import exceptions
from kronos.engine.planning import propose
from kronos.engine.settings import (
    PHASES_OF_MODE,
    PhaseSelection,
    PlanMode,
    Settings,
)
from kronos.engine.types import MigrationPhase, ServerGroup, StopReason
from kronos.options import planning
from kronos.recordings import load, replay
from kronos.reports import document
from kronos.snapshots import settings_from_conf
from tests import places
from tests.builders import packages, recordings, scopes
from tests.builders.scopes import policy, vm
from tests.unit.engine.oracles.legality import Judge
from tests.unit.examples import goal, mixture, strategy
from tests.unit.strategies import declared

CPU = policy('cpu', threshold=0.1)
EXAMPLE = places.TOP / 'tests' / 'unit' / 'examples' / 'search.py'


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
        self.useFixture(
            packages.Package(
                'your_package',
                EXAMPLE.read_text(),
                {planning.SEARCHES: {'in_order': 'InOrder'}},
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
        found = self.plan(Settings(max_migrations=20, search='in_order'))
        self.assertEqual('v0', found.steps[0].instance)
        self.assertIs(StopReason.STUCK, found.stopped)
        self.assertEqual('in_order', found.search)
        self.assertLess(found.combined_after, found.combined_before)

    def test_it_keeps_within_the_budget_and_the_rules(self):
        group = ServerGroup('g', 'affinity', ['v0', 'v1', 'v2'])
        found = self.plan(
            Settings(max_migrations=2, search='in_order'), groups=[group]
        )
        self.assertEqual(['v3', 'v4'], [one.instance for one in found.steps])
        self.assertIs(StopReason.BUDGET, found.stopped)

    def test_who_stays_has_a_reason(self):
        found = self.plan(Settings(max_migrations=20, search='in_order'))
        moved = {one.instance for one in found.steps}
        self.assertEqual(
            {f'v{number}' for number in range(6)} - moved, {*found.stayed}
        )
        for reason in found.stayed.values():
            self.assertTrue(reason.code)

    def test_an_operator_may_choose_it(self):
        kronos = declared.kronos(search='in_order')
        found = settings_from_conf.settings_of(kronos)
        self.assertEqual('in_order', found.search)
        found = settings_from_conf.default_settings()
        settings_from_conf.override(found, 'search', 'in_order')
        self.assertEqual('in_order', found.search)
        self.assertRaises(
            ValueError, settings_from_conf.override, found, 'search', 'other'
        )

    def test_it_is_recorded_and_replayed(self):
        recording = recordings.small()
        recording.settings.search = 'in_order'
        path = f'{self.useFixture(fixtures.TempDir()).path}/recording'
        load.write(path, recording)
        again = replay.replay(load.read(path), replay.ReplayOptions())
        self.assertEqual('in_order', again.report.scopes[0].search)
        row = document.settings(again.settings)
        self.assertEqual('in_order', row['search'])


class TestMissingSearch(base.BaseTestCase):
    """Its package is not installed, or no more."""

    def test_a_configuration(self):
        self.assertRaises(ValueError, declared.kronos, search='in_order')

    def test_a_recording(self):
        recording = recordings.small()
        recording.settings.search = 'in_order'
        path = f'{self.useFixture(fixtures.TempDir()).path}/recording'
        load.write(path, recording)
        error = self.assertRaises(exceptions.ArchiveError, load.read, path)
        self.assertIn(
            'search: must be one of greedy, best, optimal', str(error)
        )

    def test_a_plan(self):
        error = self.assertRaises(
            exceptions.ConfigurationError,
            propose.plan,
            [crowded()],
            [CPU],
            Settings(search='in_order'),
            2,
        )
        self.assertIn('there is no search "in_order"', str(error))
