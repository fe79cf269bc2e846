# SPDX-License-Identifier: Apache-2.0
"""Is what somebody asks of a recording what an audit would be asked?"""

import fixtures
from oslotest import base

from kronos.cmd.replays import slots
from kronos.common import exceptions
from kronos.extensions.room import room
from kronos.extensions.room.recordings.part import RoomRecording
from kronos.extensions.room.room import RoomRequest
from kronos.recordings import load, parts
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud
from tests.builders import numa, recordings

PART = RoomRecording()


class TestPart(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.gathered = CloudInventory(Cloud({}, {}, []), {})

    def test_it_is_the_one_of_its_mode(self) -> None:
        self.assertEqual('room', parts.by_mode()[PART.mode])
        self.assertTrue(parts.takes_parameters('room'))

    def test_parameters(self) -> None:
        self.assertEqual(
            RoomRequest({'large': 2}, apart=True),
            PART.replayed(
                {'flavors': '{"large": 2}', 'apart': 'true'}, self.gathered
            ),
        )

    def test_none(self) -> None:
        self.assertIsNone(PART.replayed({}, self.gathered))

    def test_wrong_ones(self) -> None:
        self.assertRaises(
            exceptions.ConfigurationError,
            PART.replayed,
            {'flavors': '{"large": 0}'},
            self.gathered,
        )


class TestNodes(base.BaseTestCase):
    """NUMA nodes are recorded, and counted in a replay of any audit."""

    def setUp(self) -> None:
        super().setUp()
        scope = numa.scope(
            {'n1': ('a1', [(0, 4)]), 'n2': ('a2', [(1, 6)])}, ['a1', 'a2']
        )
        self.recording = recordings.small()
        gathered = self.recording.gathered
        gathered.instances = [*scope.instances.values()]
        gathered.beside = {**scope.beside}
        for name, host in scope.hosts.items():
            gathered.cloud.hosts[name].headroom = host.headroom

    def totals(self, recording: Recording) -> list[int]:
        path = self.useFixture(fixtures.TempDir()).join('recording')
        load.write(path, recording)
        table = slots.of(load.read(path), ReplayOptions(), [])
        self.assertEqual({}, table.refused)
        return sorted(each.total for each in table.slots if each.scope == 'a')

    def test_recorded(self) -> None:
        self.assertEqual([2, 2, 5, 11], self.totals(self.recording))

    def test_anonymous(self) -> None:
        """Whatever the names of flavors, each has as many slots."""
        hidden = anonymizer.anonymized(self.recording)
        table = slots.of(hidden, ReplayOptions(), [])
        self.assertEqual({}, table.refused)
        counts = {
            tuple(
                sorted(each.total for each in table.slots if each.scope == s)
            )
            for s in {each.scope for each in table.slots}
        }
        self.assertIn((2, 2, 5, 11), counts)
        flavors = room.needs_of(hidden.gathered).flavors
        self.assertFalse({*flavors} & {'p2', 'p4', 'p6', 'p8'})
        self.assertEqual({*flavors}, {each.id for each in flavors.values()})
