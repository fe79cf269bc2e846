# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_recover, as it declares itself."""

from oslotest import base

from kronos.engine import types
from kronos.engine.reasons import Code, Reason
from kronos.extensions.recovery.audit import strategy
from kronos.extensions.recovery.extension import RECOVERY
from kronos.extensions.recovery.failures import NAME
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.extensions.recovery.outcome import RecoveryOutcome
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope

WHY = Reason('it is at fault', Code.HOST_AT_FAULT)


class RecoverTestCase(base.BaseTestCase):
    def test_it_recovers_and_does_no_more(self):
        found = declared.settings(
            strategy.Recover,
            {},
            cooldown=900,
            enforce_hard_affinity=True,
            evacuate_disabled_hosts=True,
            max_closed_hosts=3,
        )
        self.assertEqual(RECOVERY, found.extension)
        self.assertTrue(found.evacuate and found.unlimited)
        self.assertFalse(found.rebalance or found.enforces)
        self.assertIsNone(found.drain_hosts)
        self.assertEqual(
            (0, RecoveryOptions(max_closed_hosts=3)),
            (found.cooldown_seconds, found.options(RecoveryOptions)),
        )

    def test_outcome(self):
        drain = types.Drain('h1', WHY, 3, 2, {'u9': 'it failed itself'})
        one = scope(
            closings=[types.Closing('h1', WHY)],
            beside={NAME: RecoveryOutcome({'h1': WHY}, {'u9': 'io_error'})},
            drains=[drain],
        )
        self.assertEqual(
            'h1 is closed (it is at fault), h1: 2 leave, 1 stays (it failed '
            'itself)',
            strategy.Recover.summary(one),
        )
        found = strategy.Recover.indicators(types.CycleReport([one]))
        self.assertEqual(
            (1, 1), (found['hosts_closed'], found['hosts_at_fault'])
        )
        self.assertEqual(1, found['servers_in_trouble_before'])

    def test_a_host_that_is_empty_is_closed_all_the_same(self):
        one = scope(closings=[types.Closing('h1', WHY)])
        self.assertEqual(
            'h1 is closed (it is at fault)', strategy.Recover.summary(one)
        )
