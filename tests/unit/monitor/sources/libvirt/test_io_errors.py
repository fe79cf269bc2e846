# SPDX-License-Identifier: Apache-2.0
"""When is it a storm?"""

from tests.unit.monitor.sources.libvirt import bindings


class TestIoErrors(bindings.BindingTestCase):
    CLASS = 'TestIoErrors'

    def test_all(self) -> None:
        self.run_alone()
