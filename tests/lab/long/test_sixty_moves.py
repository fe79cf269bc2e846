# SPDX-License-Identifier: Apache-2.0
"""A plan of sixty moves takes little longer than the limits make it."""

import collections
import math
import os
import time
from typing import Any

from testtools import content

from tests.lab import base, sampling
from tests.lab.appliers import AppliersTestCase

MOVES = 60
SINGLES = 5
SERVERS = {'cmp1': 24 + SINGLES, 'cmp2': 20, 'cmp3': 16}
"""Uneven, so that the order in which hosts take turns matters."""
SECONDS = 3
"""What a fake hypervisor takes for a move."""
ALLOWED = 1.25
"""Times the lower bound."""
LIMIT_SECONDS = 1800


class TestSixtyMoves(AppliersTestCase):
    def test_a_plan_of_sixty_moves(self):
        """The limits hold, and nothing but them takes long."""
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
        self.give_workers(workers)

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
        print(text)
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
        hosts = base.ALPHA
        with sampling.Sampler(hosts, pause=0.5) as sampler:
            self.start(plan)
            began = time.monotonic()
            self.cloud.wait_for(
                lambda: self.cloud.watcher(url)['state'] in base.FINAL,
                LIMIT_SECONDS,
                'the action plan to end',
            )
            took = time.monotonic() - began
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
