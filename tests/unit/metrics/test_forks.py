# SPDX-License-Identifier: Apache-2.0
"""Do the workers of a service share their slots, and lose no count?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.metrics.forks_alone'

    def test_all(self) -> None:
        self.run_alone()
