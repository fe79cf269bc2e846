# SPDX-License-Identifier: Apache-2.0
"""Are hosts planned whose ends nothing can be done about?

By lot, and against the lowest that any legal moves lead to.
"""

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.planning.proof import exact_model
from kronos.engine.settings import SearchName, UnexplainedLoad, VetoReference
from kronos.engine.types import AggregateResult, StopReason
from tests.builders import spreading, stuck_ends
from tests.unit.engine.oracles.helped import Helped, Placement

CASES = 16
"""All of the first 200 were looked at by hand."""
ENOUGH = 0.02
MOVES = 4
SAME = 1e-6


def planned(**more: object) -> AggregateResult:
    snapshot, policies, settings = stuck_ends.zone_beside_a_zone()
    for name, value in more.items():
        setattr(settings, name, value)
    report = propose.propose([snapshot], policies, settings)
    propose.certify(report)
    return report.scopes[0]


class TestBesideStuckHosts(base.BaseTestCase):
    def test_each_search(self) -> None:
        for search in SearchName:
            result = planned(search=search)
            self.assertEqual(
                [('b1', 'b2')] * 3,
                [(one.source, one.destination) for one in result.steps],
            )
            rest = result.rest
            assert rest is not None and rest.certificate is not None
            self.assertAlmostEqual(0.6, rest.imbalance_before['cpu'])
            self.assertAlmostEqual(0.0, rest.imbalance_after['cpu'])
            self.assertAlmostEqual(0.78, result.combined_after)
            self.assertTrue(rest.certificate.is_optimal)
            self.assertIs(StopReason.STUCK, result.stopped)
            self.assertIn(
                'cpu: no migration helps dc1-0, dc1-1 (highest) and t1 '
                '(lowest); the other 2 hosts are within 0.000 of each other '
                '(<= 0.15)',
                result.reason,
            )

    def test_what_servers_hardly_leave_unexplained(self) -> None:
        """Six servers explain .6 of .7: the rest stays with its host."""
        result = planned(
            unexplained_load=UnexplainedLoad.FOLLOWS, min_plan_gain=0.04
        )
        self.assertEqual(3, len(result.steps))

    def test_initial(self) -> None:
        result = planned(veto_reference=VetoReference.INITIAL)
        self.assertEqual(3, len(result.steps))

    def test_the_budget(self) -> None:
        result = planned(max_migrations=2)
        self.assertEqual(2, len(result.steps))
        self.assertIs(StopReason.BUDGET, result.stopped)
        assert result.rest is not None
        self.assertAlmostEqual(0.2, result.rest.imbalance_after['cpu'])

    def test_the_literal_rule(self) -> None:
        result = planned(plateau_moves=False)
        self.assertEqual([], result.steps)
        self.assertIsNone(result.rest)

    def test_nothing_is_left_to_do(self) -> None:
        """The report says so all the same."""
        snapshot, policies, settings = stuck_ends.zone_beside_a_zone()
        for one in policies:
            one.threshold = 0.7
        report = propose.propose([snapshot], policies, settings)
        [result] = report.scopes
        self.assertEqual([], result.steps)
        assert result.rest is not None
        self.assertIsNone(result.rest.certificate)


class TestByLot(base.BaseTestCase):
    def test_a_plan_wherever_one_helps(self) -> None:
        for seed in range(CASES):
            self._look(seed)

    def _look(self, seed: int) -> None:
        snapshot, policies, settings = stuck_ends.draw(seed)
        simulation = spreading.simulation(snapshot, policies, settings)
        assert simulation is not None
        every = Helped(simulation)
        rests = [every.rest(p, every.start) for p in range(len(policies))]
        report = propose.propose([snapshot], policies, settings)
        propose.certify(report)
        [result] = report.scopes
        index = simulation.utilization.index
        at = list(every.start)
        for one in result.steps:
            at[index.instance[one.instance]] = index.host[one.destination]
        end = tuple(at)
        before = every.combined(every.start, rests)
        if every.lowest(rests, MOVES) < before - ENOUGH:
            self.assertLess(every.combined(end, rests), before, seed)
        self._is_no_worse(every, end, seed)
        self._certificate(every, result, seed)

    def _is_no_worse(self, every: Helped, end: Placement, seed: int) -> None:
        hosts = set(range(len(every.scores(0, end))))
        for p, threshold in enumerate(every.thresholds):
            most = max(every.width(p, every.start, hosts), threshold)
            self.assertLess(every.width(p, end, hosts), most + SAME, seed)

    def _certificate(
        self, every: Helped, result: AggregateResult, seed: int
    ) -> None:
        rest = result.rest
        if rest is None or rest.certificate is None or rest.after:
            return
        self.assertIsNotNone(exact_model.solver())
        hosts = sorted(one.host for one in result.policies[0].scores)
        rests = [
            {at for at, name in enumerate(hosts) if name not in aside}
            for aside in (rest.hosts(one.name) for one in result.policies)
        ]
        moves = min(MOVES, rest.certificate.migrations)
        lowest = every.lowest(rests, moves)
        self.assertLess(rest.certificate.bound, lowest + SAME, seed)
        if rest.certificate.is_proven:
            self.assertLess(
                rest.certificate.reached, lowest + 100 * SAME, seed
            )
