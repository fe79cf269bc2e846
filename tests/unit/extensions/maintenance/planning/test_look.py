# SPDX-License-Identifier: Apache-2.0
"""Is everything told that is in the way of a run, before it begins?"""

import dataclasses

from oslotest import base

from kronos.engine.types import (
    ComputeService,
    Event,
    Origin,
    Outcome,
    ServerGroup,
)
from kronos.extensions.maintenance import hints, maintenance, outcome
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import (
    Maintenance,
    RunView,
    Stopped,
)
from kronos.extensions.maintenance.outcome import Look
from tests.builders import maintained, timed_run


class TestLook(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = maintained.cloud(3, 0.3, 1, spares=1)
        names = tuple(sorted(self.cloud.hosts)[:3])
        self.asked = Maintenance('r', names)
        self.servers = [
            server
            for server in self.cloud.instances.values()
            if server.host == 'host-001'
        ]

    def look(self, **spec: object) -> Look:
        run = dataclasses.replace(self.asked, **spec)
        return outcome.of(maintained.Run(self.cloud, run).plan()).look

    def test_blockers_are_met(self) -> None:
        """Those that are told are those at which the run ends."""
        self.servers[0].locked = True
        self.servers[1].metadata = {'kronos:pin': 'true'}
        look = self.look()
        self.assertEqual(
            [server.uuid for server in self.servers[:2]],
            [row.instance for row in look.staying],
        )
        self.assertIn('locked', look.staying[0].reason)
        self.assertTrue(all(row.remedy for row in look.staying))
        self.assertEqual(['host-001'], look.blocked)
        run = timed_run.TimedRun(self.cloud, self.asked)
        run.hours(400)
        self.assertEqual({*look.blocked}, run.blocked)
        self.assertEqual({'host-000', 'host-002'}, run.done)

    def test_whoever_stays_on_a_closed_host(self) -> None:
        """Where it is emptied, or holds servers again; late or not."""
        host, now = 'host-001', self.cloud.taken_at
        self.servers[0].locked = True
        assert self.cloud.services is not None
        for step in (Step.EMPTYING, Step.HANDED_OVER):
            for since in (now, now - self.asked.host_timeout - 1):
                reason = ClosingReason('r', step, since, maintained.AUDIT)
                self.cloud.services[host] = ComputeService(
                    host,
                    state='up',
                    status='disabled',
                    disabled_reason=str(reason),
                )
                look = self.look(drain_timeout=self.asked.host_timeout)
                self.assertEqual([host], look.blocked)
                [row] = look.staying
                self.assertIn('locked', row.reason)

    def test_under_way(self) -> None:
        """A server that Nova is moving does not stay, and counts as a move."""
        plan = outcome.of(maintained.Run(self.cloud, self.asked).plan())
        server = self.servers[0]
        server.status, server.task_state = 'MIGRATING', 'migrating'
        run = outcome.of(maintained.Run(self.cloud, self.asked).plan())
        self.assertEqual(([], []), (run.look.staying, run.look.blocked))
        self.assertEqual(plan.forecast.least_moves, run.forecast.least_moves)

    def test_stopped(self) -> None:
        server = self.servers[0]
        server.status, server.power_state = 'SHUTOFF', 4
        look = self.look()
        self.assertEqual({'host-001': [server.uuid]}, look.stopped)
        self.assertEqual([], look.blocked)
        self.assertEqual(
            ['host-001'], self.look(stopped=Stopped.BLOCK).blocked
        )

    def test_resized_away(self) -> None:
        event = Event(
            'elsewhere',
            'host-002',
            'far',
            Outcome.UNDER_WAY,
            1.0,
            Origin.NOVA,
            status='finished',
            is_resize=True,
        )
        done = dataclasses.replace(event, status='confirmed', instance='x')
        self.cloud.events = [event, done]
        expected = {'host-002': ['elsewhere']}
        self.assertEqual(expected, self.look().may_return)

    def test_groups(self) -> None:
        members = [
            next(
                uuid
                for uuid, server in self.cloud.instances.items()
                if server.host == host
            )
            for host in self.cloud.hosts
            if host != 'host-003'
        ]
        group = ServerGroup('g', 'anti-affinity', members)
        self.cloud.groups = [group]
        self.assertEqual([], self.look().groups)
        look = self.look(at_once=2)
        [text] = look.groups
        self.assertIn('needs 3 hosts, and at_once 2 leaves 2 of 4', text)
        self.assertEqual(1, look.most_at_once)
        self.assertIn('; 1 would do', '\n'.join(look.hints))

    def test_room(self) -> None:
        """Three hosts of .2 go onto one; of .9 not one does."""
        self.cloud = maintained.cloud(3, 0.2, 1, spares=1)
        self.cloud.groups = []
        self.assertEqual(3, self.look().most_at_once)
        full = maintained.cloud(3, 0.9, 1)
        run = maintained.Run(full, Maintenance('r', tuple(full.hosts)))
        look = outcome.of(run.plan()).look
        self.assertEqual(0, look.most_at_once)
        self.assertIn(hints.NO_ROOM, look.hints)

    def test_closed_by_others(self) -> None:
        assert self.cloud.services is not None
        for host in ('host-002', 'host-003'):
            self.cloud.services[host] = ComputeService(
                host, state='up', status='disabled', disabled_reason='mine'
            )
        look = self.look()
        self.assertEqual(['host-002', 'host-003'], look.others)
        self.assertIn('count against at_once', '\n'.join(look.hints))

    def test_done_query_and_balancers(self) -> None:
        def hints(view: RunView) -> str:
            self.cloud.beside = {maintenance.NAME: view}
            states = maintained.Run(self.cloud, self.asked)
            states.done = {*view.done}
            return '\n'.join(outcome.of(states.plan()).look.hints)

        self.assertIn('names no host of the run', hints(RunView()))
        every = [*self.asked.hosts]
        self.assertIn('names all hosts', hints(RunView(done=every)))
        self.assertEqual('', hints(RunView(done=every[:1])))

    def test_pace(self) -> None:
        """What keeps a run from emptying as many hosts as it may."""
        for view, at_once, words in (
            (RunView(), 2, ''),
            (RunView(plans_at_once=2), 2, ''),
            (RunView(plans_at_once=1), 1, ''),
            (RunView(plans_at_once=1), 2, '1 plan at a time by [watcher_'),
            (RunView(plans_at_once=1, is_forced=False), 1, 'without --force'),
        ):
            spec = dataclasses.replace(self.asked, at_once=at_once)
            planned = maintained.Run(self.cloud, spec).plan(view)
            pace = outcome.of(planned).look.pace
            self.assertIn(words, pace)
            self.assertEqual(bool(words), bool(pace))
