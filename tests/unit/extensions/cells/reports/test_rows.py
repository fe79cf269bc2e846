# SPDX-License-Identifier: Apache-2.0
"""Do reports tell all of a cell that is emptied, and nothing of others?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.extensions.cells.cell_drain import (
    CellMove,
    CellOutcome,
    ForeignMove,
    OffloadedServer,
)
from kronos.extensions.cells.reports import rows
from tests.builders.cells import unfinished
from tests.unit.recordings.test_meta_schema import DRAIN


def begun(uuid: str) -> dict[str, Any]:
    """What is told of :func:`.unfinished`."""
    return {
        'action': f'action-{uuid}',
        'action_plan': '',
        'instance': uuid,
        'instance_name': uuid,
        'host': 'n1',
        'status': 'VERIFY_RESIZE',
        'source': 'o1',
        'destination': 'n1',
        'confirm': 'auto',
        'cell_move': rows.move(unfinished(uuid).how),
    }


class TestCells(base.BaseTestCase):
    def test_none(self) -> None:
        for call in (rows.request, rows.outcome, rows.move):
            self.assertIsNone(call(None))

    def test_asked(self) -> None:
        """Every field, by the names that its audit's parameters have."""
        request = rows.request(DRAIN)
        assert request is not None
        self.assertEqual(len(dataclasses.fields(DRAIN)), len(request))
        self.assertEqual(
            ('old', ['new'], 'manual', 'hosts'),
            (
                request['source_cell'],
                request['target_cells'],
                request['confirm'],
                request['order'],
            ),
        )

    def test_outcome(self) -> None:
        shelf = OffloadedServer('u2', 'shelf')
        cell = CellOutcome(
            'old',
            ['new'],
            3,
            1,
            staying=['u1'],
            may_be_here=[shelf],
            finishing=[unfinished('a')],
            unconfirmed=[unfinished('b')],
            going_on=[unfinished('c', plan='p')],
            of_others=[ForeignMove('d', 'web', 'o2', 'n2', 'old')],
        )
        self.assertEqual(
            {
                'source_cell': 'old',
                'target_cells': ['new'],
                'servers_before': 3,
                'servers_after': 1,
                'staying': ['u1'],
                'may_be_here': [{'uuid': 'u2', 'name': 'shelf'}],
                'finishing': [begun('a')],
                'unconfirmed': [
                    begun('b')
                    | {'command': 'openstack server resize confirm b'}
                ],
                'going_on': [begun('c') | {'action_plan': 'p'}],
                'of_others': [
                    {
                        'instance': 'd',
                        'instance_name': 'web',
                        'source': 'o2',
                        'destination': 'n2',
                    }
                ],
                'is_empty': False,
            },
            rows.outcome(cell),
        )

    def test_move(self) -> None:
        result = rows.move(CellMove('o', 'n', 'm1', 'm2', 'zo', 'zn', '7'))
        self.assertEqual(
            {
                'is_resize': True,
                'source_cell': 'o',
                'destination_cell': 'n',
                'source_flavor': 'm1',
                'destination_flavor': 'm2',
                'source_zone': 'zo',
                'destination_zone': 'zn',
                'unpins': False,
            },
            result,
        )
