# SPDX-License-Identifier: Apache-2.0
"""Is every answer of why-not true of the planner itself? (hypothesis)"""

import random
from collections import Counter
from typing import Any

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.engine.explain import counterfactual, scenario, why_not
from kronos.engine.explain.relaxations import can_lift
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    Rest,
    StopReason,
)
from kronos.policies.models import Mode
from tests.builders import stuck_ends, trouble
from tests.unit.engine.oracles.ledger import Ledger
from tests.unit.engine.planning.test_properties import (
    FEW_NODES,
    FEW_ROUNDS,
    NODES,
    ROUNDS,
    Cloud,
    clouds,
)

SAME = 1e-9
SOME = hypothesis.settings(
    max_examples=150,
    derandomize=True,
    database=None,
)
OF_POLICIES = (Code.SCOPE_NO_POLICY, Code.INSTANCE_NO_PROFILE)
STUCK = 20
LIFTED = 4
"""So many pairs of a cloud are lifted one by one."""


@st.composite
def troubled(draw: Any) -> tuple[Cloud, random.Random]:
    """A cloud in which, most often, much is wrong, and a lot."""
    cloud = draw(clouds())
    rng = random.Random(draw(st.integers(0, 2**32)))
    if rng.random() < 0.7:
        cloud = trouble.spoil(cloud, rng)
    if rng.random() < 0.3:
        cloud[0].events += trouble.stuck(cloud[0], rng)
    return cloud, rng


class Answered:
    """All the answers about a cloud of one scope."""

    def __init__(self, cloud: Cloud) -> None:
        snapshot, policies, settings = cloud
        report = propose([snapshot], policies, settings)
        [self.case] = scenario.cases([snapshot], policies, settings, report)
        [self.result] = report.scopes
        self.why = why_not.Explainer(self.case, self.result)
        self.verdicts = self.why.verdicts(
            sorted(snapshot.instances), sorted(snapshot.hosts)
        )


class Numbers(Ledger):
    """The combined imbalance before and after a move. Plain Python."""

    def gain(
        self, result: AggregateResult, verdict: Verdict, of_rest: bool
    ) -> float:
        self._counting = [
            host
            for host in self._snapshot.hosts
            if host not in result.unavailable_hosts
        ]
        for step in result.steps[: verdict.after]:
            self._make(step)
        rest = result.rest if of_rest else None
        before = self._combined(result, rest)
        self._shift_scores(
            verdict.instance, verdict.source, verdict.destination
        )
        return before - self._combined(result, rest)

    def _combined(self, result: AggregateResult, rest: Rest | None) -> float:
        return sum(
            one.weight
            * self._imbalance(one.name, rest.hosts(one.name) if rest else [])
            for one in result.policies
            if not one.skipped
        )


def _is_balanced(result: AggregateResult, verdict: Verdict) -> bool:
    """Whether the hosts are within all thresholds that a pair is about."""
    if not verdict.of_rest:
        return result.stopped is StopReason.BALANCED
    assert result.rest is not None
    after = result.rest.imbalance_after
    return all(
        after[one.name] <= one.threshold + SAME
        for one in result.policies
        if not one.skipped
    )


