# SPDX-License-Identifier: Apache-2.0
"""What does an action tell of a restart?"""

from typing import Any

from oslotest import base

from kronos.extensions.recovery.readings import past_restarts
from kronos.snapshots.watcher_actions import ActionRow, PlanRow

INPUTS = {'resource_id': 'v', 'source_node': 'h1', 'destination_node': 'h2'}


class TestRestartOf(base.BaseTestCase):
    def of(self, inputs: Any, state: str = 'FAILED', **more: str) -> Any:
        row = ActionRow(
            'a', past_restarts.RESTART, state, inputs, '', 1.0, 2.0
        )
        row.action_type = more.get('kind', row.action_type)
        plan = PlanRow('p', more.get('plan', 'ONGOING'), 3.0)
        return past_restarts.restart_of(row, plan)

    def test_all(self) -> None:
        mark = {past_restarts.MARK: {'stop': 'req-1', 'migrate': 7}}
        uuid, restart = self.of(INPUTS | mark)
        self.assertEqual('v', uuid)
        self.assertEqual(
            ('h1', 'h2', 'req-1', '', True, 2.0),
            (restart.source, restart.destination, restart.stop,
             restart.migrate, restart.acted, restart.at),
        )  # fmt: skip

    def test_it_did_not_begin(self) -> None:
        _, restart = self.of(INPUTS)
        self.assertFalse(restart.acted)

    def test_none(self) -> None:
        self.assertIsNone(self.of(INPUTS, kind='kronos_live_migrate'))
        self.assertIsNone(self.of(INPUTS, 'PENDING', plan='RECOMMENDED'))
        for odd in (None, [], {}, {'resource_id': 9}):
            self.assertIsNone(self.of(odd))
