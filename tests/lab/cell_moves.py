# SPDX-License-Identifier: Apache-2.0
"""How is a move to another cell held on its way, and what became of it?

=============  =====================================  ======================
Where          What holds it                          What frees it
=============  =====================================  ======================
RESIZE         the snapshot at its source has no end  the rule is taken away
VERIFY_RESIZE  Kronos watches it for ten minutes      the option is
confirming     the source needs for ever              the rule is taken away
=============  =====================================  ======================
"""

from typing import Any

from tests.lab import cells

SOURCE = 'old1'
NAME = 'one'
RESIZE, VERIFY, CONFIRMING = 'RESIZE', 'VERIFY_RESIZE', 'confirming'
RULES = {
    RESIZE: {f'source:{SOURCE}': {'snapshot_seconds': None}},
    VERIFY: {},
    CONFIRMING: {f'source:{SOURCE}': {'confirm_seconds': None}},
}
WATCHED = {
    'cell_verify_query': 'up{job="node",instance="{host}:9100"}',
    'cell_verify_seconds': 600,
}
TAKEN_BACK = (
    'KRONOS:MigrationCancelled: [plan_cancelled] its plan was cancelled; '
    'taken back'
)
INSTEAD = 'completed instead of cancelled'


class CellMovesTestCase(cells.CellsTestCase):
    def begun(self, where: str, **options: Any) -> dict[str, Any]:
        """A plan whose only move is held there.

        :param options: of ``[kronos]``
        """
        self.boot_here({NAME: SOURCE})
        self.before = self.kept(NAME)
        watched = WATCHED if where == VERIFY else {}
        self.configure(**watched, **options)
        self.cloud.set_migrations(RULES[where])
        _, plan, _ = self.drained()
        self.assertEqual({NAME}, set(self.moves(plan)))
        self.start(plan)
        if where == RESIZE:
            self.wait_server(NAME, RESIZE, 'resize_migrating')
        elif where == VERIFY:
            self.wait_server(NAME, VERIFY, None)
        else:
            self.wait(
                lambda: self.requests(cells.CONFIRM) == {NAME: 1},
                'it to be confirmed',
            )
            self.assertEqual(VERIFY, self.state(NAME)[0])
        return plan

    def free(self) -> None:
        """Nothing is held any more."""
        self.configure()
        self.cloud.set_migrations({})

    def ended(self, plan: dict[str, Any], state: str) -> dict[str, Any]:
        """The only move of a plan that has ended so."""
        found = self.executed(plan)
        [row] = self.moves(plan).values()
        self.assertEqual(state, found['state'], row['status_message'])
        return row

    def destination(self, plan: dict[str, Any]) -> str:
        [row] = self.moves(plan).values()
        return str(row['input_parameters']['destination_node'])

    def assert_told(self, row: dict[str, Any], state: str, words: str) -> None:
        message = row['status_message'] or ''
        self.assertEqual(state, row['state'], message)
        self.assertIn(words, message)

    def assert_asked(self, confirms: int = 0, reverts: int = 0) -> None:
        """One request to move it, and so many to end that."""
        self.assert_once(NAME)
        for action, count in (
            (cells.CONFIRM, confirms),
            (cells.REVERT, reverts),
        ):
            wanted = {NAME: count} if count else {}
            self.assertEqual(wanted, self.requests(action), action)

    def assert_rests(self, host: str) -> None:
        """It is there as it was, and nothing is left of its move."""
        self.assert_here({NAME: host})
        self.assertEqual(self.before, self.kept(NAME))

    # A plan that is cancelled

    def check_taken_back(self, where: str) -> None:
        plan = self.begun(where)
        self.cancel(plan)
        self.free()
        # Watcher calls a plan so whose only action has failed.
        row = self.ended(plan, 'FAILED')
        self.assert_told(row, 'FAILED', TAKEN_BACK)
        self.assert_asked(reverts=1)
        self.assert_rests(SOURCE)

    def check_completed(self) -> None:
        """It is confirmed already."""
        plan = self.begun(CONFIRMING)
        self.cancel(plan)
        self.free()
        row = self.ended(plan, 'SUCCEEDED')
        self.assert_told(row, 'SUCCEEDED', INSTEAD)
        self.assert_asked(confirms=1)
        self.assert_rests(self.destination(plan))

    # An applier that is killed

    def check_finished(self, where: str) -> None:
        """The next audit ends what the dead applier has begun."""
        plan = self.begun(where)
        self.kill_applier()
        self.free()
        self.wait_server(NAME, VERIFY, None)
        self.give_up(plan)
        _, following, _ = self.drained()
        [row] = self.moves(following).values()
        self.assertEqual(
            [one['uuid'] for one in self.moves(plan).values()],
            [row['input_parameters']['finishes']],
        )
        self.carried_out(following)
        self.assert_asked(confirms=1)
        self.assert_rests(self.destination(plan))

    def check_left_alone(self) -> None:
        """Nova ends alone what was confirmed already."""
        plan = self.begun(CONFIRMING)
        self.kill_applier()
        self.free()
        self.wait_server(NAME, 'ACTIVE', None)
        self.give_up(plan)
        _, following, actions = self.drained()
        self.assertEqual([], actions, following)
        self.assert_asked(confirms=1)
        self.assert_rests(self.destination(plan))

    def kill_applier(self) -> None:
        self.killed('watcher-applier')

    def give_up(self, plan: dict[str, Any]) -> None:
        """Have Watcher give up the plan of the dead applier."""
        self.lab.start('watcher-applier')
        self.assertEqual('CANCELLED', self.executed(plan)['state'])
