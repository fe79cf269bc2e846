# SPDX-License-Identifier: Apache-2.0
"""Is there one loop, and does it do what it is given?"""

from tests.unit.monitor.sources.libvirt import bindings


class TestLoop(bindings.BindingTestCase):
    CLASS = 'TestLoop'

    def test_all(self) -> None:
        self.run_alone()
