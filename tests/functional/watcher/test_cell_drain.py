# SPDX-License-Identifier: Apache-2.0
"""An audit that empties a cell: what it asks, plans, writes and records."""

import os
import time

import fixtures
from keystoneauth1 import adapter, noauth
from keystoneauth1 import session as ks_session
from watcher import objects
from watcher.applier.actions import factory

from kronos.clients.watcher import WatcherClient
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.readings import begun_moves, unfinished_moves
from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.fakes.small_cloud import cloud, state
from tests.functional.watcher import base

ASKED = {'source_cell': 'old', 'target_cells': 'new'}


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
        super().setUp()
        self.records = self.useFixture(fixtures.TempDir()).path
        self.set('kronos', record_dir=self.records)

    def drain(self, force=False, **asked):
        """:param force: whether it runs though a plan goes on"""
        return self.create_audit(
            goal='kronos_cell',
            strategy='kronos_cell_drain',
            parameters=ASKED | asked,
            force=force,
        )

    def replayed(self):
        """The plan of the newest recording."""
        names = [os.path.join(self.records, n) for n in
                 os.listdir(self.records)]  # fmt: skip
        found = load.read(max(names, key=os.path.getmtime))
        return replay(found, ReplayOptions()).report

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
        self.assertEqual(
            [m['resource_id'] for m in moves],
            [step.instance for step in self.replayed().steps],
        )

    def test_new_flavors(self):
        """The hosts are closed before, and every move waits for that.

        If it is known that Nova lets servers leave their cell.
        """
        asked = {'flavor_map': {'small': '2'}, 'close_source': True}
        audit = self.drain(**asked)
        self.assertEqual([], self.actions(self.plan(audit)))
        self.assertIn('nova_policy_files', self.message(audit))
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'policy')
        with open(path, 'w') as file:
            file.write('"compute:servers:resize:cross_cell": "role:admin"')
        self.set('kronos', nova_policy_files=[path])
        audit = self.drain(max_migrations=2, force=True, **asked)
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


class BegunTestCase(CellDrainTestCase):
    """Moves of an earlier plan that are not over in Nova."""

    def begun(
        self, action='CANCELLED', plan='CANCELLED', moves=1, **parameters
    ):
        """Let a plan of one move end so, with its server between cells.

        :returns: its action
        """
        audit = self.drain(max_migrations=moves, force=True)
        row = self.plan(audit)
        [one] = [
            found
            for found in self.actions(row)
            if 'finishes' not in found.input_parameters
        ]
        told = one.input_parameters
        self.between(told['resource_id'], 'm-ours', told)
        mark = {'at': time.time(), 'status': 'ACTIVE', 'before': {}}
        mark['migration'] = 'm-ours'
        found = objects.Action.get_by_uuid(self.context, one.uuid, eager=True)
        found.state = action
        found.input_parameters = told | parameters | {'cell_move': mark}
        found.save()
        self.rewrite_plan(row, plan)
        return found

    def between(self, server, migration, told, status='VERIFY_RESIZE'):
        """Let a server wait in its new cell to be confirmed."""
        one = self.cloud.servers[server]
        one.status, one.host = status, told['destination_node']
        now = state.stamp(time.time())
        self.cloud.cold_migrations.insert(
            0,
            {
                'id': 1,
                'uuid': migration,
                'instance_uuid': server,
                'status': 'finished',
                'migration_type': 'migration',
                'source_compute': told['source_node'],
                'dest_compute': told['destination_node'],
                'created_at': now,
                'updated_at': now,
            },
        )

    def rewrite_plan(self, row, plan):
        found = objects.ActionPlan.get_by_uuid(
            self.context, row['uuid'], eager=True
        )
        found.state = plan
        found.save()

    def by_api(self):
        """What kronos-record finds of moves that were begun."""
        session = ks_session.Session(
            auth=noauth.NoAuth(), additional_headers=self.admin_api._headers()
        )
        asked = adapter.Adapter(
            session,
            service_type='infra-optim',
            endpoint_override=self.admin_api.base_url.removesuffix('/v1'),
        )
        return unfinished_moves.listed(WatcherClient(asked), 0.0)