class TestEveryAnswer(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(ROUNDS, FEW_ROUNDS))
        self.useFixture(fixtures.MonkeyPatch(NODES, FEW_NODES))

    @SOME
    @hypothesis.given(troubled())
    def test_each_pair_has_one_code(self, drawn: Any) -> None:
        """Every instance and host, the chosen ones as chosen."""
        snapshot = drawn[0][0]
        found = Answered(drawn[0])
        pairs = Counter(
            (one.instance, one.destination) for one in found.verdicts
        )
        self.assertEqual(
            {(u, h): 1 for u in snapshot.instances for h in snapshot.hosts},
            pairs,
        )
        chosen = {(s.instance, s.destination) for s in found.result.steps}
        self.assertEqual(
            chosen,
            {
                (one.instance, one.destination)
                for one in found.verdicts
                if one.code is Code.PLANNED
            },
        )
        self.assertTrue(all(one.text for one in found.verdicts))

    @SOME
    @hypothesis.given(troubled())
    def test_lifting_all_and_no_less_makes_it_legal(self, drawn: Any) -> None:
        cloud, rng = drawn
        found = Answered(cloud)
        forbidden = [
            one
            for one in found.verdicts
            if one.reasons and one.code is not Code.ALREADY_THERE
        ]
        for one in rng.sample(forbidden, min(LIFTED, len(forbidden))):
            code = one.code
            one = counterfactual.minimal(found.case, found.result, one)
            self.assertEqual(code, one.reasons[0].code)
            # What else is lifted may change which policies are used.
            first = 1 if code in OF_POLICIES and one.also else 0
            for reason in one.reasons[first:]:
                self.assertTrue(reason.code and can_lift(reason.code))
                left = counterfactual.relaxed(found.case, one, reason)
                self.assertNotEqual(
                    [],
                    counterfactual.still_against(left, found.result, one),
                    (reason.code, one),
                )
            freed = counterfactual.relaxed(found.case, one)
            self.assertEqual(
                [], counterfactual.still_against(freed, found.result, one), one
            )

    @SOME
    @hypothesis.given(troubled())
    def test_what_no_rule_forbids_is_legal(self, drawn: Any) -> None:
        """As it is, with nothing lifted."""
        cloud, rng = drawn
        found = Answered(cloud)
        legal = [
            one
            for one in found.verdicts
            if not one.reasons and one.code is not Code.PLANNED
        ]
        for one in rng.sample(legal, min(LIFTED, len(legal))):
            self.assertEqual(
                [],
                counterfactual.still_against(found.case, found.result, one),
                one,
            )

    @SOME
    @hypothesis.given(clouds())
    def test_the_gains_are_right(self, cloud: Cloud) -> None:
        """The numbers of a pair, and what each code claims of them."""
        found = Answered(cloud)
        rng = random.Random(len(found.verdicts))
        # Without some reasons other hosts would count, or other loads.
        other = 'host_', 'scope_', 'instance_'
        known = [
            one
            for one in found.verdicts
            if one.gain is not None
            and not any(
                reason.code and reason.code.startswith(other)
                for reason in one.reasons
            )
        ]
        for one in rng.sample(known, min(2 * LIFTED, len(known))):
            gain = Numbers(*cloud).gain(found.result, one, one.of_rest)
            self.assertAlmostEqual(gain, one.gain or 0.0, 9, str(one))
        spread = cloud[1][0].mode is Mode.SPREAD
        least = cloud[2].min_gain if found.result.search == 'best' else 0.0
        for one in found.verdicts if spread else []:
            self._claim(one, found.result, least)

    def test_beside_stuck_hosts(self) -> None:
        """What helps the others, and not the whole, is not called useless."""
        codes = Counter[tuple[Code, bool]]()
        for seed in range(STUCK):
            cloud = stuck_ends.draw(seed)
            found = Answered(cloud)
            assert found.result.rest is not None
            moved = {step.instance for step in found.result.steps}
            for one in found.verdicts:
                if one.reasons or one.instance in moved:
                    continue
                self._claim(one, found.result, cloud[2].min_gain)
                whole, of_rest = (
                    Numbers(*cloud).gain(found.result, one, is_of_rest)
                    for is_of_rest in (False, True)
                )
                helps = of_rest > SAME and whole >= -SAME
                self.assertEqual(helps, (one.gain or 0.0) > SAME, str(one))
                codes[one.code, helps] += 1
        self.assertLess(9, codes[Code.SCOPE_BALANCED, True])
        self.assertLess(4, codes[Code.BETTER_MOVE, False])

    def _claim(
        self, one: Verdict, result: AggregateResult, least: float
    ) -> None:
        gain = one.gain or 0.0
        if one.code in (Code.NO_GAIN, Code.BETTER_MOVE):
            self.assertLessEqual(gain, least + SAME)
        if one.code is Code.SCOPE_BALANCED:
            self.assertGreater(gain, SAME)
            self.assertTrue(_is_balanced(result, one))
        if one.code is Code.NEXT_AUDIT:
            self.assertGreater(gain, SAME)
            self.assertTrue(result.rest and not one.of_rest)
        if one.code is Code.BUDGET_USED and one.phase is MigrationPhase.SPREAD:
            self.assertGreater(gain, SAME)
            self.assertIs(StopReason.BUDGET, result.stopped)
        if one.code is Code.BETTER_DESTINATION:
            step = result.steps[(one.better or 0) - 1]
            self.assertEqual(one.instance, step.instance)
            if one.phase is not MigrationPhase.SPREAD:
                return
            if result.search != 'greedy':
                # There what counts is the plan as a whole.
                return
            fell = step.gain
            self.assertGreater(fell, gain - SAME, one)
