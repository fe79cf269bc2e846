# SPDX-License-Identifier: Apache-2.0
"""Does the made-up hypervisor tell what a real one would?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sources.synthetic_alone'

    def test_all(self) -> None:
        self.run_alone()
