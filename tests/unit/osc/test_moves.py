# SPDX-License-Identifier: Apache-2.0
"""Is an action told as its row and its message have it?"""

import ddt
from oslotest import base

from kronos.engine import faults
from kronos.osc import moves
from kronos.snapshots.watcher_actions import ActionRow

PARAMETERS = {
    'resource_id': 'u1',
    'resource_name': 'vm1',
    'source_node': 'h1',
    'destination_node': 'h2',
    'aggregate': 'alpha',
    'phase': 'spread',
    'sequence': 3,
    'imbalance': 'cpu 0.6 -> 0.4',
    'combined_imbalance': '0.6 -> 0.4',
    'action_plan_uuid': 'p1',
    'audit_uuid': 'a1',
}


def move(
    state: str = 'FAILED',
    message: str = '',
    kind: str = 'kronos_live_migrate',
    parameters: object = PARAMETERS,
) -> moves.MoveAction:
    return moves.of(
        ActionRow('x1', kind, state, parameters, message, 10.0, 20.0)
    )


@ddt.ddt
class TestMessages(base.BaseTestCase):
    @ddt.data(*faults.Fault)
    def test_every_fault(self, fault: faults.Fault) -> None:
        """With what it means, and what the operator does."""
        row = faults.TABLE[fault]
        result = move(
            message='Action failed in execute: '
            f'KRONOS:{row.error or "ValueError"}: [{fault}] so it was'
        )
        self.assertEqual(
            (fault.value, 'so it was', row.means, row.remedy),
            (result.fault, result.reason, result.means, result.remedy),
        )
        # What YAML's safe writer takes.
        self.assertIs(str, type(result.fault))

    @ddt.data(
        ('FAILED', 'KRONOS:MigrationTimeout: slow', 'too_slow', 'slow'),
        ('FAILED', 'Action failed in execute: KeyError', 'unknown', None),
        ('FAILED', 'whatever', 'unknown', 'whatever'),
        ('FAILED', '', '', ''),
        ('ONGOING', 'KRONOS: waits for its turn', '', 'waits for its turn'),
        ('SUCCEEDED', 'KRONOS: it was late', '', 'it was late'),
        ('SKIPPED', 'by hand', '', 'by hand'),
        (
            'SKIPPED',
            'Action was skipped automatically: KRONOS:StaleTask: '
            '[instance_gone] it is gone',
            'instance_gone',
            'it is gone',
        ),
    )
    @ddt.unpack
    def test_others(
        self, state: str, message: str, fault: str, reason: str | None
    ) -> None:
        result = move(state, message)
        self.assertEqual(fault, result.fault)
        self.assertEqual(message if reason is None else reason, result.reason)


class TestParameters(base.BaseTestCase):
    def test_a_move(self) -> None:
        result = move('SUCCEEDED')
        self.assertEqual(
            ('u1', 'vm1', 'h1 -> h2', 'alpha', 3, 'p1', 'a1'),
            (
                result.server,
                result.name,
                result.way,
                result.scope,
                result.sequence,
                result.plan,
                result.audit,
            ),
        )
        self.assertEqual('vm1 h1 -> h2 (spread)', result.what)
        self.assertEqual('1970-01-01T00:00:20Z', result.touched_at)

    def test_a_restart(self) -> None:
        inputs = {
            'resource_id': 'u1',
            'resource_name': 'vm1',
            'source_node': 'h1',
            'destination_node': 'h1',
            'reason': 'it crashed',
        }
        result = move('PENDING', '', 'kronos_restart_server', inputs)
        self.assertEqual('vm1 h1 (restart_server)', result.what)
        self.assertEqual(('u1', 'it crashed'), (result.server, result.reason))

    def test_a_closing_is_of_no_server(self) -> None:
        inputs = {
            'resource_id': 'h1',
            'resource_name': 'h1',
            'source_node': 'h1',
            'reason': 'at fault',
        }
        result = move('PENDING', '', 'kronos_close_host', inputs)
        self.assertEqual('h1 (close_host)', result.what)
        self.assertEqual('', result.server)

    def test_whatever_they_are(self) -> None:
        for inputs in (None, [], 'x', 3, {'resource_id': 1, 'sequence': 'x'}):
            result = move('PENDING', '', parameters=inputs)
            self.assertEqual(
                ('', '', 0), (result.name, result.way, result.sequence)
            )

    def test_names_steer_no_terminal(self) -> None:
        inputs = {**PARAMETERS, 'resource_name': 'x\x1b[31m\ny'}
        self.assertEqual('x?[31m?y', move(parameters=inputs).name)

    def test_what_is_over(self) -> None:
        over = {
            state: move(state).is_over
            for state in ('PENDING', 'ONGOING', 'SUCCEEDED', 'FAILED')
        }
        self.assertEqual(
            {
                'PENDING': False,
                'ONGOING': False,
                'SUCCEEDED': True,
                'FAILED': True,
            },
            over,
        )
