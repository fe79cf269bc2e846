# SPDX-License-Identifier: Apache-2.0
"""Does a task say what the parameters of its action say?"""

from oslotest import base

from kronos.extensions.cells.actions.parameters import CellMoveTask

PARAMETERS = {
    'resource_id': 'a',
    'resource_name': 'web',
    'source_node': 'old-1',
    'destination_node': 'new-1',
    'aggregate': 'old -> new, next',
    'phase': 'cell_drain',
    'mode': 'migrate',
    'source_cell': 'old',
    'destination_cell': 'new',
    'target_cells': ['new', 'next'],
    'source_flavor': 'm1',
    'destination_flavor': 'm1',
    'source_zone': 'az1',
    'destination_zone': 'az2',
    'unpin_zone': True,
    'confirm': 'manual',
}


class TestFromParameters(base.BaseTestCase):
    def test_migrate(self) -> None:
        task = CellMoveTask.from_parameters(PARAMETERS)
        self.assertEqual(
            CellMoveTask(
                instance='a',
                name='web',
                source='old-1',
                destination='new-1',
                source_cell='old',
                destination_cell='new',
                source_flavor='m1',
                destination_flavor='m1',
                target_cells=['new', 'next'],
                source_zone='az1',
                destination_zone='az2',
                unpins=True,
                confirm='manual',
                aggregate='old -> new, next',
                phase='cell_drain',
            ),
            task,
        )
        self.assertFalse(task.is_resize)
        self.assertEqual({'new'}, task.cells)

    def test_resize(self) -> None:
        """Nova chooses the host: any cell of the targets is right."""
        task = CellMoveTask.from_parameters(
            PARAMETERS
            | {
                'mode': 'resize',
                'destination_flavor': 'm2',
                'destination_flavor_id': '2',
                'finishes': 'f',
            }
        )
        self.assertTrue(task.is_resize)
        self.assertEqual({'new', 'next'}, task.cells)
        self.assertEqual('2', task.destination_flavor_id)
        self.assertEqual('f', task.finishes)
