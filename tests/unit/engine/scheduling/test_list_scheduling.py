# SPDX-License-Identifier: Apache-2.0
"""Is a plan laid out as a literal list scheduling lays it out?"""

import functools
import random

from oslotest import base

from kronos.engine.scheduling import graph, list_scheduling
from tests.unit.engine.scheduling import test_graph

PLANS = 500
LIMITS = {'out': 1, 'in': 2}


class Literal:
    """Each round every step that waits is looked at anew."""

    def __init__(self, steps, shot, limit):
        self.steps = steps
        self.shot = shot
        self.limits = LIMITS | {'scope': limit}
        self.tight = {
            name
            for name, host in shot.hosts.items()
            if sum(one.memory_mb for one in steps if one.destination == name)
            > host.headroom['MEMORY_MB'].capacity
            - host.headroom['MEMORY_MB'].used
        }
        self.before = [
            {early for early in range(late) if self.waits(late, early)}
            for late in range(len(steps))
        ]
        self.ends = {}
        self.held = {}
        """What holds the lanes of a resource: at most its limit of steps."""

    def chains(self, index):
        one = self.steps[index]
        groups = (g for g in self.shot.groups if one.instance in g.members)
        names = {one.instance, *(group.uuid for group in groups)}
        return names | {one.requires} if one.requires else names

    def waits(self, late, early):
        host, other = self.steps[late].destination, self.steps[early]
        touches = host in (other.source, other.destination)
        return bool(self.chains(late) & self.chains(early)) or (
            touches and host in self.tight
        )

    def keys(self, index):
        one = self.steps[index]
        return [
            ('scope', one.scope),
            ('out', one.source),
            ('in', one.destination),
        ]

    def start(self, index):
        at = [self.ends[one] for one in self.before[index]]
        for key in self.keys(index):
            held = self.held.get(key, [])
            if len(held) == self.limits[key[0]]:
                at.append(min(self.ends[one] for one in held))
        return max(at, default=0)

    def took(self, index):
        return list_scheduling.milliseconds(self.steps[index])

    @functools.cache  # noqa: B019
    def chain(self, index):
        after = (n for n, before in enumerate(self.before) if index in before)
        return self.took(index) + max(map(self.chain, after), default=0)

    def urgency(self, index, left):
        """Work that cannot end before this step has been done."""
        one = self.steps[index]
        out = [n for n in left if self.steps[n].source == one.source]
        into = [
            n for n in left if self.steps[n].destination == one.destination
        ]
        return max(
            sum(map(self.took, out)) / self.limits['out'],
            sum(map(self.took, into)) / self.limits['in'],
            self.chain(index),
        )

    def take(self, key, index):
        """A new lane, or the one that is free first."""
        held = self.held.setdefault(key, [])
        if len(held) == self.limits[key[0]]:
            held.remove(min(held, key=self.ends.get))
        held.append(index)

    def order(self):
        found = []
        while left := set(range(len(self.steps))) - {*found}:
            start, _, _, chosen = min(
                (self.start(n), -self.urgency(n, left), -self.took(n), n)
                for n in left
                if self.before[n] <= {*found}
            )
            found.append(chosen)
            for key in self.keys(chosen):
                self.take(key, chosen)
            self.ends[chosen] = start + self.took(chosen)
        return found

    def parents(self):
        """Without those that another one is behind."""
        above = []
        for direct in self.before:
            above.append(direct.union(*(above[one] for one in direct)))
        return [
            sorted(direct - set().union(*(above[one] for one in direct)))
            for direct in self.before
        ]


class TestLiteral(base.BaseTestCase):
    def test_plans(self):
        late = 0
        for seed in range(PLANS):
            rng = random.Random(seed)
            steps, shot = test_graph.random_plan(rng)
            for one in steps:
                one.scope = rng.choice(['alpha', 'alpha', 'beta'])
                one.requires = rng.choice([None] * 5 + [steps[0].instance])
            limit = rng.randint(1, 5)
            literal = Literal(steps, shot, limit)
            with self.subTest(seed=seed):
                found = graph.schedule(steps, [shot], limit)
                self.assertEqual(literal.parents(), found.parents)
                self.assertEqual(literal.order(), found.order)
            late += found.order != sorted(found.order)
        self.assertGreater(late, PLANS // 2)
