# SPDX-License-Identifier: Apache-2.0
"""Is the lowest plan found, in a legal order, and is it told why not?"""

import random

import fixtures
from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.planning.proof import exact_model
from kronos.engine.settings import SearchName, Settings, VetoReference
from kronos.engine.types import AggregateResult, Headroom, Snapshot
from kronos.policies.models import Policy
from tests.builders import scopes
from tests.unit.engine.oracles import legality, reachable

SCOPES = 25


def planned(
    snapshot: Snapshot, policies: list[Policy], settings: Settings
) -> AggregateResult:
    return propose.propose([snapshot], policies, settings).scopes[0]


class TestEveryScope(base.BaseTestCase):
    def test_lowest(self) -> None:
        """What is proven is what trying all moves finds; all is legal."""
        proven = 0
        for seed in range(SCOPES):
            rng = random.Random(seed)
            snapshot, policies, settings = scopes.draw(rng)
            settings.max_migrations = rng.randint(1, 2)
            settings.repeat_moves = False
            settings.exhaust = True
            settings.search = SearchName.OPTIMAL
            simulation = reachable.begun(snapshot, policies, settings)
            if simulation is None:
                continue
            result = planned(snapshot, policies, settings)
            judge = legality.Judge(snapshot, policies, settings)
            certificate = result.certificate
            assert certificate is not None
            with self.subTest(seed=seed):
                self.assertEqual([], judge.faults(result))
                least = reachable.lowest(simulation, settings.max_migrations)
                self.assertLessEqual(certificate.bound, least + 1e-9)
                self.assertEqual(
                    result.warnings,
                    planned(snapshot, policies, settings).warnings,
                )
                if certificate.gap < 1e-3:
                    self.assertLess(result.combined_after, least + 1e-3)
            proven += certificate.is_optimal
        self.assertGreater(proven, SCOPES / 2)


class TestOrder(base.BaseTestCase):
    """The two that change their hosts have room in neither order."""

    def setUp(self) -> None:
        super().setUp()
        self.cpu = scopes.policy('cpu', threshold=0.01)
        vms = [
            scopes.vm('one', 'a', [0.5], memory_mb=2048),
            scopes.vm('two', 'b', [0.1], memory_mb=2048),
            scopes.vm('few', 'a', [0.1], memory_mb=512),
        ]
        hosts = {'a': [0.9], 'b': [0.1], 'c': [0.5]}
        self.snapshot = scopes.scope([self.cpu], hosts, vms)
        for name, free in (('a', 0), ('b', 512), ('c', 0)):
            room = {'MEMORY_MB': Headroom(8192, 8192 - free)}
            self.snapshot.hosts[name].headroom = room

    def plan(self, **more: object) -> AggregateResult:
        settings = Settings(
            max_migrations=2,
            exhaust=True,
            search=SearchName.OPTIMAL,
            **more,
        )
        return planned(self.snapshot, [self.cpu], settings)

    def test_what_no_order_leads_to(self) -> None:
        """The exchange of the large ones would leave 0."""
        for reference in VetoReference:
            with self.subTest(reference=reference):
                result = self.plan(veto_reference=reference)
                self.assertEqual(
                    [('few', 'b')],
                    [(one.instance, one.destination) for one in result.steps],
                )
                found = result.certificate
                assert found is not None
                self.assertTrue(found.is_optimal)
                self.assertLess(found.bound, 0.5)
                self.assertEqual('optimal', result.search)
                self.assertEqual([], result.warnings)


class TestFallback(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cpu = scopes.policy('cpu', threshold=0.1)
        vms = [scopes.vm('one', 'a', [0.4]), scopes.vm('two', 'a', [0.1])]
        hosts = {'a': [0.9], 'b': [0.1], 'c': [0.5]}
        self.snapshot = scopes.scope([self.cpu], hosts, vms)
        self.settings = Settings(max_migrations=1, search=SearchName.OPTIMAL)

    def assert_best(self, why: str) -> None:
        result = planned(self.snapshot, [self.cpu], self.settings)
        self.assertEqual('best', result.search)
        self.assertEqual('one', result.steps[0].instance)
        self.assertEqual(
            [f'search is optimal, but best made the plan: {why}'],
            result.warnings,
        )

    def test_not_installed(self) -> None:
        self.useFixture(
            fixtures.MockPatchObject(exact_model, 'solver', return_value=None)
        )
        self.assert_best('scipy is not installed (the extra "optimal")')

    def test_too_large(self) -> None:
        self.settings.optimal_limit = 5
        self.assert_best(
            '2 instances on 3 hosts are 6 pairs, and optimal_limit is 5'
        )

    def test_balanced(self) -> None:
        self.assert_best('it brings all policies within their thresholds')
