# SPDX-License-Identifier: Apache-2.0
"""How long does a host take in a run?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.planning import host_times
from kronos.extensions.maintenance.planning.host_times import HostTimes
from tests.builders import maintained


class TestHostTimes(base.BaseTestCase):
    def test_whole(self) -> None:
        """Servers leave one at a time; those that stay take no time."""
        cloud = maintained.cloud(2, 0.5, 1)
        settings = Settings(migration_bandwidth=1024.0)
        servers = [s for s in cloud.instances.values() if s.host == 'host-000']
        spec = Maintenance('r', ('host-000',), work_time=100.0)
        times = HostTimes(cloud, settings, spec, [servers[0].uuid])
        moving = servers[1:]
        gib = sum(server.memory_mb for server in moving) / 1024
        self.assertAlmostEqual(
            6 * len(moving) + gib, times.drain('host-000'), 3
        )
        beside = host_times.EMPTY_SECONDS + 100 + host_times.OPEN_TURNS * 60
        self.assertAlmostEqual(
            times.drain('host-000') + beside, times.whole('host-000')
        )
        self.assertEqual(beside, times.whole('elsewhere'))
