# SPDX-License-Identifier: Apache-2.0
"""Do the figures fall when a plan makes things better?"""

from oslotest import base

from kronos.engine import types
from kronos.reports import document, thresholds
from tests.unit.strategies.outcome.test_status_messages import scope

VALUES = [types.HostScore('h1', 0.5, 0.0)]


def judged(before: float, after: float, **more: object) -> types.PolicyResult:
    return types.PolicyResult(
        'cpu',
        0.5,
        0.1,
        scores=VALUES,
        imbalance_before=before,
        imbalance_after=after,
        **more,
    )


class TestThresholds(base.BaseTestCase):
    def test_text(self) -> None:
        for policies, text in (
            (
                [judged(0.5, 0.1), judged(0.3, 0.2)],
                '2 -> 1, by 0.3000 -> 0.0500 of combined imbalance',
            ),
            ([judged(0.1, 0.1), judged(0.05, 0.1)], '0 -> 0'),
            ([], '0 -> 0'),
        ):
            result = scope(policies=policies)
            self.assertEqual(text, thresholds.of(result).text)
            [row] = document.document(types.CycleReport([result]))['scopes']
            self.assertEqual(thresholds.of(result), thresholds.of_row(row))

    def test_a_policy_that_is_not_used(self) -> None:
        result = scope(policies=[types.PolicyResult('net', 0.0, 0.1)])
        result.policies[0].imbalance_before = 0.5
        self.assertEqual(0, thresholds.of(result).before.policies)
