# SPDX-License-Identifier: Apache-2.0
"""Is chance the same everywhere?"""

from oslotest import base

from kronos.engine.planning.search.local.random_numbers import RandomNumbers


class TestLots(base.BaseTestCase):
    def test_the_first_ones(self):
        """Another NumPy, Python or machine has no others."""
        self.assertEqual(
            [0.5118216247002567, 0.9504636963259353],
            RandomNumbers(1).draw(2).tolist(),
            'the bits have changed',
        )

    def test_their_range_and_shape(self):
        found = RandomNumbers(7).draw(50, 40)
        self.assertEqual((50, 40), found.shape)
        self.assertTrue((found >= 0.0).all() and (found < 1.0).all())
        self.assertAlmostEqual(0.5, float(found.mean()), 1)
        self.assertEqual(2000, len({*found.ravel().tolist()}))

    def test_each_draw_is_another(self):
        rng = RandomNumbers(1)
        self.assertNotEqual(rng.draw(3).tolist(), rng.draw(3).tolist())
