# SPDX-License-Identifier: Apache-2.0
"""Does the cloud of the loop keep the books of who is where?"""

from oslotest import base

from kronos.engine.types import ServerGroup
from kronos.simulate.cloud import Cloud
from tests.builders import loads


class TestCloud(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        group = ServerGroup('g', 'anti-affinity', [loads.uuid(1)])
        self.load = loads.load(
            [[1.0, 1.0]] * 2, [0, 1], [4.0, 4.0, 4.0], groups=[group]
        )
        self.cloud = Cloud(self.load)

    def used(self, kind: str = 'MEMORY_MB') -> list[int]:
        rooms = [host.headroom for host in self.cloud.hosts.values()]
        amounts = [room[kind].used for room in rooms if room]
        row = ('VCPU', 'MEMORY_MB').index(kind)
        self.assertEqual(amounts, self.cloud.used[row].tolist())
        return amounts

    def test_empty(self) -> None:
        self.assertEqual([0, 0, 0], self.used())
        self.assertEqual([], self.cloud.alive.tolist())
        self.assertEqual([], self.cloud.groups['g'].members)
        recorded = self.load.recording.gathered.cloud.hosts['h0000']
        assert recorded.headroom
        self.assertEqual(2048, recorded.headroom['MEMORY_MB'].used)

    def test_life(self) -> None:
        self.cloud.boot(1, 2)
        instance = self.cloud.instances[loads.uuid(1)]
        self.assertEqual('h0002', instance.host)
        self.assertEqual([0, 0, 2048], self.used())
        self.assertEqual([0, 0, 1], self.used('VCPU'))
        self.assertEqual([1], self.cloud.alive.tolist())
        self.assertEqual([loads.uuid(1)], self.cloud.groups['g'].members)
        self.cloud.delete(1)
        self.assertEqual([0, 0, 0], self.used())
        self.assertEqual({}, self.cloud.instances)
        self.assertEqual([], self.cloud.groups['g'].members)

    def test_when_created(self) -> None:
        """As the load says, else the recording, else when it came."""
        self.load.meta.instances[0].born = 5.0
        self.load.recording.gathered.instances.clear()
        cloud = Cloud(self.load)
        cloud.boot(0, 0, 9.0)
        cloud.boot(1, 0, 9.0)
        self.assertEqual(
            [5.0, 9.0], [each.created for each in cloud.instances.values()]
        )

    def test_move(self) -> None:
        self.cloud.boot(0, 0)
        instance = self.cloud.instances[loads.uuid(0)]
        self.cloud.begin(0, 1)
        self.assertEqual([2048, 2048, 0], self.used())
        self.assertEqual('migrating', instance.task_state)
        self.assertEqual('h0000', instance.host)
        self.cloud.arrive(0)
        self.assertEqual([0, 2048, 0], self.used())
        self.assertEqual('h0001', instance.host)
        self.assertIsNone(instance.task_state)

    def test_failed_move(self) -> None:
        self.cloud.boot(0, 0)
        self.cloud.begin(0, 1)
        self.cloud.turn_back(0)
        self.assertEqual([2048, 0, 0], self.used())
        self.assertEqual({}, self.cloud.going)

    def test_gone_under_way(self) -> None:
        self.cloud.boot(0, 0)
        self.cloud.begin(0, 1)
        self.cloud.delete(0)
        self.assertEqual([0, 0, 0], self.used())

    def test_fits(self) -> None:
        room = self.cloud.hosts['h0001'].headroom
        assert room
        self.cloud.capacity[1, 1] = 2047
        self.assertEqual([True, False, True], self.cloud.fits(0).tolist())
