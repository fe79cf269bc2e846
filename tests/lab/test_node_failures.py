# SPDX-License-Identifier: Apache-2.0
"""A database node and a broker are killed while two engines plan."""

from tests.lab.node_failures import KILL, NodeFailuresTestCase


class TestNodeFailures(NodeFailuresTestCase):
    def test_two_audits_at_a_time(self) -> None:
        """One of them moves servers, and nothing fails for it."""
        self.assertGreater(self.rounds((KILL, 'db2'), (KILL, 'mq3')), 0)
