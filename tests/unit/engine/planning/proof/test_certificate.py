# SPDX-License-Identifier: Apache-2.0
"""What is certified of a plan, by what was asked for?"""

import fixtures
from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.planning.proof import exact_model
from kronos.engine.settings import (
    PhaseSelection,
    PlanMode,
    SearchName,
    Settings,
)
from kronos.engine.types import Bound, Certificate
from kronos.recordings.formats import cluster
from tests import places

METRIC = str(places.FIXTURES / 'clusters' / 'metric-2.json')


class TestCertificate(base.BaseTestCase):
    def _of(self, search: SearchName, **more: object) -> Certificate | None:
        found = cluster.read(METRIC)
        settings = Settings(
            max_migrations=2, exhaust=True, search=search, **more
        )
        report = propose.propose([found.snapshot], found.policies, settings)
        propose.certify(report)
        scope = report.scopes[0]
        certificate = scope.certificate
        if certificate is not None:
            self.assertEqual(scope.combined_after, certificate.reached)
            self.assertEqual(2, certificate.migrations)
            self.assertLessEqual(certificate.bound, certificate.reached)
        return certificate

    def test_counting(self) -> None:
        """The greedy search asks no solver."""
        found = self._of(SearchName.GREEDY)
        assert found is not None
        self.assertIs(Bound.COUNTING, found.found_by)
        self.assertLess(0.3, found.bound)

    def test_solver(self) -> None:
        counted = self._of(SearchName.GREEDY)
        found = self._of(SearchName.BEST)
        assert found is not None and counted is not None
        self.assertIs(Bound.EXACT, found.found_by)
        self.assertGreater(found.bound, counted.bound)
        self.assertLess(found.gap, 0.15)

    def test_what_is_asked_again(self) -> None:
        """No solver: a question "what if" is about the plan alone."""
        found = cluster.read(METRIC)
        settings = Settings(max_migrations=2, search=SearchName.BEST)
        report = propose.propose([found.snapshot], found.policies, settings)
        certificate = report.scopes[0].certificate
        assert certificate is not None
        self.assertIs(Bound.COUNTING, certificate.found_by)

    def test_no_solver(self) -> None:
        self.useFixture(
            fixtures.MockPatchObject(exact_model, 'solver', return_value=None)
        )
        found = self._of(SearchName.BEST)
        assert found is not None
        self.assertIs(Bound.COUNTING, found.found_by)

    def test_too_large(self) -> None:
        found = self._of(SearchName.BEST, optimal_limit=599)
        assert found is not None
        self.assertIs(Bound.COUNTING, found.found_by)

    def test_nothing_is_spread(self) -> None:
        settings = Settings()
        settings.set_mode(PlanMode.EVACUATE, PhaseSelection())
        found = cluster.read(METRIC)
        report = propose.propose([found.snapshot], found.policies, settings)
        self.assertIsNone(report.scopes[0].certificate)


class TestGap(base.BaseTestCase):
    def test_gap(self) -> None:
        for bound, reached, gap, is_optimal in (
            (0.3, 0.4, 0.25, False),
            (0.4, 0.4, 0.0, True),
            (0.39995, 0.4, 0.000125, True),
            (0.0, 0.0, 0.0, True),
        ):
            with self.subTest(bound=bound, reached=reached):
                found = Certificate(1, bound, reached, Bound.EXACT)
                self.assertAlmostEqual(gap, found.gap)
                self.assertEqual(is_optimal, found.is_optimal)

    def test_proven_by_orders(self) -> None:
        found = Certificate(1, 0.3, 0.4, Bound.EXACT, is_proven=True)
        self.assertTrue(found.is_optimal)
