# SPDX-License-Identifier: Apache-2.0
"""What does the planner have against a move in a changed case?"""

from oslotest import base

from kronos.engine.explain import counterfactual
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    PlanningInput,
)
from tests.unit.engine.planning import test_relieve


class TestCooldown(base.BaseTestCase):
    def test_a_relief_alone_does_not_wait(self) -> None:
        """A host is overfull, so the scope is planned in its cooldown."""
        snapshot = test_relieve.scope({'a': [0.5, 0.45], 'b': [0.1]})
        snapshot.events = [
            Event(
                'b0',
                'c',
                'b',
                Outcome.MOVED,
                snapshot.taken_at,
                Origin.NOVA,
            )
        ]
        policies = [test_relieve.policy()]
        case = PlanningInput(
            snapshot, policies, Settings(cooldown_seconds=600.0)
        )
        [result] = propose.propose([snapshot], policies, case.settings).scopes
        for phase, codes in (
            (MigrationPhase.PACK, [Code.SCOPE_COOLDOWN]),
            (MigrationPhase.RELIEVE, []),
        ):
            verdict = Verdict(
                'a1', 'a', 'b', Code.SCOPE_COOLDOWN, '', phase=phase
            )
            against = counterfactual.still_against(case, result, verdict)
            self.assertEqual(codes, [reason.code for reason in against])
