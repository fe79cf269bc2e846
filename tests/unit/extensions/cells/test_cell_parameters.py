# SPDX-License-Identifier: Apache-2.0
"""Are the parameters of a cell drain understood as users type them?"""

import ast
import json
from typing import Any

import jsonschema
import testscenarios
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.cells import cell_parameters
from kronos.extensions.cells.cell_drain import CellDrain, Confirm, MoveOrder

ENDS = {'source_cell': 'old', 'target_cells': 'new'}


def sent(value: str) -> Any:
    """What the command line makes of ``-p name=value``."""
    try:
        return json.loads(value)
    except ValueError:
        return value


class TestSchema(base.BaseTestCase):
    def test_survives_the_database(self) -> None:
        schema = cell_parameters.schema()
        self.assertEqual(schema, ast.literal_eval(str(schema)))
        self.assertEqual(schema, json.loads(json.dumps(schema)))
        jsonschema.Draft4Validator.check_schema(schema)

    def test_has_no_defaults(self) -> None:
        """They would be written into stored audits."""
        for one in cell_parameters.schema()['properties'].values():
            self.assertNotIn('default', one)


class TestTyped(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [
        (f'{name}={value}', {'name': name, 'value': value, 'wanted': wanted})
        for name, value, wanted in [
            ('source_cell', 'cell1', 'cell1'),
            ('source_cell', '1', '1'),
            ('target_cells', 'a, b,a', ['a', 'b']),
            ('target_cells', '["a", 7]', ['a', '7']),
            ('target_cells', '7', ['7']),
            ('hosts', 'h1,h2', ['h1', 'h2']),
            ('flavor_map', '{"a": "b", "*": "same"}', {'a': 'b', '*': 'same'}),
            ('flavor_map', '{"1": 2}', {'1': '2'}),
            ('flavor_map', 'a=b, c = same', {'a': 'b', 'c': 'same'}),
            ('confirm', 'manual', Confirm.MANUAL),
            ('order', 'hosts', MoveOrder.HOSTS),
            ('include_stopped', 'False', False),
            ('unpin_az', 'true', True),
            ('close_source', 'TRUE', True),
        ]
    ]
    name: str
    value: str
    wanted: Any

    def test_understood(self) -> None:
        raw = ENDS | {self.name: sent(self.value)}
        jsonschema.Draft4Validator(cell_parameters.schema()).validate(raw)
        drain = cell_parameters.parse(raw)
        field = {'source_cell': 'source', 'target_cells': 'targets'}
        found = getattr(drain, field.get(self.name, self.name))
        self.assertEqual(self.wanted, found)


class TestRefused(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [
        (f'{name}={value}', {'name': name, 'value': value, 'text': text})
        for name, value, text in [
            ('source_cell', None, 'missing; name one'),
            ('source_cell', 'a,b', 'not the name of one cell'),
            ('source_cell', ['a'], 'not the name of one cell'),
            ('source_cell', '', 'no list of cell names'),
            ('target_cells', None, 'missing; name one'),
            ('target_cells', [], 'no list of cell names'),
            ('target_cells', 'a,,b', 'no list of cell names'),
            ('target_cells', True, 'no list of cell names'),
            ('target_cells', 'new,old', 'holding the source_cell'),
            ('hosts', [], 'no list of host names'),
            ('flavor_map', {}, 'no map of flavors'),
            ('flavor_map', [], 'no map of flavors'),
            ('flavor_map', 'a', 'no map of flavors'),
            ('flavor_map', 'a=b,a=c', 'no map of flavors'),
            ('flavor_map', {'a': ''}, 'no map of flavors'),
            ('flavor_map', {'a': True}, 'no map of flavors'),
            ('flavor_map', {'a': ['b']}, 'no map of flavors'),
            ('confirm', 'yes', 'neither auto nor manual'),
            ('order', 'fastest', 'neither safest nor hosts'),
            ('include_stopped', 'maybe', 'neither true nor false'),
            ('max_migrations', 101, 'no whole number from 1 to 100'),
            ('max_migrations', '0', 'no whole number from 1 to 100'),
            ('aggregates', 'gpu', 'unknown to this strategy'),
            ('target_cell', 'a', 'strategy; did you mean target_cells?'),
        ]
    ]
    name: str
    value: Any
    text: str

    def test_named(self) -> None:
        error = self.assertRaises(
            ConfigurationError,
            cell_parameters.parse,
            ENDS | {self.name: self.value},
        )
        self.assertIn(f'Audit parameter {self.name}: ', str(error))
        self.assertIn(self.text, str(error))


class TestDefaults(base.BaseTestCase):
    def test_defaults(self) -> None:
        found = cell_parameters.parse(dict(ENDS))
        self.assertEqual(CellDrain('old', ['new']), found)
