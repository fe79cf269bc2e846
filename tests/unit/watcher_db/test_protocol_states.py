# SPDX-License-Identifier: Apache-2.0
"""Does the protocol of publishing and turns keep its promises in any case?

Every state of its model is looked at, also those after a crash, and after a
message that was delivered twice. Each mistake that is planted is seen.
"""

from oslotest import base

from tests.protocol import explorer
from tests.protocol.steps import Mistake, Protocol


class TestStates(base.BaseTestCase):
    def test_two_appliers(self) -> None:
        protocol = Protocol()
        seen = explorer.explore(protocol, protocol.start(1, 2, 2))
        self.assertEqual(('', []), (seen.fault, seen.trace))
        self.assertGreater(seen.states, 50_000)

    def test_planted_mistakes(self) -> None:
        for mistake, nodes, fault in (
            (Mistake.NO_LOCK, 1, 'two started plans move one server'),
            (Mistake.NO_MARK, 3, 'two started plans move one server'),
            (Mistake.LATE_BASIS, 1, 'two started plans move one server'),
            (Mistake.NOT_CHECKED, 1, 'two started plans move one server'),
        ):
            protocol = Protocol(nodes, mistake)
            seen = explorer.explore(protocol, protocol.start(2, 1, 2))
            self.assertEqual(fault, seen.fault, mistake)

    def test_planted_mistakes_of_moves(self) -> None:
        for mistake, fault in (
            (
                Mistake.LATE_TURN,
                'more moves leave the host at a time than may',
            ),
            (Mistake.NOT_RENEWED, 'a server is moved twice'),
        ):
            protocol = Protocol(1, mistake)
            seen = explorer.explore(protocol, protocol.start(1, 2, 2))
            self.assertEqual(fault, seen.fault, mistake)
