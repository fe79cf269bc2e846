# SPDX-License-Identifier: Apache-2.0
"""Do the actions of a cell drain tell what their action needs?"""

from typing import Any

import jsonschema
from oslotest import base
from watcher.applier.actions import change_nova_service_state

from kronos.engine.planning.propose import propose
from kronos.engine.types import Snapshot
from kronos.extensions.cells.audit.additions import CellAdditions
from kronos.extensions.cells.cell_drain import CellMove, Confirm, needs_of
from kronos.strategies.outcome import planned_actions
from kronos.strategies.outcome.planned_actions import PlannedAction
from tests.builders import cells
from tests.builders.cells import CPU, server, unfinished


class TestActions(base.BaseTestCase):
    def planned(self, *servers: Any, **drain: Any) -> list[PlannedAction]:
        return self.of(cells.cells(servers), **drain)

    def of(self, snapshot: Snapshot, **drain: Any) -> list[PlannedAction]:
        report = propose([snapshot], [CPU], cells.settings(**drain))
        return planned_actions.of(
            report,
            [[] for _ in report.steps],
            range(len(report.steps)),
            CellAdditions(),
        )

    def test_migrate(self) -> None:
        [one] = self.planned(
            server('a', pinned_availability_zone='zone-old'),
            unpin_az=True,
            confirm=Confirm.MANUAL,
        )
        self.assertEqual('kronos_cross_cell_migrate', one.action_type)
        told = one.parameters
        self.assertEqual(
            {
                'mode': 'migrate',
                'source_cell': 'old',
                'destination_cell': 'new',
                'target_cells': ['new'],
                'source_flavor': 'small',
                'destination_flavor': 'small',
                'source_zone': 'zone-old',
                'destination_zone': 'zone-new',
                'unpin_zone': True,
                'confirm': 'manual',
            },
            {
                name: value
                for name, value in told.items()
                if name.rpartition('_')[2] in ('cell', 'cells', 'flavor',
                                               'zone', 'mode', 'confirm')
            },
        )  # fmt: skip
        self.assertEqual(
            ('old -> new', 'cell_drain', 'o1', 'n1'),
            tuple(told[name] for name in (
                'aggregate', 'phase', 'source_node', 'destination_node'
            )),
        )  # fmt: skip

    def test_resize(self) -> None:
        """It waits until no host of the source takes servers."""
        *closed, one = self.planned(
            server('a'), flavor_map={'*': 'large'}, close_source=True
        )
        self.assertEqual(['o1', 'o2'], [one.resource for one in closed])
        schema = change_nova_service_state.ChangeNovaServiceState(None).schema
        for other in closed:
            self.assertEqual('change_nova_service_state', other.action_type)
            self.assertEqual([], other.parents)
            jsonschema.validate(
                other.parameters | {'resource_id': other.resource}, schema
            )
            self.assertEqual(
                'watcher_disabled: cell old is being emptied',
                other.parameters['disabled_reason'],
            )
        self.assertEqual([0, 1], one.parents)
        self.assertEqual('resize', one.parameters['mode'])
        self.assertEqual('2', one.parameters['destination_flavor_id'])

    def test_finishing(self) -> None:
        """As the move was planned, whatever this audit asks for."""
        how = CellMove('old', 'new', 'small', 'large', 'zo', 'zn', '2', True)
        snapshot = cells.cells([])
        needs_of(snapshot).unfinished = [
            unfinished(
                'a',
                how=how,
                confirm=Confirm.MANUAL,
                target_cells=['new', 'newer'],
            ),
            unfinished('b', plan='p'),
            unfinished('c', has_ended=True),
        ]
        [one] = self.of(snapshot)
        self.assertEqual('kronos_cross_cell_migrate', one.action_type)
        self.assertEqual(('a', []), (one.resource, one.parents))
        self.assertEqual(
            {
                'aggregate': 'old -> new',
                'phase': 'cell_drain',
                'sequence': 1,
                'resource_name': 'a',
                'source_node': 'o1',
                'destination_node': 'n1',
                'mode': 'resize',
                'source_cell': 'old',
                'destination_cell': 'new',
                'target_cells': ['new', 'newer'],
                'source_flavor': 'small',
                'destination_flavor': 'large',
                'destination_flavor_id': '2',
                'source_zone': 'zo',
                'destination_zone': 'zn',
                'unpin_zone': True,
                'confirm': 'manual',
                'finishes': 'action-a',
            },
            one.parameters,
        )

    def test_finished_first(self) -> None:
        """What takes place at the same hosts waits for it, the rest not."""
        snapshot = cells.cells([server('a'), server('b', 'o2')])
        for name in ('n1', 'n3'):
            snapshot.hosts[name].closed = 'kept'
        needs_of(snapshot).unfinished = [unfinished('c')]
        found = self.of(snapshot, close_source=True)
        self.assertEqual(
            ['c', 'o1', 'o2', 'a', 'b'], [one.resource for one in found]
        )
        by_name = {one.resource: one.parents for one in found}
        self.assertEqual([], by_name['o1'])
        self.assertEqual([0, 1, 2], by_name['a'])
        self.assertEqual([1, 2], by_name['b'])
        self.assertEqual(
            [1, 4, 5],
            [
                one.parameters['sequence']
                for one in found
                if 'sequence' in one.parameters
            ],
        )
