# SPDX-License-Identifier: Apache-2.0
"""What do reports say of the room that a plan makes?"""

import json

from oslotest import base

from kronos.engine import wording
from kronos.extensions.room.reports.part import RoomReport
from tests.builders import rooms
from tests.unit.strategies.outcome.test_status_messages import scope


class TestLines(base.BaseTestCase):
    def test_lines(self) -> None:
        result = rooms.plan(rooms.scope(), flavors={'f8': 1})
        self.assertEqual(
            [
                'Slots of f8: 0 -> 1',
                'By the sum of the free capacity there would be 1 of f8',
            ],
            RoomReport().lines(result, wording.ShortUuids(())),
        )

    def test_keys(self) -> None:
        result = rooms.plan(rooms.scope(), flavors={'f8': 1})
        row = RoomReport().scope(result)['room']
        self.assertEqual({'f8': 0}, row['before'])
        self.assertEqual({'f8': 1}, row['after'])
        self.assertEqual(row, json.loads(json.dumps(row)))

    def test_other_audits(self) -> None:
        self.assertEqual(
            [], RoomReport().lines(scope(), wording.ShortUuids(()))
        )
