# SPDX-License-Identifier: Apache-2.0
"""What was placed that the samples do not show yet?"""

from oslotest import base

from kronos.weighers import recent_placements


class TestLedger(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.placements = recent_placements.RecentPlacements(100.0)

    def test_the_first_sighting_is_no_change(self):
        self.assertIsNone(self.placements.used('a'))
        self.assertIsNone(self.placements.base('a', 0.0))
        self.placements.note({'a': 40.0}, 0.0)
        self.assertEqual(0.0, self.placements.pending('a', 0.0))
        self.assertEqual(40.0, self.placements.used('a'))
        self.assertEqual(40.0, self.placements.base('a', 0.0))

    def test_it_decays(self):
        """Over settling_seconds, evenly."""
        self.placements.note({'a': 40.0, 'b': 2.0}, 0.0)
        self.placements.note({'a': 48.0, 'b': 2.0}, 10.0)
        for now, remaining in ((10, 8), (35, 6), (60, 4), (110, 0), (500, 0)):
            self.assertAlmostEqual(
                remaining, self.placements.pending('a', now)
            )
            self.assertEqual(0.0, self.placements.pending('b', now))

    def test_each_change_by_its_own_time(self):
        for now, used in ((0, 4), (10, 8), (60, 10)):
            self.placements.note({'a': used}, now)
        self.assertAlmostEqual(4 * 0.5 + 2, self.placements.pending('a', 60))
        self.placements.note({'a': 10}, 110)
        self.assertAlmostEqual(1, self.placements.pending('a', 110))

    def test_servers_that_leave(self):
        """The samples still show them for a while."""
        self.placements.note({'a': 8}, 0)
        self.placements.note({'a': 2}, 1)
        self.assertAlmostEqual(-6, self.placements.pending('a', 1))
        self.assertAlmostEqual(-3, self.placements.pending('a', 51))

    def test_a_sighting_of_long_ago(self):
        """When its difference came is not known; it is in the samples."""
        self.placements.note({'a': 8}, 0)
        self.assertEqual(8, self.placements.base('a', 100))
        self.assertIsNone(self.placements.base('a', 101))
        self.placements.note({'a': 20}, 101)
        self.assertEqual(0.0, self.placements.pending('a', 101))

    def test_but_what_came_since_the_last_look(self):
        """The first burst after a quiet hour."""
        self.placements.note({'a': 8}, 0)
        self.placements.note({'a': 20}, 3600, {'a': 12})
        self.assertEqual(8, self.placements.pending('a', 3600))

    def test_settling_at_once(self):
        self.placements.settling = 0.0
        self.placements.note({'a': 8}, 0)
        self.placements.note({'a': 9}, 0)
        self.assertEqual(0.0, self.placements.pending('a', 0))

    def test_forgotten(self):
        self.placements.note({'a': 8}, 0)
        self.placements.note({'a': 9}, 1)
        self.placements.forget(['a', 'never there'])
        self.assertEqual(0.0, self.placements.pending('a', 1))
        self.assertIsNone(self.placements.used('a'))

    def test_silence(self):
        """It counts from others: a quiet cloud does not silence a host."""
        self.placements.note({'a': 8, 'b': 8}, 0)
        self.placements.note({}, 1000)
        self.assertEqual(0.0, self.placements.silence('a'))
        self.placements.note({'b': 8}, 1000)
        self.assertEqual(1000.0, self.placements.silence('a'))
        self.assertEqual(0.0, self.placements.silence('b'))
        self.assertEqual(float('inf'), self.placements.silence('c'))
