# SPDX-License-Identifier: Apache-2.0
"""Do the actions of a run speak Watcher's language?"""

import jsonschema
from watcher.applier.loading import default

from kronos.extensions.maintenance.audit import additions
from kronos.extensions.maintenance.maintenance import Maintenance
from tests.watcher_tests import db_base as base

UUID = '11111111-1111-1111-1111-111111111111'
KINDS = (additions.CLOSE, additions.HAND_OVER, additions.REOPEN)
ASKED = Maintenance('r', ('h1',), 2, done_query='up', reopen=False)


class HostActionTestCase(base.DbTestCase):
    def action(self, kind):
        """With what the planner gives."""
        action = default.DefaultActionLoader().load(kind)
        action.input_parameters = {
            **additions._inputs(1, 'alpha', 'h1', ASKED),
            **additions._more(kind, ASKED),
            'resource_id': 'h1',
            'action_uuid': UUID,
            'action_plan_uuid': UUID,
            'audit_uuid': UUID,
        }
        return action

    def test_schema_takes_what_the_planner_gives(self):
        for kind in KINDS:
            self.assertTrue(self.action(kind).validate_parameters(), kind)

    def test_schema_refuses(self):
        for kind in KINDS:
            for name, value in (
                ('source_node', ''),
                ('run', ''),
                ('sequence', 0),
                ('at_once', 0),
                ('stopped', 1),
                ('done_query', 1),
                ('more', 'x'),
            ):
                action = self.action(kind)
                if name in action.schema['properties']:
                    action.input_parameters[name] = value
                elif name == 'more':
                    del action.input_parameters['run']
                else:
                    continue
                self.assertRaises(
                    jsonschema.ValidationError, action.validate_parameters
                )

    def test_descriptions_fit_their_column(self):
        for kind in KINDS:
            self.assertLess(len(self.action(kind).get_description()), 255)

    def test_nothing_is_undone(self):
        """The next audit goes on from there."""
        for kind in KINDS:
            self.assertIsNone(self.action(kind).revert())
