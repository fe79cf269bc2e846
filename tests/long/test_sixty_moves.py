# SPDX-License-Identifier: Apache-2.0
"""A plan of sixty moves takes little longer than the limits make it."""

import collections
import math
import os
import threading
import time
from typing import Any, ClassVar

from testtools import content

from tests.lab import base

MOVES = 60
SINGLES = 5
SERVERS = {'cmp1': 24 + SINGLES, 'cmp2': 20, 'cmp3': 16}
"""Uneven, so that the order in which hosts take turns matters."""
SECONDS = 3
"""What a fake hypervisor takes for a move."""
ALLOWED = 1.25
"""Times the lower bound."""
IN_FLIGHT = ('accepted', 'queued', 'preparing', 'running', 'post-migrating')
WORKERS = base.layout.ETC / 'watcher.conf.d' / 'workers.conf'
LIMIT_SECONDS = 1800


class Sampler(threading.Thread):
    """Looks at os-migrations again and again, and keeps the most it saw."""

    def __init__(self, cloud: Any) -> None:
        super().__init__(daemon=True)
        self._cloud = cloud
        self._over = threading.Event()
        self._since = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
        self.most: dict[str, int] = dict.fromkeys(('all', 'out', 'into'), 0)
        self.looks = 0
        self.failed: Exception | None = None

    def run(self) -> None:
        try:
            while not self._over.wait(0.5):
                self._look()
        except Exception as error:
            self.failed = error

    def end(self) -> None:
        self._over.set()
        self.join()
        if self.failed:
            raise self.failed

    def _look(self) -> None:
        url = f'/os-migrations?changes-since={self._since}'
        answer = self._cloud.compute.get(url, microversion='2.80')
        found = [
            row
            for row in answer.json()['migrations']
            if row['status'] in IN_FLIGHT
        ]
        sources = collections.Counter(row['source_compute'] for row in found)
        into = collections.Counter(row['dest_compute'] for row in found)
        for name, number in (
            ('all', len(found)),
            ('out', max(sources.values(), default=0)),
            ('into', max(into.values(), default=0)),
        ):
            self.most[name] = max(self.most[name], number)
        self.looks += 1


class TestSixtyMoves(base.LabTestCase):
    options: ClassVar = {'drain_may_exceed_threshold': True}

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.cloud.reset)
        self.addCleanup(self.lab.restart, 'watcher-applier')
        self.addCleanup(WORKERS.unlink, missing_ok=True)

    def test_a_plan_of_sixty_moves(self):
        """K3: the limits hold, and nothing but them takes long."""
        self.boot(
            base.Wanted(f'{host}-{n}', host, 0.1, 500, flavor='lab.small')
            for host, number in SERVERS.items()
            for n in range(number)
        )
        self.cloud.set_migrations({'default': {'seconds': SECONDS}})
        self.restart_applier(2, workers=os.cpu_count() or 1)
        first = self.one_move('cmp1')
        there = self.many_moves('cmp1,cmp2,cmp3', 2)
        self.restart_applier(3, workers=4)
        second = self.one_move('cmp4,cmp5,cmp6')
        back = self.many_moves('cmp4,cmp5,cmp6', 3)
        third = self.one_move('cmp1')
        # The machine may be slower at times, so one move is measured
        # before and after.
        self.check('2 at a time', (first + second) / 2, *there)
        self.check('3 at a time', (second + third) / 2, *back)

    def restart_applier(self, concurrent: int, workers: int) -> None:
        """Let it carry out so many moves of a scope, actions of a plan."""
        self.configure(max_concurrent_migrations=concurrent)
        group = 'watcher_workflow_engines.taskflow'
        WORKERS.write_text(f'[{group}]\nmax_workers = {workers}\n')
        self.lab.restart('watcher-applier')

    def drain(
        self, hosts: str, moves: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A plan that takes some servers off hosts."""
        _, plan, actions = self.audited(
            f'aggregates=alpha hosts={hosts} max_migrations={moves}',
            strategy='kronos_evacuate',
        )
        self.assertEqual(moves, len(actions))
        return plan, actions

    def one_move(self, hosts: str) -> float:
        """Seconds that a move takes: some, one after another."""
        self.configure(max_concurrent_migrations=1)
        plan, actions = self.drain(hosts, SINGLES)
        return self.run_watched(plan, actions, 1) / SINGLES

    def many_moves(self, hosts: str, concurrent: int) -> tuple[float, int]:
        """Seconds that the plan takes, and the lower bound in moves."""
        self.configure(max_concurrent_migrations=concurrent)
        plan, actions = self.drain(hosts, MOVES)
        took = self.run_watched(plan, actions, concurrent)
        return took, self.rounds(actions, concurrent)

    def check(self, name: str, single: float, took: float, least: int) -> None:
        text = (
            f'{name}: one move {single:.1f} s, {MOVES} moves {took:.1f} s: '
            f'{took / single / least:.3f} x the lower bound of {least} moves'
        )
        self.addDetail(name, content.text_content(text))
        self.assertLessEqual(took, ALLOWED * least * single, text)

    def rounds(self, actions: list[dict[str, Any]], concurrent: int) -> int:
        """The lower bound of the limits, in moves one after another."""
        given = [row['input_parameters'] for row in actions]
        sources = collections.Counter(one['source_node'] for one in given)
        into = collections.Counter(one['destination_node'] for one in given)
        return max(
            math.ceil(len(given) / concurrent),
            max(sources.values()),
            math.ceil(max(into.values()) / 2),
        )

    def run_watched(
        self,
        plan: dict[str, Any],
        actions: list[dict[str, Any]],
        concurrent: int,
    ) -> float:
        """Carry a plan out; the limits hold throughout.

        :returns: seconds from its start to its end
        """
        url = f'/v1/action_plans/{plan["uuid"]}'
        sampler = Sampler(self.cloud)
        sampler.start()
        try:
            self.start(plan)
            began = time.monotonic()
            self.cloud.wait_for(
                lambda: self.cloud.watcher(url)['state'] in base.FINAL,
                LIMIT_SECONDS,
                'the action plan to end',
            )
            took = time.monotonic() - began
        finally:
            sampler.end()
        ended = {row['state'] for row in self.actions(plan)}
        self.assertEqual({'SUCCEEDED'}, ended)
        where = {
            uuid: server['OS-EXT-SRV-ATTR:host']
            for uuid, server in self.cloud.servers().items()
        }
        for row in actions:
            told = row['input_parameters']
            self.assertEqual(
                told['destination_node'], where[told['resource_id']]
            )
        self.assertGreater(sampler.looks, len(actions))
        self.assertLessEqual(sampler.most['all'], concurrent)
        self.assertEqual(1, sampler.most['out'])
        self.assertLessEqual(sampler.most['into'], 2)
        return took
