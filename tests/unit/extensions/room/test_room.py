# SPDX-License-Identifier: Apache-2.0
"""What does an audit want, and what is missing of it?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomOutcome, RoomRequest
from tests.builders import rooms


class TestRequest(base.BaseTestCase):
    def test_numbers(self) -> None:
        self.assertEqual({'f8': 2}, RoomRequest({'f8': 2}).numbers)
        self.assertEqual({'f8': 0}, RoomRequest(flavor='f8').numbers)

    def test_of_settings(self) -> None:
        self.assertIsNone(room.of(Settings()))
        asked = rooms.settings(flavors={'f8': 1})
        self.assertEqual(RoomRequest({'f8': 1}), room.of(asked))

    def test_needs(self) -> None:
        snapshot = rooms.scope()
        self.assertEqual({*rooms.FLAVORS}, {*room.needs_of(snapshot).flavors})
        snapshot.beside = {}
        self.assertEqual({}, room.needs_of(snapshot).flavors)


class TestOutcome(base.BaseTestCase):
    def test_missing(self) -> None:
        """More slots of one flavor are no slots of another."""
        outcome = RoomOutcome(
            {'a': 3, 'b': 1}, {'a': 1, 'b': 9}, {'a': 2, 'b': 0}, {}
        )
        self.assertEqual(
            (2, 2), (outcome.missing_before, outcome.missing_after)
        )

    def test_is_met(self) -> None:
        for wanted, bound, is_met in (
            ({'a': 1}, 0, True),
            ({'a': 1}, 2, False),
            ({'a': 1}, None, False),
            ({'a': 0}, 0, False),
        ):
            outcome = RoomOutcome(wanted, {}, {}, {}, bound=bound)
            self.assertEqual(is_met, outcome.is_met)
