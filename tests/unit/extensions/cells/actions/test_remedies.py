# SPDX-License-Identifier: Apache-2.0
"""Is what Nova left of our own move mended, and nothing else?"""

from kronos.extensions.cells.actions.context import StartedMove
from kronos.extensions.cells.actions.journal import Journal
from kronos.extensions.cells.actions.progress import CellMoveProgress
from kronos.extensions.cells.actions.repair import CellMoveRepair
from tests.unit.extensions.cells.actions import base


class RepairsTestCase(base.CellMoveTestCase):
    """A move that Nova has left busy with a task for ever."""

    def setUp(self):
        super().setUp()
        self.server.breaks = 'prep'
        own = self.mark()
        own.request = self.ask_by_hand()
        self.clock.sleep(100)
        begun = StartedMove(
            self.settings,
            self.context,
            own,
            Journal(self.task, self.clock()),
        )
        self.progress, self.ends = (
            CellMoveProgress(begun),
            CellMoveRepair(begun),
        )
        self.progress.look()

    def mended(self):
        return self.ends.mend(self.progress.look())

    @property
    def resets(self):
        return [one for one in self.cloud.bodies if 'os-resetState' in one]

    def test_ours(self):
        self.assertIn('mended by "openstack server set', self.mended())
        self.assertEqual(1, len(self.resets))

    def test_a_task_of_its_user(self):
        """Such as a snapshot, after ours had ended."""
        self.server.task_state = 'image_snapshot'
        self.assertEqual('', self.mended())
        self.assertEqual([], self.resets)

    def test_somebody_else_has_moved_it_since(self):
        self.server.asked.append(('resize', 'req-of-its-user'))
        self.assertEqual('', self.mended())
        self.assertEqual([], self.resets)

    def test_nova_is_away_for_a_moment(self):
        self.cloud.answers[base.ACTION] = [503, 429]
        self.assertIn('mended by "openstack server set', self.mended())

    def test_nova_does_not_say_whose_it_is(self):
        """Then an operator does it."""
        self.cloud.down.add(('GET', f'{base.SERVER}/os-instance-actions'))
        self.assertIn(f'set --state active {base.UUID}" mends', self.mended())
        self.assertEqual([], self.resets)
