# SPDX-License-Identifier: Apache-2.0
"""Is a new constraint one class and two lines?

An example to start from: large instances do not go to small sites. The class
is what would be a file of ``engine/constraints``; the lines are those of
``constraint_set.CONSTRAINTS`` and of ``reasons.Code``. The planner obeys it,
the explanation names it and lifts it, by nothing else.
"""

from typing import Any, Self

import fixtures
import numpy as np
from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.explain import (
    counterfactual,
    relaxations,
    remedies,
    why_not,
)
from kronos.engine.planning import propose
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import PlanningInput
from tests.builders.scopes import PLAIN, policy, scope, vm


def code(value: str, means: str, remedy: str) -> Code:
    """A line of ``Code``: no enum takes a member once it is made."""
    made: Any = str.__new__(Code, value)
    made._name_, made._value_ = value.upper(), value
    made.means, made.remedy = means, remedy
    found: Code = made
    return found


TOO_LARGE = code(
    'site_too_small',
    'The instance is too large for the site of the host.',
    'Choose a host of a large site.',
)
SITE = 'edge'
LARGE_MB = 4096


class SmallSites(Constraint):
    """No instance of 4 GiB or more goes to a host in the zone ``edge``.

    :param memory_mb: [V]
    :param zones: [H]
    """

    codes = frozenset({TOO_LARGE})

    def __init__(self, memory_mb: list[int], zones: list[str]) -> None:
        super().__init__(len(memory_mb), len(zones))
        self._memory_mb = memory_mb
        self._zones = zones

    @classmethod
    def build(cls, given: ConstraintInput) -> Self:
        return cls(
            [one.memory_mb for one in given.instances],
            [one.availability_zone for one in given.hosts],
        )

    def why_not(self, instance: int, host: int) -> Reason | None:
        memory = self._memory_mb[instance]
        if self._zones[host] != SITE or memory < LARGE_MB:
            return None
        return Reason(f'its {memory} MiB are too many there', TOO_LARGE)

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: edits.Pair
    ) -> PlanningInput:
        return edits.with_host(case, pair.destination, availability_zone='')


class TestNewConstraint(base.BaseTestCase):
    """v would go from a (0.8) to b (0.3), the best; c (0.5) is the next."""

    def setUp(self) -> None:
        super().setUp()
        policies = [policy('cpu', threshold=0.1)]
        hosts = {'a': [0.8], 'b': [0.3], 'c': [0.5]}
        large = vm('v', 'a', [0.2], memory_mb=8192)
        snapshot = scope(policies, hosts, [large])
        snapshot.hosts['b'].availability_zone = SITE
        settings = Settings(**PLAIN, max_migrations=1)
        self.case = PlanningInput(snapshot, policies, settings)

    def _add(self) -> None:
        """The line in the table."""
        self.useFixture(
            fixtures.MockPatchObject(
                constraint_set,
                'CONSTRAINTS',
                (*constraint_set.CONSTRAINTS, SmallSites),
            )
        )

    def _steps(self, case: PlanningInput) -> list[tuple[str, str]]:
        report = propose.propose([case.snapshot], case.policies, case.settings)
        [result] = report.scopes
        return [(one.instance, one.destination) for one in result.steps]

    def test_the_planner_obeys_it(self) -> None:
        self.assertEqual([('v', 'b')], self._steps(self.case))
        self._add()
        self.assertEqual([('v', 'c')], self._steps(self.case))
        self.case.snapshot.instances['v'].memory_mb = 1024
        self.assertEqual([('v', 'b')], self._steps(self.case))

    def test_the_explanation_names_it(self) -> None:
        self._add()
        why = why_not.Explainer(self.case, propose.plan_again(self.case))
        verdict = why.verdict('v', 'b')
        self.assertIs(TOO_LARGE, verdict.code)
        self.assertEqual('its 8192 MiB are too many there', verdict.text)
        [reason] = verdict.reasons
        self.assertEqual(
            'Choose a host of a large site.',
            remedies.of_reason(self.case, verdict, reason).text,
        )

    def test_the_explanation_lifts_it(self) -> None:
        """The real planner says what the plan is then."""
        self.assertFalse(relaxations.can_lift(TOO_LARGE))
        self._add()
        self.assertTrue(relaxations.can_lift(TOO_LARGE))
        result = propose.plan_again(self.case)
        verdict = why_not.Explainer(self.case, result).verdict('v', 'b')
        verdict = counterfactual.minimal(self.case, result, verdict)
        lifted = counterfactual.relaxed(self.case, verdict)
        self.assertEqual(
            [], counterfactual.still_against(lifted, result, verdict)
        )
        self.assertEqual([('v', 'b')], self._steps(lifted))

    def test_masks_come_by_themselves(self) -> None:
        constraint = SmallSites([1024, 8192], ['', SITE])
        self.assertEqual(
            [[True, True], [True, False]],
            constraint.rows(np.arange(2)).tolist(),
        )
        self.assertEqual([True, False], constraint.column(1).tolist())
