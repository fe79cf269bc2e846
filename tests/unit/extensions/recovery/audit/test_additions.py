# SPDX-License-Identifier: Apache-2.0
"""What does a recovery do beside its moves?"""

from kronos.engine import types
from kronos.extensions.recovery.audit import additions
from kronos.extensions.recovery.audit.additions import RecoveryAdditions
from kronos.extensions.recovery.failures import NAME
from kronos.extensions.recovery.outcome import RecoveryOutcome, Restart
from kronos.strategies.outcome import status_messages
from tests.unit.strategies.outcome import test_planned_actions
from tests.unit.strategies.outcome.test_planned_actions import scope, step


class TestAdditions(test_planned_actions.PlannedActionsTestCase):
    ADDITIONS = RecoveryAdditions()

    def test_they_stand_in_the_order_of_their_turns(self):
        """Each tells its number in the report."""
        moves = step('u', 'h1'), step('v', 'h2'), step('w', 'h1')
        found = self.of(
            [[], [0], []], scope('a', *moves, closed=['h1']), order=[2, 0, 1]
        )
        self.assertEqual(
            ['h1', 'w', 'u', 'v'], [one.resource for one in found]
        )
        self.assertEqual([[], [0], [0], [2]], [one.parents for one in found])
        self.assertEqual(
            [1, 4, 2, 3], [one.parameters['sequence'] for one in found]
        )

    def test_what_leaves_waits_for_the_closing(self):
        found = self.of(
            [[], [0], [1]],
            scope('a', step('u', 'h2'), step('v', 'h1'), closed=['h1']),
            scope('b', step('w', 'h3'), closed=['h1', 'h3']),
        )
        self.assertEqual(
            ['h1', 'h3', 'u', 'v', 'w'], [one.resource for one in found]
        )
        self.assertEqual(
            [[], [], [], [0, 2], [1, 3]], [one.parents for one in found]
        )
        self.assertEqual(
            [False, True, True],
            ['source_closed' in one.parameters for one in found[2:]],
        )
        self.assertEqual('kronos_close_host', found[0].action_type)
        self.assertEqual('kronos_live_migrate', found[2].action_type)
        self.assertEqual(
            {
                'aggregate': 'a',
                'sequence': 1,
                'resource_name': 'h1',
                'source_node': 'h1',
                'reason': 'it is at fault',
            },
            found[0].parameters,
        )

    def test_a_window_limits_its_migrations_alone(self):
        """A host is closed, and a server restarted, whenever it is."""
        open_now = types.ScopeWindow(True, move_seconds=60.0)
        exempt = types.ScopeWindow(True, is_exempt=True, move_seconds=60.0)
        for window, limited in (
            (open_now, {'kronos_live_migrate'}),
            (exempt, set()),
        ):
            move = step('u', 'h1')
            broken = scope(move.scope, move, closed=['h1'])
            broken.window = window
            restart = Restart('v', 'v', 'h1', 'h2', 1, 'crash', 990.0)
            broken.beside[NAME] = RecoveryOutcome(restarts=[restart])
            actions = self.of([[]], broken)
            self.assertEqual(
                {
                    'kronos_close_host',
                    'kronos_live_migrate',
                    'kronos_restart_server',
                },
                {action.action_type for action in actions},
            )
            self.assertEqual(
                limited,
                {
                    action.action_type
                    for action in actions
                    if 'window_seconds' in action.parameters
                },
            )

    def test_closed_hosts_alone(self):
        """Migrations that are none are not counted."""
        report = types.CycleReport([scope('alpha', closed=['h1'])])
        self.assertEqual(
            'alpha: h1 is closed (it is at fault)',
            status_messages.summary(report, additions.summary, self.ADDITIONS),
        )
