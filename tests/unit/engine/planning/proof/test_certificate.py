# SPDX-License-Identifier: Apache-2.0
"""What is certified of a plan, by what was asked for?"""

import dataclasses
import pathlib
import random
import re

import fixtures
from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.planning.proof import exact_model
from kronos.engine.planning.search.local import neighbourhood
from kronos.engine.settings import (
    PhaseSelection,
    PlanMode,
    SearchName,
    Settings,
)
from kronos.engine.types import (
    UNNOTICED,
    AggregateResult,
    Bound,
    Certificate,
    Snapshot,
)
from kronos.policies.models import Policy
from kronos.recordings import load, replay
from kronos.recordings.formats import cluster
from kronos.recordings.replay import ReplayOptions
from kronos.reports import certificates
from tests import places
from tests.builders import scopes
from tests.unit.engine.oracles import reachable

SCOPES = 40
METRIC = str(places.CLUSTERS / 'metric-2.json')
RECORDINGS = [
    *(one.parent for one in sorted(places.EXAMPLES.glob('*/meta.json'))),
    places.FIXTURES / 'recordings' / 'daemons',
    *sorted(places.CLUSTERS.glob('*.json')),
]
"""All that come with Kronos and its tests."""
FEW, MANY = 2, 5
SEARCHES = SearchName.GREEDY, SearchName.BEST
Cloud = tuple[Snapshot, list[Policy], Settings]


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

    def test_share(self) -> None:
        """Of what is possible, not of what is left."""
        for before, bound, reached, share in (
            (0.81, 0.002, 0.25, 0.56 / 0.808),
            (0.8, 0.3, 0.3, 1.0),
            (0.8, 0.3, 0.8, 0.0),
            (0.8, 0.3, 0.9, 0.0),
            (0.8, 0.8, 0.8, None),
            (0.8, 0.8, 0.9, None),
            (0.0, 0.0, 0.0, None),
        ):
            with self.subTest(before=before, bound=bound, reached=reached):
                found = Certificate(
                    1, bound, reached, Bound.EXACT, before=before
                )
                if share is None:
                    self.assertIsNone(found.share)
                else:
                    self.assertAlmostEqual(share, found.share)

    def test_proven_by_orders(self) -> None:
        found = Certificate(1, 0.3, 0.4, Bound.EXACT, is_proven=True)
        self.assertTrue(found.is_optimal)
        found.before = 0.8
        assert found.share is not None
        self.assertGreater(found.share, 0.999)


class TestAllPlans(base.BaseTestCase):
    """Is no more promised than trying all plans of small scopes shows?"""

    def test_share(self) -> None:
        shares = 0
        for seed in range(SCOPES):
            rng = random.Random(seed)
            snapshot, policies, settings = scopes.draw(rng)
            settings.max_migrations = rng.randint(1, 2)
            settings.search = rng.choice(list(SearchName))
            settings.repeat_moves = False
            simulation = reachable.begun(snapshot, policies, settings)
            if simulation is None:
                continue
            report = propose.propose([snapshot], policies, settings)
            propose.certify(report)
            found = report.scopes[0].certificate
            assert found is not None
            before = simulation.utilization.combined()
            least = reachable.lowest(simulation, settings.max_migrations)
            with self.subTest(seed=seed):
                self.assertAlmostEqual(before, found.before)
                if found.share is None:
                    self.assertAlmostEqual(before, least)
                    continue
                promised = (certificates.percent(found) or 0.0) / 100
                removed = before - report.scopes[0].combined_after
                self.assertLessEqual(
                    promised * (before - least), max(0.0, removed) + 1e-9
                )
                shares += 0.0 < promised < 1.0
        self.assertGreater(shares, SCOPES / 8)


class TestRecordings(base.BaseTestCase):
    """Is no more promised of a recording than can be seen to be reached?

    What trying all plans reaches is known of few migrations, what the
    searches reach of more. Either is no better than the best plan of all.
    """

    def setUp(self) -> None:
        super().setUp()
        # Both stop by their own count: they say the same each time.
        self.useFixture(fixtures.MockPatchObject(exact_model, 'NODES', 200))
        self.useFixture(fixtures.MockPatchObject(neighbourhood, 'ROUNDS', 5))

    def test_all_plans(self) -> None:
        for path in RECORDINGS:
            for cloud in self._spread(path, FEW):
                [snapshot, policies, settings] = cloud
                simulation = reachable.begun(snapshot, policies, settings)
                assert simulation is not None
                least = reachable.lowest(simulation, FEW)
                for search in SEARCHES:
                    self._look(self._planned(cloud, search), least)

    def test_all_searches(self) -> None:
        for path in RECORDINGS:
            for cloud in self._spread(path, MANY):
                ends = [self._planned(cloud, search) for search in SEARCHES]
                least = min(one.combined_after for one in ends)
                for result in ends:
                    self._look(result, least)

    def _spread(self, path: pathlib.Path, moves: int) -> list[Cloud]:
        """The scopes of a recording, to be spread and nothing else."""
        recording = load.read(str(path))
        scopes = [one.name for one in recording.gathered.cloud.aggregates]
        options = ReplayOptions(
            mode='spread',
            convert_policies=True,
            exhaust=True,
            max_migrations=moves,
            scopes=scopes if recording.request.chosen else [],
        )
        found = replay.cycle(recording, options)
        settings = dataclasses.replace(
            found.settings,
            evacuate=False,
            enforce_hard_affinity=False,
            enforce_soft_affinity=False,
        )
        return [(one, found.policies, settings) for one in found.snapshots]

    def _planned(self, cloud: Cloud, search: SearchName) -> AggregateResult:
        snapshot, policies, settings = cloud
        settings = dataclasses.replace(settings, search=search)
        report = propose.propose([snapshot], policies, settings)
        propose.certify(report)
        return report.scopes[0]

    def _look(self, result: AggregateResult, least: float) -> None:
        """Whether the percentage of the sentence is not above the truth.

        :param least: combined imbalance that can be reached
        """
        found = result.certificate
        assert found is not None
        self.assertEqual(result.combined_before, found.before)
        if found.is_optimal:
            self.assertLess(found.reached, least + 2 * UNNOTICED)
            return
        [percent, *_] = re.findall(
            r'at least ([\d.]+) %', certificates.sentence(found)
        )
        removed = found.before - found.reached
        promised = float(percent) / 100 * (found.before - least)
        self.assertLessEqual(promised, removed + 1e-9, result.name)
