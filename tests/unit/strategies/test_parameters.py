# SPDX-License-Identifier: Apache-2.0
"""Are an audit's parameters understood as users type them?"""

import ast
import json

import jsonschema
import testscenarios
from oslotest import base
from watcher.common import utils

from kronos.common import exceptions
from kronos.strategies import affinity, evacuate, pack, parameters, spread

EVERY = sorted(
    {*spread.Spread.PARAMETERS, *pack.Pack.PARAMETERS}
    | {*evacuate.Evacuate.PARAMETERS, *affinity.Affinity.PARAMETERS}
)


def sent(value):
    """What the command line makes of ``-p name=value``."""
    try:
        return json.loads(value)
    except ValueError:
        return value


class SchemaTestCase(base.BaseTestCase):
    def test_survives_the_database(self):
        schema = parameters.schema(EVERY)
        stored = ast.literal_eval(str(schema))
        self.assertEqual(schema, stored)
        self.assertEqual(schema, json.loads(json.dumps(schema)))

    def test_has_no_defaults(self):
        self.assertNotIn('default', json.dumps(parameters.schema(EVERY)))

    def test_is_a_schema(self):
        jsonschema.Draft4Validator.check_schema(parameters.schema(EVERY))


class TypedTestCase(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [
        (f'{name}={value}', {'name': name, 'value': value, 'expected': want})
        for name, value, want in [
            ('aggregates', 'gpu', ['gpu']),
            ('aggregates', 'gpu,hpc', ['gpu', 'hpc']),
            ('aggregates', ' gpu , hpc,gpu', ['gpu', 'hpc']),
            ('aggregates', '["gpu", "a,b", 7]', ['gpu', 'a,b', '7']),
            ('aggregates', '5', ['5']),
            ('include_unassigned_hosts', 'true', True),
            ('include_unassigned_hosts', 'True', True),
            ('include_unassigned_hosts', 'FALSE', False),
            ('restrict_to_az', '"true"', True),
            ('restrict_to_az', 'false', False),
            ('hosts', 'h1', ['h1']),
            ('hosts', 'h1, h2,h1', ['h1', 'h2']),
            ('hosts', '["h1", 7]', ['h1', '7']),
            ('evacuate_disabled_hosts', 'true', True),
            ('enforce_hard_affinity', 'False', False),
            ('enforce_soft_affinity', '"TRUE"', True),
            ('max_migrations', '5', 5),
            ('max_migrations', '"100"', 100),
        ]
    ]

    def test_is_taken(self):
        raw = {self.name: sent(self.value)}
        utils.StrictDefaultValidatingDraft4Validator(
            parameters.schema(EVERY)
        ).validate(raw)
        parsed = parameters.parse(raw, EVERY)
        self.assertEqual(self.expected, getattr(parsed, self.name))


class RefusedTestCase(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [
        (f'{name}={value}', {'name': name, 'value': value, 'by_schema': seen})
        for name, value, seen in [
            ('aggregates', 'true', True),
            ('aggregates', '{"a": 1}', True),
            ('aggregates', '[]', False),
            ('aggregates', '', False),
            ('aggregates', 'gpu,,hpc', False),
            ('aggregates', '[["gpu"]]', True),
            ('aggregates', '1.5', True),
            ('include_unassigned_hosts', 'maybe', True),
            ('include_unassigned_hosts', '1', True),
            ('restrict_to_az', 'yes', True),
            ('hosts', 'false', True),
            ('hosts', 'h1,', False),
            ('hosts', '[]', False),
            ('evacuate_disabled_hosts', 'on', True),
            ('enforce_hard_affinity', '1', True),
            ('enforce_soft_affinity', 'soft', True),
            ('max_migrations', '0', True),
            ('max_migrations', '101', True),
            ('max_migrations', '2.5', True),
            ('max_migrations', '"0"', True),
            ('max_migrations', 'many', True),
            ('max_migrations', 'true', True),
        ]
    ]

    def test_is_refused_with_its_name(self):
        raw = {self.name: sent(self.value)}
        error = self.assertRaises(
            exceptions.ConfigurationError, parameters.parse, raw, EVERY
        )
        self.assertIn(f'{self.name}: {sent(self.value)!r}', str(error))

    def test_by_the_schema_where_that_is_possible(self):
        validator = jsonschema.Draft4Validator(parameters.schema(EVERY))
        raw = {self.name: sent(self.value)}
        self.assertEqual(self.by_schema, not validator.is_valid(raw))


class ParseTestCase(base.BaseTestCase):
    def test_nothing(self):
        self.assertEqual(parameters.Parameters(), parameters.parse({}, EVERY))

    def test_unknown(self):
        error = self.assertRaises(
            exceptions.ConfigurationError,
            parameters.parse,
            {'agregates': 'a'},
            EVERY,
        )
        self.assertIn('agregates', str(error))

    def test_of_another_strategy(self):
        """A changed audit is not checked by Watcher: it must not pass."""
        error = self.assertRaises(
            exceptions.ConfigurationError,
            parameters.parse,
            {'hosts': 'h1'},
            spread.Spread.PARAMETERS,
        )
        self.assertIn("hosts: 'h1' is unknown to this strategy", str(error))
