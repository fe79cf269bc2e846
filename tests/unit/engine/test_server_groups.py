# SPDX-License-Identifier: Apache-2.0
"""What does each server-group policy ask for?"""

from oslotest import base

from kronos.engine.server_groups import why_not
from kronos.engine.types import ServerGroup


class TestWhyNot(base.BaseTestCase):
    def test_policies(self) -> None:
        """Each of them, and Nova's rule for a lone member of affinity."""
        table = [
            # policy, there, elsewhere, most, words of the reason
            ('anti-affinity', 0, 3, 1, ''),
            ('anti-affinity', 1, 0, 1, 'has 1 of at most 1 there'),
            ('anti-affinity', 1, 0, 2, ''),
            ('anti-affinity', 2, 0, 2, 'has 2 of at most 2 there'),
            ('soft-anti-affinity', 1, 0, 1, 'has 1 of at most 1 there'),
            ('soft-anti-affinity', 0, 5, 1, ''),
            ('soft-anti-affinity', 1, 0, 2, 'has 1 of at most 1 there'),
            ('affinity', 2, 0, 1, ''),
            ('affinity', 1, 1, 1, 'has 1 other members elsewhere'),
            ('affinity', 0, 2, 1, 'has 2 other members elsewhere'),
            ('affinity', 0, 0, 1, 'Nova requires one'),
            ('soft-affinity', 0, 0, 1, ''),
            ('soft-affinity', 1, 0, 1, ''),
            ('soft-affinity', 1, 1, 1, 'has 1 other members elsewhere'),
            ('custom', 0, 0, 1, 'unknown policy'),
        ]
        for policy, there, elsewhere, most, words in table:
            group = ServerGroup('g', policy, [], max_server_per_host=most)
            reason = why_not(group, there, elsewhere)
            with self.subTest(policy=policy, reason=reason):
                self.assertEqual(bool(words), bool(reason))
                self.assertIn(words, reason or '')
