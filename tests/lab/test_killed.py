# SPDX-License-Identifier: Apache-2.0
"""What becomes of moves whose hosts are killed?

==========================  ==========================================
The host                    Its moves
==========================  ==========================================
destination                 FAILED, aborted, on their sources
==========================  ==========================================
"""

from tests.lab import killed


class TestDestination(killed.DestinationTestCase):
    def test_killed(self):
        """Within the time that Nova takes to notice it."""
        self.check_lost(kill=True)
