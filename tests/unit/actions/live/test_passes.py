# SPDX-License-Identifier: Apache-2.0
"""Is it seen whether the passes over a guest's memory converge?"""

from oslotest import base

from kronos.actions.live.passes import MIB, Passes, PassLook


class TestPasses(base.BaseTestCase):
    def passes(self, *looks: tuple[float, float, float]) -> Passes:
        """:param looks: seconds, MiB processed, MiB remaining"""
        found = Passes()
        for at, processed, remaining in looks:
            found.note(
                PassLook(at, int(processed * MIB), int(remaining * MIB))
            )
        return found

    def test_none(self) -> None:
        found = Passes()
        self.assertEqual(0, found.number)
        self.assertEqual(0, found.in_vain())
        self.assertIsNone(found.bandwidth)
        self.assertIsNone(found.dirty_rate)

    def test_one_that_is_slow(self) -> None:
        """It takes its time, and needs no second pass."""
        found = self.passes((0, 0, 128), (10, 10, 118), (100, 100, 28))
        self.assertEqual(1, found.number)
        self.assertEqual(0, found.in_vain())
        self.assertAlmostEqual(1.0 * MIB, found.bandwidth)
        self.assertIsNone(found.dirty_rate)

    def test_ones_that_converge(self) -> None:
        found = self.passes(
            (0, 0, 128),
            (32, 128, 1),
            (33, 130, 30),
            (40, 158, 2),
            (41, 161, 8),
            (43, 168, 1),
            (44, 170, 4),
        )
        self.assertEqual(4, found.number)
        self.assertEqual(0, found.in_vain())

    def several(self, *most: float) -> Passes:
        """Passes of 10 MiB/s with a look each second.

        :param most: MiB that are left when the second pass begins, the third
            and so on
        """
        looks = [(float(n), 10.0 * n, 130.0 - 10 * n) for n in range(13)]
        for size in most:
            while size > 0:
                at = looks[-1][0] + 1
                looks.append((at, 10 * at, size))
                size -= 10
        return self.passes(*looks)

    def test_ones_that_do_not(self) -> None:
        """The guest writes as fast as its memory is sent."""
        found = self.several(35, 40, 35, 38)
        self.assertEqual(5, found.number)
        self.assertEqual(3, found.in_vain())
        self.assertAlmostEqual(10.0 * MIB, found.bandwidth)
        self.assertEqual(
            'pass 5, 10.0 MiB/s sent, 10.2 MiB/s written', str(found)
        )
        # 40 were left at most, and 5 of that pass were sent before that look.
        self.assertAlmostEqual(4.5, found.pause)

    def test_one_pass_that_helps_begins_the_count_anew(self) -> None:
        self.assertEqual(1, self.several(40, 40, 50, 30, 40).in_vain())
        self.assertEqual(0, self.several(40, 40, 50, 30).in_vain())
        self.assertEqual(2, self.several(40, 40, 50).in_vain())

    def test_what_half_a_second_sends_ends_by_itself(self) -> None:
        """Nova grants more and more downtime."""
        rows = [(n, n * 10, 5) for n in range(20)]
        self.assertEqual(0, self.passes(*rows).in_vain())
        rows = [(n, n * 10, 6) for n in range(49)]
        self.assertEqual(5, self.passes(*rows).in_vain())

    def test_short_passes_are_seen_by_what_was_sent(self) -> None:
        """Between two looks a whole pass may begin and end."""
        found = self.passes((0, 0, 4), (1, 10, 4), (2, 20, 3), (3, 30, 3))
        self.assertEqual(4, found.number)

    def test_short_passes_are_compared_by_several_looks(self) -> None:
        """Each look finds another part of a pass left."""
        left = [9, 20, 3, 15, 2, 8, 12, 1, 4, 3, 9, 7]
        rows = [(5 * n, 200 * n, one) for n, one in enumerate(left)]
        self.assertEqual(0, self.passes(*rows).in_vain())

    def test_nothing_sent_is_no_pass(self) -> None:
        rows = [(n, 10, 5 + n % 2) for n in range(20)]
        found = self.passes(*rows)
        self.assertEqual(1, found.number)
        self.assertEqual(float('inf'), found.pause)

    def test_what_is_older_does_not_count(self) -> None:
        found = self.passes((0, 50, 78), (1, 40, 88))
        self.assertEqual(1, found.number)
