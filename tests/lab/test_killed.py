# SPDX-License-Identifier: Apache-2.0
"""What becomes of moves whose hosts are killed?

==========================  ==========================================
The host                    Its moves
==========================  ==========================================
source, started again       queued, preparing: tried again, SUCCEEDED;
                            running: FAILED
destination                 FAILED, aborted, on their sources
==========================  ==========================================
"""

from tests.lab import killed


class TestSource(killed.SourceTestCase):
    def test_killed_and_started_again(self):
        """What had not begun is tried again, what ran is not."""
        self.check_again(kill=True)


class TestDestination(killed.DestinationTestCase):
    def test_killed(self):
        """Within the time that Nova takes to notice it."""
        self.check_lost(kill=True)
