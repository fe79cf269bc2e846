# SPDX-License-Identifier: Apache-2.0
"""An extension of another package: its strategy runs as Kronos' own do."""

import os

import fixtures

from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.functional.watcher import base
from tests.functional.watcher.test_example_strategy import Installed
from tests.unit.examples import extension, extension_strategy

LINES = {
    'kronos.extensions': 'rack = tests.unit.examples.extension:Rack',
    'watcher_actions': 'rack_state = '
    'tests.unit.examples.extension_strategy:RackState',
    'watcher_strategies': 'empty_rack = '
    'tests.unit.examples.extension_strategy:EmptyRack',
}
MOVE = 'kronos_live_migrate'


class ExtensionTestCase(base.KronosTestCase):
    def setUp(self):
        self.useFixture(Installed(LINES))
        extension_strategy.DONE.clear()
        super().setUp()
        self.records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=self.records)

    def test_an_audit_and_its_plan(self):
        """Closed, emptied and handed over, in this order."""
        audit = self.create_audit(
            goal='kronos_drain',
            strategy='empty_rack',
            parameters={'aggregates': 'alpha', 'hosts': 'h1'},
        )
        message = self.message(audit)
        self.assertEqual('SUCCEEDED', audit['state'], message)
        self.assertIn('h1: ', message)
        plan = self.plan(audit)
        actions = self.actions(plan)
        moves = [one for one in actions if one.action_type == MOVE]
        first, last = (
            next(
                one
                for one in actions
                if one.input_parameters.get('state') == state
            )
            for state in ('disabled', 'enabled')
        )
        self.assertTrue(moves)
        self.assertEqual(len(moves) + 2, len(actions))
        for move in moves:
            self.assertIn(first.uuid, move.parents)
            self.assertEqual('evacuate', move.input_parameters['phase'])
        self.assertEqual({one.uuid for one in moves}, {*last.parents})
        self.start(plan)
        states = {one.state for one in self.actions(plan)}
        self.assertEqual({'SUCCEEDED'}, states)
        self.assertEqual(['disabled', 'enabled'], extension_strategy.DONE)
        found = load.read(
            os.path.join(self.records, *os.listdir(self.records))
        )
        self.assertEqual(
            extension.Rack(extension.RackDrain(['h1'])),
            found.settings.extension,
        )
        again = replay(found, ReplayOptions()).report
        self.assertEqual(
            [one.input_parameters['resource_id'] for one in moves],
            [step.instance for step in again.steps],
        )
