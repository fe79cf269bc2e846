# SPDX-License-Identifier: Apache-2.0
"""Broken server groups are repaired by as few moves as it takes."""

from tests.lab import groups


class TestGroups(groups.GroupsTestCase):
    def repaired(self, moves: int) -> set[str]:
        """Let kronos_affinity make so many moves; the servers moved."""
        audit, plan, actions = self.audited(
            'aggregates=alpha', '', 'kronos_affinity'
        )
        self.assertEqual({'affinity'}, self.phases(actions))
        self.assertEqual(moves, len(actions))
        found = self.indicators(plan)
        self.assertEqual(1, found['violations_before'])
        self.assertEqual(0, found['violations_after'])
        self.assertIn('broken server groups 1 -> 0', audit['Status Message'])
        self.assertEqual('SUCCEEDED', self.carried_out(plan)['state'])
        return self.moved(actions)

    def test_hard_groups_are_repaired(self):
        """A pair by one move, a spread-out trio by two."""
        self.no_checks(['cmp1', 'cmp2', 'cmp3'])
        self.forced('apart', 'anti-affinity', ['cmp1', 'cmp1'])
        self.wait_for_metrics()
        [moved] = self.repaired(1)
        self.assertIn(moved, ('apart-0', 'apart-1'))
        where = self.cloud.placement()
        self.assertNotEqual(where['apart-0'], where['apart-1'])

        self.forced('near', 'affinity', ['cmp1', 'cmp2', 'cmp3'])
        self.wait_for_metrics()
        moved_now = self.repaired(2)
        self.assertLess(moved_now, {'near-0', 'near-1', 'near-2'})
        after = self.cloud.placement()
        self.assertEqual(1, len({after[f'near-{n}'] for n in range(3)}), after)
        self.assertNotEqual(after['apart-0'], after['apart-1'])
