# SPDX-License-Identifier: Apache-2.0
"""Does a connection tell domains, and translate what fails?"""

from tests.unit.monitor.sources.libvirt import bindings


class TestConnection(bindings.BindingTestCase):
    CLASS = 'TestConnection'

    def test_all(self) -> None:
        self.run_alone()
