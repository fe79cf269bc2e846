# SPDX-License-Identifier: Apache-2.0
"""Two audits in the same second, fifty times, while nodes fail by turns."""

import itertools

from tests.lab.node_failures import (
    CUT,
    KILL,
    LAG,
    NONE,
    PAUSE,
    NodeFailuresTestCase,
)

ROUNDS = 50
FAILURES = (
    (NONE, ''),
    (KILL, 'db2'),
    (CUT, 'db3'),
    (NONE, ''),
    (LAG, 'db2'),
    (PAUSE, 'db3'),
    (NONE, ''),
    (CUT, 'db2'),
    (KILL, 'mq2'),
    (CUT, 'mq3'),
)


class TestFiftyRounds(NodeFailuresTestCase):
    def test_two_audits_at_a_time(self) -> None:
        failures = itertools.islice(itertools.cycle(FAILURES), ROUNDS)
        self.assertGreater(self.rounds(*failures), ROUNDS)
