# SPDX-License-Identifier: Apache-2.0
"""Do the actions of a cell drain tell what their action needs?"""

from typing import Any

import jsonschema
from oslotest import base
from watcher.applier.actions import change_nova_service_state

from kronos.engine.cell_drain import Confirm
from kronos.engine.planning.propose import propose
from kronos.strategies.outcome import planned_actions
from kronos.strategies.outcome.planned_actions import PlannedAction
from tests.builders import cells
from tests.builders.cells import CPU, server


class TestActions(base.BaseTestCase):
    def planned(self, *servers: Any, **drain: Any) -> list[PlannedAction]:
        settings = cells.settings(**drain)
        report = propose([cells.cells(servers)], [CPU], settings)
        return planned_actions.of(report, [[] for _ in report.steps])

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
