# SPDX-License-Identifier: Apache-2.0
"""Is measured what Prometheus would show of hosts and servers?"""

import numpy as np
from oslotest import base

from kronos.policies.windows import NOW, Window
from kronos.simulate.cloud import Cloud
from kronos.simulate.meter import Meter, QueryWindows
from tests.builders import loads

HOUR = Window('avg', 900.0)


class TestMeter(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.load = loads.load(
            [[2.0, 1.0], [2.0, 3.0], [8.0, 2.0], [8.0, 2.0]],
            [0, 1],
            [4.0, 4.0],
        )
        self.cloud = Cloud(self.load)
        self.cloud.boot(0, 0)
        self.cloud.boot(1, 1)
        self.meter = Meter(self.load, self.cloud)

    def measure(self, *ticks: int) -> None:
        for tick in ticks:
            self.meter.measure(tick)

    def test_hosts_show_no_more_than_all(self) -> None:
        self.measure(0, 1, 2)
        windows = QueryWindows(NOW, NOW, NOW)
        self.assertEqual(
            [1.0, 0.5], self.meter.hosts('cpu', windows, 2).tolist()
        )
        self.assertEqual([2.0, 0.5], self.meter.ratio['cpu'][2].tolist())

    def test_own_series_remember_who_left(self) -> None:
        self.measure(0, 1)
        self.cloud.put(0, 1)
        self.measure(2)
        own = QueryWindows(HOUR, HOUR, HOUR)
        np.testing.assert_allclose(
            self.meter.hosts('cpu', own, 2), [1 / 3, (0.25 + 0.75 + 1) / 3]
        )
        np.testing.assert_allclose(
            self.meter.servers('cpu', HOUR, 2), [4.0, 2.0]
        )
        of_servers = QueryWindows(HOUR, None, HOUR)
        np.testing.assert_allclose(
            self.meter.hosts('cpu', of_servers, 2), [0.0, 1.0]
        )
        np.testing.assert_allclose(
            self.meter.in_use('cpu', of_servers, 2), [1 / 3, 2 / 3]
        )

    def test_remainder_stays(self) -> None:
        self.load.remainder['cpu'][:, 0] = 1.0
        self.cloud.put(0, 1)
        self.measure(0)
        windows = QueryWindows()
        np.testing.assert_allclose(
            self.meter.hosts('cpu', windows, 0), [0.25, 0.75]
        )

    def test_under_way(self) -> None:
        self.cloud.begin(0, 1)
        self.measure(0)
        np.testing.assert_allclose(
            self.meter.ratio['cpu'][0], [0.5, (1 + 0.2) / 4]
        )

    def test_unknown(self) -> None:
        self.load.usage['cpu'][0, 0] = np.nan
        self.load.remainder['cpu'][0, 1] = np.nan
        self.measure(0)
        values = self.meter.hosts('cpu', QueryWindows(), 0)
        self.assertEqual(0.0, values[0])
        self.assertTrue(np.isnan(values[1]))
        self.assertTrue(np.isnan(self.meter.servers('cpu', NOW, 0)[0]))

    def test_windows_of_policy(self) -> None:
        policy = loads.policy(
            imbalance_query='avg_over_time(x[30m])',
            vm_profile_query='rate(y[1h])',
            capacity_query='max_over_time(x[2h])',
        )
        windows = QueryWindows.of(policy)
        self.assertEqual(
            ['avg:3600', 'avg:1800', 'max:7200'],
            [str(windows.servers), str(windows.hosts), str(windows.capacity)],
        )
