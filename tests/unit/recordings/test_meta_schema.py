# SPDX-License-Identifier: Apache-2.0
"""Is what was asked for, and how, told in full?"""

from dataclasses import replace
from typing import Any, get_origin

from oslotest import base

from kronos.engine.settings import Settings, SwapMoves
from kronos.extensions.cells.cell_drain import CellDrain, Confirm, MoveOrder
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.options import extensions
from kronos.options.row import Row, rows
from kronos.recordings import meta_schema
from kronos.snapshots.scopes import AggregateRef, ScopeRequest
from tests.unit.recordings import test_inventory_schema as inventory

DRAIN = CellDrain(
    source='old',
    targets=['new'],
    hosts=['h'],
    flavor_map={'small': 'large'},
    confirm=Confirm.MANUAL,
    order=MoveOrder.HOSTS,
    include_stopped=False,
    unpin_az=True,
    close_source=True,
)


def other(row: Row) -> Any:
    """A value that the field of an option does not have by default."""
    if row.kind is bool:
        return not row.default
    if row.kind in (int, float):
        return row.kind(row.default + 17)
    if get_origin(row.kind) is list:
        return ['a']
    if row.check is not None:
        return {'a': '2'} if get_origin(row.kind) is dict else '2'
    assert row.choices
    return next(word for word in row.choices if word != row.default)


def others(kind: type) -> dict[str, Any]:
    """Such a value of each option."""
    return {
        row.field: other(replace(row, default=getattr(kind(), row.field)))
        for row in rows(kind)
    }


SETTINGS = Settings(
    **others(Settings),
    max_migrations=5,
    drain_hosts=['h'],
    rebalance=False,
    unlimited=True,
    repeat_moves=True,
    exhaust=True,
    extension=Cells(DRAIN),
    beside=[kind(**others(kind)) for kind in extensions.classes()],
)
REQUEST = ScopeRequest(
    aggregates=['a', AggregateRef('7', 'b')],
    include_unassigned=True,
    availability_zones=['z'],
    excluded_hosts=['h'],
    excluded_aggregates=[AggregateRef(name='c'), 'd'],
    excluded_instances=['u'],
    excluded_projects=['p'],
    excluded_metadata=[{'k': 'v'}],
    chosen=CellScope('old', ['new'], ['h']),
)


class TestSettings(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for name, value in inventory.defaults(Settings).items():
            self.assertNotEqual(value, getattr(SETTINGS, name), name)
        row = meta_schema.schemas().settings.of(SETTINGS)
        self.assertEqual(SETTINGS, row.settings())

    def test_keys_and_what_an_older_recording_lacks(self) -> None:
        row, before = meta_schema.schemas().settings(), Settings()
        self.assertEqual('follows', row.unexplained_load)
        row.unexplained_load = before.unexplained_load
        options = {
            each.field
            for kind in (Settings, *extensions.classes())
            for each in rows(kind)
        }
        self.assertEqual(before, row.settings())
        self.assertEqual(
            {
                'max_migrations': None,
                'drain_hosts': None,
                'recover': False,
                'cell_drain': None,
                'extension': None,
                'rebalance': True,
                'unlimited': False,
                'repeat_moves': False,
                'exhaust': False,
            },
            {
                name: value
                for name, value in vars(row).items()
                if name not in options
            },
        )

    def test_exchanges_as_they_were_told_once(self) -> None:
        adapter = meta_schema.schemas().file
        row = vars(meta_schema.schemas().settings())
        for old, new in ((True, SwapMoves.SAFE), (False, SwapMoves.NONE)):
            meta = adapter.validate_python(
                {
                    'format_version': 1,
                    'recorded_at': '',
                    'taken_at': 0.0,
                    'made_by': '',
                    'strategy': '',
                    'request': {},
                    'settings': row | {'swap_moves': old},
                    'configured': None,
                    'max_concurrent_migrations': 1,
                    'anonymized': False,
                    'warnings': [],
                },
                strict=False,
            )
            self.assertIs(new, meta.settings.settings().swap_moves)


class TestRequest(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for name, value in inventory.defaults(ScopeRequest).items():
            self.assertNotEqual(value, getattr(REQUEST, name), name)
        row = meta_schema.schemas().request.of(REQUEST)
        self.assertEqual(REQUEST, row.request())

    def test_keys(self) -> None:
        row = meta_schema.schemas().request.of(REQUEST)
        self.assertEqual(
            [
                'aggregates',
                'include_unassigned',
                'availability_zones',
                'excluded_hosts',
                'excluded_aggregates',
                'excluded_instances',
                'excluded_projects',
                'excluded_metadata',
                'cells',
            ],
            list(vars(row)),
        )
        self.assertEqual(
            ['a', meta_schema.AggregateRefRow('7', 'b')], row.aggregates
        )
