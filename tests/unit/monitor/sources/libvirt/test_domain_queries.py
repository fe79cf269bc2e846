# SPDX-License-Identifier: Apache-2.0
"""Is a domain looked at, within a time?"""

from tests.unit.monitor.sources.libvirt import bindings


class TestDomainQueries(bindings.BindingTestCase):
    CLASS = 'TestDomainQueries'

    def test_all(self) -> None:
        self.run_alone()
