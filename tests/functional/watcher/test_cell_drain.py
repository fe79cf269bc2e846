# SPDX-License-Identifier: Apache-2.0
"""An audit that empties a cell: what it asks, plans, writes and records."""

import os

import fixtures
from watcher.applier.actions import factory

from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base
from tests.functional.watcher.test_example_strategy import Installed

ASKED = {'source_cell': 'old', 'target_cells': 'new'}
LINES = {
    'watcher_goals': 'kronos_cell = kronos.strategies.goals:Cell',
    'watcher_strategies': 'kronos_cell_drain = '
    'kronos.strategies.cell_drain:CellDrain',
}


class CellDrainTestCase(base.KronosTestCase):
    """Two hosts of an old cell with six servers, two of a new one."""

    START_APPLIER = False

    @staticmethod
    def CLOUD():  # noqa: N802
        found = cloud.Cloud(
            ['o1', 'o2', 'n1', 'n2'],
            {'racks-1': ['o1', 'o2'], 'racks-2': ['n1', 'n2']},
            base.servers('o1', 1, 4)
            + base.servers('o2', 11, 2)
            + base.servers('n1', 21, 1),
        )
        for name, cell in (('racks-1', 'old'), ('racks-2', 'new')):
            found.aggregate_metadata[name] = {'kronos:cell': cell}
        return found

    def setUp(self):
        self.useFixture(Installed(LINES))
        super().setUp()
        self.records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=self.records)

    def drain(self, **asked):
        return self.create_audit(
            goal='kronos_cell',
            strategy='kronos_cell_drain',
            parameters=ASKED | asked,
        )

    def told(self, audit):
        return [
            (one.action_type, one.input_parameters)
            for one in self.actions(self.plan(audit))
        ]

    def test_plan_and_replay(self):
        """The stopped one first; who must stay, stays; replayed the same."""
        self.cloud.servers[base.uuid(2)].status = 'SHUTOFF'
        self.cloud.servers[base.uuid(3)].locked = True
        self.cloud.shared.add(base.uuid(4))
        audit = self.drain()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertIn('cell old: servers 6 -> 2, 2 stay', self.message(audit))
        told = self.told(audit)
        moves = [one for kind, one in told]
        self.assertEqual({'kronos_cross_cell_migrate'}, {k for k, _ in told})
        self.assertEqual(base.uuid(2), moves[0]['resource_id'])
        self.assertEqual({'n1', 'n2'}, {m['destination_node'] for m in moves})
        self.assertEqual(
            {('old', 'new', 'migrate')},
            {
                (m['source_cell'], m['destination_cell'], m['mode'])
                for m in moves
            },
        )
        (name,) = os.listdir(self.records)
        recording = load.read(os.path.join(self.records, name))
        plan = replay(recording, ReplayOptions())
        self.assertEqual(
            [m['resource_id'] for m in moves],
            [step.instance for step in plan.report.steps],
        )

    def test_new_flavors(self):
        """The hosts are closed before, and every move waits for that."""
        audit = self.drain(
            flavor_map={'small': '2'}, close_source=True, max_migrations=2
        )
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        rows = self.actions(self.plan(audit))
        closed = [one for one in rows if 'state' in one.input_parameters]
        self.assertEqual(
            ['o1', 'o2'],
            sorted(c.input_parameters['resource_id'] for c in closed),
        )
        for one in closed:  # Watcher's own action refuses what it knows not
            factory.ActionFactory().make_action(one)
        moves = [one for one in rows if one not in closed]
        self.assertEqual(2, len(moves))
        for one in moves:
            self.assertEqual('resize', one.input_parameters['mode'])
            self.assertEqual(
                '2', one.input_parameters['destination_flavor_id']
            )
            self.assertEqual({c.uuid for c in closed}, {*one.parents[:2]})

    def test_refused(self):
        for asked, text in (
            ({'source_cell': 'odl'}, 'source_cell: "odl" is no cell'),
            ({'target_cells': 'old'}, 'holding the source_cell'),
            ({'hosts': 'n1'}, 'hosts: "n1" is in new, not in old'),
            ({'flavor_map': 'small=huge'}, 'there is no flavor huge'),
        ):
            audit = self.drain(**asked)
            self.assertEqual('FAILED', audit['state'], asked)
            self.assertIn(text, self.message(audit))

    def test_empty(self):
        for number in (1, 2, 3, 4, 11, 12):
            del self.cloud.servers[base.uuid(number)]
        audit = self.drain()
        self.assertEqual('SUCCEEDED', audit['state'])
        self.assertIn('cell old is empty', self.message(audit))
