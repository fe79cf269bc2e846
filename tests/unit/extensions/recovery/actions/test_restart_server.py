# SPDX-License-Identifier: Apache-2.0
"""Does the restart of a server speak Watcher's language?"""

import jsonschema
from watcher.applier.loading import default

from tests.watcher_tests import db_base as base

UUID = '11111111-1111-1111-1111-111111111111'
PARAMETERS = {
    'resource_id': UUID,
    'resource_name': 'one',
    'aggregate': 'alpha',
    'sequence': 1,
    'source_node': 'h1',
    'destination_node': 'h1',
    'attempt': 1,
    'failure': 'crash',
    'failed_at': 1763752294.1,
    'stopped': '',
    'reason': 'it failed (crash)',
    'recovery': {'at': 1.0, 'stop': ''},
    'action_uuid': UUID,
    'action_plan_uuid': UUID,
    'audit_uuid': UUID,
}


class RestartServerTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        loader = default.DefaultActionLoader()
        self.action = loader.load('kronos_restart_server')
        self.action.input_parameters = dict(PARAMETERS)

    def test_schema_takes_what_the_planner_gives(self):
        self.assertTrue(self.action.validate_parameters())

    def test_schema_refuses(self):
        for name, value in (
            ('resource_id', 'one'),
            ('destination_node', ''),
            ('attempt', 0),
            ('failed_at', 'now'),
        ):
            self.action.input_parameters = {**PARAMETERS, name: value}
            self.assertRaises(
                jsonschema.ValidationError, self.action.validate_parameters
            )

    def test_description_fits_its_column(self):
        self.assertLess(len(self.action.get_description()), 255)

    def test_it_takes_nothing_back(self):
        self.assertIsNone(self.action.revert())
