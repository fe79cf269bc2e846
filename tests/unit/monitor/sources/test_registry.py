# SPDX-License-Identifier: Apache-2.0
"""Is each source there?"""

from collections import deque

from oslotest import base

from kronos.monitor.sources import registry
from kronos.monitor.sources.base import Options


class TestRegistry(base.BaseTestCase):
    def test_each_source(self) -> None:
        options = Options('/nowhere', 'qemu+unix:///system?socket=/nowhere')
        for name in registry.SOURCES:
            try:
                made = registry.make(name, deque(), options)
            except ModuleNotFoundError as error:
                self.assertEqual(('libvirt', 'libvirt'), (name, error.name))
                continue
            self.assertNotEqual('', made.HYPERVISOR)
            self.assertIn('/nowhere', made.check())

    def test_unknown(self) -> None:
        self.assertRaises(KeyError, registry.load, 'xen')
