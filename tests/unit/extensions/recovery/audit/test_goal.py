# SPDX-License-Identifier: Apache-2.0
"""How is the success of a recovery measured?"""

from oslotest import base

from kronos.engine.types import CycleReport
from kronos.extensions.recovery.audit.goal import RecoveredServers
from kronos.extensions.recovery.failures import NAME
from kronos.extensions.recovery.outcome import RecoveryOutcome
from tests.unit.extensions.recovery.test_outcome import HERE
from tests.unit.strategies.outcome.test_status_messages import scope


class TestGoal(base.BaseTestCase):
    def test_what_is_restarted_is_in_trouble_no_more(self) -> None:
        outcome = RecoveryOutcome({}, {'v': 'crash', 'w': 'hang'}, [HERE])
        numbers = RecoveredServers.indicators(
            CycleReport([scope(beside={NAME: outcome})])
        )
        self.assertEqual(
            (2, 1, 1),
            (numbers['servers_in_trouble_before'],
             numbers['servers_in_trouble_after'], numbers['restarts']),
        )  # fmt: skip
