# SPDX-License-Identifier: Apache-2.0
"""Is each source there?"""

from collections import deque

from oslotest import base

from kronos.monitor.sources import registry


class TestRegistry(base.BaseTestCase):
    def test_each_source(self) -> None:
        for name in registry.SOURCES:
            made = registry.make(name, deque(), '/nowhere')
            self.assertNotEqual('', made.HYPERVISOR)
            self.assertIn('/nowhere', made.check())

    def test_unknown(self) -> None:
        self.assertRaises(KeyError, registry.load, 'xen')
