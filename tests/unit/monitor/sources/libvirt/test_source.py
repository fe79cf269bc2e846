# SPDX-License-Identifier: Apache-2.0
"""Does a libvirt tell what happens there?"""

from tests.unit.monitor.sources.libvirt import bindings


class TestSource(bindings.BindingTestCase):
    CLASS = 'TestSource'

    def test_all(self) -> None:
        self.run_alone()
