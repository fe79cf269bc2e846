# SPDX-License-Identifier: Apache-2.0
"""No host takes a large server; after one audit, three are created."""

from tests.lab import rooms

NUMBER = 3


class TestRoom(rooms.RoomTestCase):
    def test_three_large_servers(self) -> None:
        """Three small ones move to the fourth host, and no more."""
        self.fill_hosts()
        self.assert_refused()
        plan, actions = self.make_room(NUMBER)
        self.assertEqual(NUMBER, len(actions))
        self.carried_out(plan)
        self.assert_taken(NUMBER)
