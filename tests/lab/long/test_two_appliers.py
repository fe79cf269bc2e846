# SPDX-License-Identifier: Apache-2.0
"""Two appliers and three plans, again and again: no limit is ever passed.

``KRONOS_SEED`` repeats what an earlier run has drawn.
"""

import os
import random
import time
from typing import Any

from testtools import content

from tests.lab import base, sampling
from tests.lab.appliers import TwoAppliersTestCase

MINUTES = 10
SERVERS = 24
MEMBERS = 3
SLACK_SECONDS = 3
"""Between the start of a move and Nova's record of it, and its rounding."""


class TestTwoAppliers(TwoAppliersTestCase):
    def test_ten_minutes_of_random_plans(self):
        seed = int(os.environ.get('KRONOS_SEED', time.time()))
        self.addDetail('seed', content.text_content(str(seed)))
        print(f'KRONOS_SEED={seed}')
        self.random = random.Random(seed)
        self.members = self.booted()
        end = time.monotonic() + 60 * MINUTES
        moves = 0
        while time.monotonic() < end:
            moves += self.one_round()
        self.assertGreater(moves, SERVERS)

    def booted(self) -> list[str]:
        """Servers on half of the hosts; uuids of those of the group."""
        group = self.cloud.group('apart', 'anti-affinity')
        wanted = [
            base.Wanted(
                f's{n}', base.ALPHA[n % 3], 0.1, 400, flavor='lab.small'
            )
            for n in range(SERVERS)
        ]
        members = [
            base.Wanted(f'apart-{n}', base.ALPHA[n], 0.1, 400, 'lab.small')
            for n in range(MEMBERS)
        ]
        for one in members:
            one.group = group
        uuids = self.boot([*wanted, *members])
        return [uuids[one.name] for one in members]

    def one_round(self) -> int:
        """Three plans that overlap in time and in hosts; their moves."""
        draw = self.random
        at_most = draw.choice([1, 2, 3])
        stagger = draw.choice([0, 0, 5])
        self.configure(
            max_concurrent_migrations=at_most, stagger_seconds=stagger
        )
        self.cloud.set_migrations(
            {
                'default': {'seconds': 3},
                **{
                    name: {'seconds': draw.uniform(2, 5)}
                    for name in self.cloud.placement()
                },
            }
        )
        self.wait_for_metrics()
        before = self.cloud.placement()
        full = sorted(set(before.values()) & set(base.ALPHA))
        hosts = draw.sample(full, min(3, len(full)))
        plans = [
            self.audited(
                f'aggregates=alpha hosts={host} max_migrations=4',
                '--force',
                'kronos_evacuate',
            )[1]
            for host in hosts
        ]
        self.cloud.set_nova_api([])
        known = {row['uuid'] for row in self.migrations()}
        with sampling.Sampler(base.ALPHA, self.members) as sampler:
            for plan in plans:
                time.sleep(draw.uniform(0, 4))
                self.start(plan)
            for plan in plans:
                self.executed(plan)
        print(hosts, at_most, stagger, sampler.most, sampler.looks)
        self.check(sampler, at_most)
        self.check_stagger(plans, stagger, known)
        moved = self.check_actions(plans)
        self.assert_at_rest({**before, **moved})
        return len(moved)

    def check(self, sampler: sampling.Sampler, at_most: int) -> None:
        self.assertLessEqual(sampler.most['all'], at_most)
        self.assertLessEqual(sampler.most['out'], sampling.OUT_OF_HOST)
        self.assertLessEqual(sampler.most['into'], sampling.INTO_HOST)
        self.assertEqual(set(), sampler.together)

    def check_stagger(
        self, plans: list[dict[str, Any]], stagger: float, known: set[str]
    ) -> None:
        """As Nova has recorded it, and exactly, by the turns."""
        turns = sorted(
            row['input_parameters']['turn']['at']
            for plan in plans
            for row in self.actions(plan)
            if row['state'] == 'SUCCEEDED'
        )
        for one, other in zip(turns, turns[1:], strict=False):
            self.assertGreaterEqual(other - one, stagger)
        made = sorted(
            time.mktime(time.strptime(row['created_at'][:19], FORMAT))
            for row in self.migrations()
            if row['uuid'] not in known
        )
        for one, other in zip(made, made[1:], strict=False):
            self.assertGreaterEqual(other - one, stagger - SLACK_SECONDS)

    def check_actions(self, plans: list[dict[str, Any]]) -> dict[str, str]:
        """None failed but for the group, which the plans did not share.

        Or since nova-scheduler still counted a member on the host that it
        had left, for up to scheduler_instance_sync_interval.

        :returns: where the servers were moved
        """
        moved = {}
        for plan in plans:
            for row in self.actions(plan):
                told = row['input_parameters']
                if row['state'] == 'SUCCEEDED':
                    moved[told['resource_name']] = told['destination_node']
                    continue
                self.assertEqual('FAILED', row['state'], row)
                self.assertIn('PreFlightError', row['status_message'])
                self.assertRegex(
                    row['status_message'], 'group|No valid host was found'
                )
                self.assertIn(told['resource_id'], self.members)
        return moved


FORMAT = '%Y-%m-%dT%H:%M:%S'
