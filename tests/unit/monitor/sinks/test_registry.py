# SPDX-License-Identifier: Apache-2.0
"""Is each driver there, and are its options?"""

from oslotest import base

from kronos.conf import monitor
from kronos.monitor.sinks import registry
from kronos.monitor.sinks.base import Sink


class TestRegistry(base.BaseTestCase):
    def test_each_driver(self) -> None:
        for driver in registry.DRIVERS:
            self.assertTrue(issubclass(registry.load(driver), Sink))

    def test_their_options(self) -> None:
        self.assertEqual({*monitor.DRIVERS}, {*registry.DRIVERS})

    def test_unknown(self) -> None:
        self.assertRaises(KeyError, registry.load, 'pager')
