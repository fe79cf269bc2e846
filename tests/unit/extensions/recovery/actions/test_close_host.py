# SPDX-License-Identifier: Apache-2.0
"""Does the closing of a host speak Watcher's language?"""

import jsonschema
from watcher.applier.loading import default

from tests.watcher_tests import db_base as base

UUID = '11111111-1111-1111-1111-111111111111'
PARAMETERS = {
    'resource_id': 'h1',
    'resource_name': 'h1',
    'aggregate': 'alpha',
    'sequence': 1,
    'source_node': 'h1',
    'reason': 'it is at fault',
    'action_uuid': UUID,
    'action_plan_uuid': UUID,
    'audit_uuid': UUID,
}


class CloseHostTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.action = default.DefaultActionLoader().load('kronos_close_host')
        self.action.input_parameters = dict(PARAMETERS)

    def test_schema_takes_what_the_planner_gives(self):
        self.assertTrue(self.action.validate_parameters())

    def test_schema_refuses(self):
        for name, value in (
            ('source_node', ''),
            ('sequence', 0),
            ('action_uuid', 'one'),
        ):
            self.action.input_parameters = {**PARAMETERS, name: value}
            self.assertRaises(
                jsonschema.ValidationError, self.action.validate_parameters
            )
        self.action.input_parameters = {**PARAMETERS}
        del self.action.input_parameters['aggregate']
        self.assertRaises(
            jsonschema.ValidationError, self.action.validate_parameters
        )

    def test_description_fits_its_column(self):
        self.assertLess(len(self.action.get_description()), 255)

    def test_it_opens_nothing(self):
        self.assertIsNone(self.action.revert())
        self.assertIsNone(self.action.post_condition())
