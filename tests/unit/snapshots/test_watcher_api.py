# SPDX-License-Identifier: Apache-2.0
"""Are the plans of Watcher's API read that no audit has asked for?"""

from kronos.engine.eligibility import cooldown
from kronos.engine.types import Outcome
from kronos.snapshots import watcher_api
from tests.unit.osc import clouds

EVER = cooldown.Since(0.0, 0.0)


class TestPipelines(clouds.CloudTestCase):
    def outcomes(self) -> list[tuple[str, Outcome]]:
        return sorted(
            (event.plan, event.outcome)
            for event in watcher_api.events(
                self.client, EVER, clock=clouds.NOW.timestamp
            )
        )

    def add(self, number: int, state: str, audit: str | None) -> str:
        plan = self.add_plan(number, state=state, audit_uuid=audit)
        self.add_action(plan, f'vm{number}', state='PENDING')
        return plan

    def test_only_what_was_started_counts(self) -> None:
        audit = self.add_audit(auto_trigger=True)
        self.add(1, 'RECOMMENDED', None)
        started = self.add(2, 'ONGOING', None)
        launched = self.add(3, 'RECOMMENDED', audit)
        self.assertEqual(
            [(started, Outcome.PLANNED), (launched, Outcome.PLANNED)],
            self.outcomes(),
        )
