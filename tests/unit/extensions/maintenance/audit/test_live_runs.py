# SPDX-License-Identifier: Apache-2.0
"""What do Watcher's rows say of runs that live?"""

import datetime

from oslo_utils import timeutils

from kronos.extensions.maintenance.audit import live_runs
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.readings.pace import Pace
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State
from tests.watcher_tests import object_utils as utils


class TestLiveRuns(test_history.HistoryTestCase):
    def strategy_of(self, name):
        self.number += 1
        self.strategy = utils.create_test_strategy(
            self.context,
            id=50 + self.number,
            uuid=test_history.uuid(50 + self.number),
            name=name,
            goal_id=self.goal.id,
        )

    def audit(
        self,
        state,
        run='r',
        kind='CONTINUOUS',
        interval='60',
        force=False,
        **more,
    ):
        self.number += 1
        utils.create_test_audit(
            self.context,
            id=self.number,
            uuid=test_history.uuid(self.number),
            name=f'audit {self.number}',
            goal_id=self.goal.id,
            strategy_id=self.strategy.id,
            audit_type=kind,
            state=state,
            interval=interval,
            force=force,
            parameters={'hosts': 'b,a', 'run': run} | more,
        )

    def test_live(self):
        self.strategy_of(live_runs.STRATEGY)
        for state, run in (
            ('ONGOING', 'r'),
            ('ONGOING', 'r'),
            ('SUSPENDED', 's'),
            ('CANCELLED', 't'),
            ('SUCCEEDED', 'u'),
        ):
            self.audit(state, run)
        self.audit('ONGOING', 'v', at_once='many')  # of another version
        self.assertEqual(
            [Maintenance('r', ('a', 'b')), Maintenance('s', ('a', 'b'))],
            live_runs.live(),
        )

    def test_elsewhere(self):
        self.strategy_of(live_runs.STRATEGY)
        self.audit('ONGOING', 'r', hosts='h9')
        self.audit('ONGOING', 's', hosts='h1,h2')
        self.audit('SUSPENDED', 't', hosts=['h3'])
        self.audit('CANCELLED', 'u', hosts='h4')
        self.audit('ONGOING', 'v', 'ONESHOT', hosts='h5')
        self.audit('PENDING', 'w', hosts='h6')
        self.audit('ONGOING', 'a b', hosts='h7')
        self.assertEqual(
            {'h1': 's', 'h2': 's', 'h3': 't'}, live_runs.elsewhere('r')
        )

    def test_pace(self):
        """By the audit of the run, and by the appliers that are up."""
        self.strategy_of(live_runs.STRATEGY)
        self.override('workers', 3, 'watcher_applier')
        self.assertEqual(Pace(60.0, 3, True), live_runs.pace('r'))
        now = timeutils.utcnow()
        old = now - datetime.timedelta(days=1)
        for host, name, seen in (
            ('a', live_runs.APPLIER, now),
            ('b', live_runs.APPLIER, now),
            ('c', live_runs.APPLIER, old),
            ('d', 'watcher-decision-engine', now),
        ):
            self.number += 1
            utils.create_test_service(
                self.context,
                id=self.number,
                name=name,
                host=host,
                last_seen_up=seen,
            )
        self.audit('ONGOING', 'r', kind='ONESHOT')
        self.assertEqual(Pace(60.0, 6, True), live_runs.pace('r'))
        self.audit('ONGOING', 'r', interval='300', force=True)
        self.assertEqual(Pace(300.0, 6, True), live_runs.pace('r'))
        self.audit('ONGOING', 's', interval='*/5 * * * *', force=False)
        self.assertEqual(Pace(60.0, 1, False), live_runs.pace('s'))

    def override(self, name, value, group):
        live_runs.CONF.set_override(name, value, group)
        self.addCleanup(live_runs.CONF.clear_override, name, group)

    def test_balancing(self):
        for state, kind in (
            ('ONGOING', 'CONTINUOUS'),
            ('SUSPENDED', 'CONTINUOUS'),
            ('ONGOING', 'ONESHOT'),
        ):
            self.audit(state, kind=kind)
        self.assertEqual(['audit 1'], live_runs.balancing())

    def test_moves(self):
        self.strategy_of(live_runs.STRATEGY)

        def move(state, uuid):
            return state, {'input_parameters': {'resource_id': uuid}}

        for run, uuids in (('r', 'ab'), ('r', 'ac'), ('s', 'd')):
            self.plan(
                'SUCCEEDED',
                *(move(State.SUCCEEDED, uuid) for uuid in uuids),
                move(State.FAILED, 'f'),
                parameters={'run': run},
            )
        self.assertEqual({'a': 2, 'b': 1, 'c': 1}, live_runs.moves('r'))
