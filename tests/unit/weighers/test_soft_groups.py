# SPDX-License-Identifier: Apache-2.0
"""What soft server groups make of the weights."""

from types import SimpleNamespace

from oslotest import base

from kronos.weighers import soft_groups

HOSTS = ['a', 'b', 'c']
WEIGHTS = [0.9, 0.5, 0.03]


def spec(policy, *hosts):
    group = SimpleNamespace(policy=policy, hosts=list(hosts))
    return SimpleNamespace(instance_group=group)


class TestBound(base.BaseTestCase):
    def weights(self, request_spec, penalty=soft_groups.FULL_PENALTY):
        return soft_groups.bound(list(WEIGHTS), HOSTS, request_spec, penalty)

    def test_apart(self):
        self.assertEqual(
            [0.0, 0.5, 0.0],
            self.weights(spec('soft-anti-affinity', 'a', 'c')),
        )

    def test_together(self):
        self.assertEqual(
            [0.0, 0.5, 0.0], self.weights(spec('soft-affinity', 'b'))
        )

    def test_a_penalty(self):
        self.assertEqual(
            [0.85, 0.5, 0.0],
            self.weights(spec('soft-anti-affinity', 'a', 'c'), 0.05),
        )

    def test_no_member_on_a_candidate(self):
        for policy in (soft_groups.APART, soft_groups.TOGETHER):
            self.assertEqual(WEIGHTS, self.weights(spec(policy)))
            self.assertEqual(WEIGHTS, self.weights(spec(policy, 'd')))

    def test_hard_groups_are_for_the_filters(self):
        for policy in ('affinity', 'anti-affinity'):
            self.assertEqual(WEIGHTS, self.weights(spec(policy, 'a')))

    def test_no_group(self):
        self.assertEqual(
            WEIGHTS, self.weights(SimpleNamespace(instance_group=None))
        )
