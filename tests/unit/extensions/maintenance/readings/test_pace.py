# SPDX-License-Identifier: Apache-2.0
"""What is a run taken to do of which nobody knows anything?"""

from oslotest import base

from kronos.extensions.maintenance.maintenance import RunView
from kronos.extensions.maintenance.readings.pace import Pace


class TestPace(base.BaseTestCase):
    def test_it_is_part_of_the_view(self) -> None:
        view = RunView(**vars(Pace(30.0, 2, False)))
        self.assertEqual(
            (30.0, 2, False),
            (view.turn_seconds, view.plans_at_once, view.is_forced),
        )
        self.assertEqual(RunView().turn_seconds, Pace().turn_seconds)