class TestFinishing(BegunTestCase):
    def test_after_an_applier_died(self):
        """First of the plan, with all that the first action had."""
        was = self.begun(confirm='manual')
        audit = self.drain(max_migrations=3)
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertIn(
            'servers 5 -> 3, 1 move begun before is finished',
            self.message(audit),
        )
        rows = self.actions(self.plan(audit))
        self.assertEqual(3, len(rows))
        first, *moves = rows
        self.assertEqual('kronos_cross_cell_migrate', first.action_type)
        factory.ActionFactory().make_action(first)
        changed = {'action_uuid', 'action_plan_uuid', 'audit_uuid'}
        gone = {'cell_move', 'imbalance', 'combined_imbalance'}
        self.assertEqual(
            {k: v for k, v in was.input_parameters.items()
             if k not in changed | gone} | {'finishes': was.uuid},
            {k: v for k, v in first.input_parameters.items()
             if k not in changed},
        )  # fmt: skip
        self.assertFalse([m for m in moves if 'finishes' in
                          m.input_parameters])  # fmt: skip
        ends = {was.input_parameters[name] for name in
                ('source_node', 'destination_node')}  # fmt: skip
        for one in moves:
            told = one.input_parameters
            there = {told['source_node'], told['destination_node']}
            self.assertEqual(bool(there & ends), first.uuid in one.parents)
        report = self.replayed()
        self.assertEqual(
            [was.uuid],
            [m.action for _, m in cell_drain.finishing(*report.scopes)],
        )
        self.assertEqual(
            [m.input_parameters['resource_id'] for m in moves],
            [step.instance for step in report.steps],
        )

    def test_it_is_finished_once(self):
        """Whoever is at it, no second plan is for the same server."""
        self.begun()
        audit = self.drain(max_migrations=1)
        [first] = self.actions(self.plan(audit))
        self.rewrite_plan(self.plan(audit), 'ONGOING')
        again = self.drain(max_migrations=1, force=True)
        told = [one for _, one in self.told(again)]
        self.assertFalse([one for one in told if 'finishes' in one])
        self.assertNotIn(first.input_parameters['resource_id'], str(told))

    def test_the_plan_goes_on(self):
        was = self.begun('FAILED', 'ONGOING')
        audit = self.drain(force=True)
        self.assertNotIn('finishes', str(self.told(audit)))
        [scope] = self.replayed().scopes
        [going_on] = cell_drain.outcome_of(scope).going_on
        self.assertEqual(was.uuid, going_on.action)

    def test_one_that_failed_to_the_end(self):
        was = self.begun('FAILED', 'FAILED')
        first = self.told(self.drain())[0][1]
        self.assertEqual(was.uuid, first['finishes'])

    def test_an_operator_is_to_confirm(self):
        was = self.begun('SUCCEEDED', 'SUCCEEDED', confirm='manual')
        audit = self.drain()
        self.assertIn('waits for you to confirm', self.message(audit))
        told = [one for _, one in self.told(audit)]
        self.assertFalse([one for one in told if 'finishes' in one])
        [scope] = self.replayed().scopes
        [one] = cell_drain.outcome_of(scope).unconfirmed
        self.assertEqual(was.input_parameters['resource_id'], one.instance)

    def test_somebody_else_has_moved_it_since(self):
        was = self.begun()
        told = was.input_parameters
        self.between(told['resource_id'], 'm-theirs', told)
        audit = self.drain()
        self.assertIn('in VERIFY_RESIZE by somebody else', self.message(audit))
        self.assertNotIn('finishes', str(self.told(audit)))

    def test_nothing_else_is_known(self):
        """Without metrics, and then without os-services."""
        was = self.begun()
        self.set('kronos_prometheus', url='http://127.0.0.1:9')
        audit = self.drain()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertEqual(was.uuid, self.told(audit)[0][1]['finishes'])
        self.cloud.down.add(('GET', '/nova/v2.1/os-services'))
        audit = self.drain()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        [(_, one)] = self.told(audit)
        self.assertEqual(was.uuid, one['finishes'])

    def test_the_api_tells_the_same(self):
        self.begun()
        self.begun('SUCCEEDED', 'SUCCEEDED', moves=2, confirm='manual')
        self.begun('FAILED', 'ONGOING', moves=3)
        found = begun_moves.since(0.0)
        self.assertEqual(3, len(found))
        self.assertEqual(
            sorted(found, key=str), sorted(self.by_api(), key=str)
        )
