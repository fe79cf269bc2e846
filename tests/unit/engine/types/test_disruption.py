# SPDX-License-Identifier: Apache-2.0
"""Does a plan show what limits it?"""

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import BudgetStanding, ConsentStanding, FullBudget
from tests.builders import limited, scopes


class TestLimits(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.scope = limited.scope()

    def test_budgets(self) -> None:
        """One move of acme is used, one planned: two of its servers stay."""
        project, group = self.scope.budgets
        [full] = project.full
        self.assertEqual(
            BudgetStanding('project', 1, 3, 2, [full]),
            project,
        )
        self.assertEqual(
            FullBudget(limited.ACME, full.reason, limited.NOW + 3000, 2), full
        )
        self.assertIn('it is free again at 2027-01-15T08:50:00Z', full.reason)
        self.assertEqual(BudgetStanding('group', 0, 1, 1), group)

    def test_consents(self) -> None:
        self.assertEqual(
            [
                ConsentStanding('unknown', limited.OTHER, 1, ['v5']),
                ConsentStanding('drain', limited.ACME, 1, ['v0']),
            ],
            self.scope.consents,
        )

    def test_each_server_left_out_has_the_code(self) -> None:
        codes = {
            uuid: reason.code for uuid, reason in self.scope.stayed.items()
        }
        budget, consent = Code.DISRUPTION_BUDGET, Code.INSTANCE_CONSENT
        self.assertEqual(
            {'v0': consent, 'v2': budget, 'v3': budget, 'v5': consent}, codes
        )

    def test_nothing_is_set(self) -> None:
        snapshot = scopes.scope([], {'a': []}, [scopes.vm('u', 'a', [])])
        report = propose.propose([snapshot], [], Settings())
        [scope] = report.scopes
        self.assertEqual(([], []), (scope.budgets, scope.consents))
