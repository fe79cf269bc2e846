# SPDX-License-Identifier: Apache-2.0
"""What does a run do beside its moves, and in which order?"""

from kronos.common import status
from kronos.engine import types
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.audit import additions
from kronos.extensions.maintenance.audit.additions import MaintenanceAdditions
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import (
    Forecast,
    RunOutcome,
    Waves,
)
from kronos.strategies.outcome import status_messages
from tests.unit.strategies.outcome import test_planned_actions
from tests.unit.strategies.outcome.test_planned_actions import scope, step

ASKED = Maintenance('r', ('h1', 'h2', 'h3'), at_once=2)


class TestAdditions(test_planned_actions.PlannedActionsTestCase):
    ADDITIONS = MaintenanceAdditions()

    def run_of(self, result, **fields):
        result.beside[maintenance.NAME] = RunOutcome(ASKED, **fields)
        return result

    def test_order(self):
        """Open, close, empty, hand over; what leaves waits for all of it."""
        result = self.run_of(
            scope('a', step('u', 'h2'), step('v', 'h2'), closed=['h2']),
            reopening=['h1'],
            handing_over=['h3', 'h2'],
        )
        actions = self.of([[], []], result)
        self.assertEqual(
            [
                ('kronos_reopen', 'h1'),
                ('kronos_close_for_maintenance', 'h2'),
                ('kronos_live_migrate', 'u'),
                ('kronos_live_migrate', 'v'),
                ('kronos_hand_over', 'h3'),
                ('kronos_hand_over', 'h2'),
            ],
            [(action.action_type, action.resource) for action in actions],
        )
        self.assertEqual(
            [[], [0], [1], [1], [], [1, 2, 3]],
            [action.parents for action in actions],
        )
        self.assertEqual(
            [*range(1, 7)],
            [action.parameters['sequence'] for action in actions],
        )
        self.assertTrue(actions[2].parameters['source_closed'])
        inputs = {'aggregate': 'a', 'sequence': 2, 'resource_name': 'h2'}
        self.assertEqual(
            {
                **inputs,
                'source_node': 'h2',
                'run': 'r',
                'at_once': 2,
                'reopen': True,
            },
            actions[1].parameters,
        )
        self.assertEqual('stay', actions[5].parameters['stopped'])
        self.assertEqual('', actions[0].parameters['done_query'])

    def test_the_first_on_a_reopened_host_goes_alone(self):
        moves = [step(uuid, 'h2') for uuid in 'uvw']
        target = moves[0].destination
        result = self.run_of(scope('a', *moves), empty_done=[target])
        actions = self.of([[], [], []], result)
        self.assertEqual(
            [[], [0], [0]], [action.parents for action in actions]
        )

    def test_a_host_of_two_scopes_is_closed_once(self):
        results = [
            self.run_of(scope(name, closed=['h1']), handing_over=['h1'])
            for name in 'ab'
        ]
        actions = self.of([], *results)
        self.assertEqual(
            ['kronos_close_for_maintenance', 'kronos_hand_over'],
            [action.action_type for action in actions],
        )

    def test_summary_of_hosts_that_nobody_waits_for(self):
        """A run that does nothing says why."""
        states = {
            name: HostState(name, state)
            for name, state in (
                ('h1', State.OPENED),
                ('h2', State.FOREIGN),
                ('h3', State.LATE),
                ('h4', State.DOWN),
                ('h5', State.LATE),
            )
        }
        result = self.run_of(scope('a'), states=states)
        self.assertEqual(
            'run r: 0 of 5 hosts done, 2 late (h3, h5), 1 closed by somebody '
            'else (h2), 1 enabled but down (h4), 1 opened by hand (h1; a run '
            'of another name closes them again)',
            additions.summary(result),
        )

    def test_summary_says_once_who_is_late(self):
        """Before what is to come, which may be cut off."""
        states = {
            'h1': HostState('h1', State.LATE),
            'h2': HostState('h2', State.TO_DO),
        }
        result = self.run_of(
            scope('a'),
            states=states,
            waves=Waves(waits='h1 is late'),
            reopening=['h3'],
            missing=['h9'],
            forecast=Forecast(moves=3, least_moves=3, seconds=600.0),
        )
        self.assertEqual(
            'run r: 0 of 2 hosts done, 1 late (h1), so no further host is '
            'closed, 1 in no scope of the audit (h9), 1 opened (h3), '
            '3 moves to come, the end in about 10 min',
            additions.summary(result),
        )

    def test_summary(self):
        states = {
            'h1': HostState('h1', State.DONE),
            'h2': HostState('h2', State.TO_DO),
        }
        result = self.run_of(
            scope('a'),
            states=states,
            waves=Waves(['h2'], blocked={'h3': 'x'}, waits='it waits'),
            handing_over=['h2'],
        )
        self.assertEqual(
            'run r: 1 of 2 hosts done, 1 cannot be emptied, it waits, '
            '1 closed (h2), 1 handed over (h2)',
            additions.summary(result),
        )
        unknown = self.run_of(scope('a'), unknown='no answer')
        self.assertEqual(
            'no host is closed or opened: no answer',
            additions.summary(unknown),
        )

    def test_what_to_do_comes_before_how_earlier_plans_did(self):
        """Watcher keeps the beginning of a message."""
        hosts = [f'compute-{number}.rack-7' for number in range(4)]
        result = self.run_of(
            scope('a', step('u', 'h2')),
            states={name: HostState(name, State.LATE) for name in hosts},
            waves=Waves(blocked={'h3': 'x'}),
        )
        promise = '4 plans changed memory by 0.16 of what they promised'
        message = status_messages.summary(
            types.CycleReport([result]),
            additions.summary,
            self.ADDITIONS,
            {'a': f'{promise} (trust 0.16)'},
        )
        text = status.fit(message)
        self.assertIn(
            f'4 late ({", ".join(hosts)}), 1 cannot be emptied; a: 4 plans',
            text,
        )
        self.assertTrue(text.endswith('...'), text)
