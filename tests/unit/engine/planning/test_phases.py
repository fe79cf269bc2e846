# SPDX-License-Identifier: Apache-2.0
"""The phases of a scope: which run, in which order, and by which search."""

import itertools

from oslotest import base

from kronos.actions import live_migrate
from kronos.engine import phase_rules
from kronos.engine.explain import alternatives
from kronos.engine.planning import phases
from kronos.engine.planning.phases import PhaseRunner, Prepared
from kronos.engine.planning.propose import propose
from kronos.engine.planning.scope_planner import ScopePlanner
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import MigrationPhase, PlanningInput
from kronos.reports.html import view
from tests.builders import scopes
from tests.builders.scopes import policy, vm

EVACUATE, AFFINITY = MigrationPhase.EVACUATE, MigrationPhase.AFFINITY
SPREAD, PACK = MigrationPhase.SPREAD, MigrationPhase.PACK


def runner(settings: Settings, mode: str = 'spread') -> PhaseRunner:
    """Of three hosts, of which c is disabled."""
    cpu = policy('cpu', mode=mode, capacity_query='up')
    hosts = {'a': [0.6], 'b': [0.1], 'c': [0.1]}
    vms = [vm('v0', 'a', [0.3]), vm('v1', 'a', [0.3]), vm('v2', 'c', [0.1])]
    snapshot = scopes.scope([cpu], hosts, vms)
    assert snapshot.services is not None
    snapshot.services['c'].status = 'disabled'
    for one in snapshot.readings.values():
        one.capacity = one.imbalance
    scope = ScopePlanner(PlanningInput(snapshot, [cpu], settings)).scope
    assert isinstance(scope, Prepared)
    return scope.phases()


class TestEachPhase(base.BaseTestCase):
    """It stands wherever a phase has to be known."""

    def test_places(self) -> None:
        every = [*MigrationPhase]
        self.assertEqual(every, [*phase_rules.TABLE])
        self.assertEqual(every, [*phases.SEARCHES])
        self.assertEqual(every, [*alternatives.QUESTIONS])
        action = live_migrate.LiveMigrate(None).schema['properties']
        self.assertEqual(every, action['phase']['enum'])
        self.assertEqual({*every}, {*view._PHASES})


class TestOrder(base.BaseTestCase):
    def test_what_is_asked_for_runs(self) -> None:
        """Evacuation, then repair, then spread or pack."""
        for evacuate, enforce, rebalance in itertools.product(
            (False, True), repeat=3
        ):
            for mode, last in (('spread', SPREAD), ('pack', PACK)):
                settings = Settings(
                    evacuate=evacuate,
                    enforce_hard_affinity=enforce,
                    rebalance=rebalance,
                )
                wanted = [
                    *([EVACUATE] if evacuate else []),
                    *([AFFINITY] if enforce else []),
                    *([last] if rebalance else []),
                ]
                self.assertEqual(wanted, runner(settings, mode).order())

    def test_each_ends_with_a_stage(self) -> None:
        one = runner(Settings(evacuate=True, require_headroom=False))
        simulation = one.run(10)
        self.assertEqual(
            ['evacuate', 'spread'], [stage.name for stage in one.stages]
        )
        self.assertEqual(
            len(simulation.steps), sum(stage.count for stage in one.stages)
        )
        self.assertEqual(2, len(one.ends))


class TestLimit(base.BaseTestCase):
    def test_only_balance_is_limited(self) -> None:
        """A drain has its move, whatever earlier plans did."""
        settings = Settings(
            evacuate=True,
            require_headroom=False,
            use_effect=EffectUse.LIMIT,
            canary_moves=0,
        )
        of_plan = runner(settings)
        simulation = of_plan.run(10)
        self.assertEqual([EVACUATE], [each.phase for each in simulation.steps])
        self.assertEqual(10, simulation.budget)
        self.assertIn('are measured (0)', of_plan.effect_limit)

    def test_reasons_name_it(self) -> None:
        """Not the budget of the plan, which has some left."""
        limited = {'use_effect': EffectUse.LIMIT, 'canary_moves': 0}
        text = 'the limit of 0 migrations by canary_moves is used'
        cpu = policy('cpu', threshold=0.1)
        vms = [vm('v', 'a', [0.3])]
        snapshot = scopes.scope([cpu], {'a': [0.6], 'b': [0.1]}, vms)
        (result,) = propose(
            [snapshot], [cpu], Settings(max_migrations=5, **limited)
        ).scopes
        self.assertIn(text, result.reason)
        self.assertIn(result.effect_limit, result.warnings)

    def test_the_smaller_limit(self) -> None:
        settings = Settings(use_effect=EffectUse.LIMIT, canary_moves=3)
        for budget, canary in ((None, 3), (4, 3), (3, None), (2, None)):
            of_plan = runner(settings)
            simulation = of_plan.simulation(budget)
            of_plan.begin(simulation, SPREAD)
            of_plan._limit(simulation)
            self.assertEqual(min(budget or 3, 3), simulation.budget)
            self.assertEqual(canary, simulation.canary)
            self.assertEqual(
                canary is None, simulation.limit('2') == 'budget of 2'
            )


class TestWhoMayMove(base.BaseTestCase):
    def test_by_the_row_of_the_phase(self) -> None:
        one = runner(Settings(evacuate=True))
        names = one.utilization.index.instances
        for phase, wanted in (
            (EVACUATE, {'v2'}),
            (AFFINITY, {'v0', 'v1', 'v2'}),
            (SPREAD, {'v0', 'v1'}),
            (PACK, {'v0', 'v1'}),
        ):
            simulation = one.simulation(None)
            one.begin(simulation, phase)
            movable = {
                name
                for name, may in zip(names, simulation.movable, strict=True)
                if may
            }
            self.assertEqual(wanted, movable, phase)
