# SPDX-License-Identifier: Apache-2.0
"""Are durations told as people say them?"""

from hypothesis import given
from hypothesis import strategies as some
from oslotest import base

from kronos.common import durations

SECONDS = {'s': 1, 'min': 60, 'h': 3600, 'day': 86400, 'days': 86400}


def seconds_of(text: str) -> float:
    words = text.split()
    numbers, units = words[::2], words[1::2]
    return sum(
        float(number) * SECONDS[unit]
        for number, unit in zip(numbers, units, strict=True)
    )


class TestRounded(base.BaseTestCase):
    def test_what_people_say(self) -> None:
        for seconds, text in (
            (0, '0 s'),
            (0.42, '0.42 s'),
            (61.4, '61 s'),
            (119.4, '119 s'),
            (119.6, '2 min'),
            (964, '16 min'),
            (3599, '1 h'),
            (5400, '1 h 30 min'),
            (9 * 3600 + 1740, '9 h 29 min'),
            (100000, '1 day 4 h'),
            (200000, '2 days 8 h'),
            (900000, '10 days'),
            (-3, '-3 s'),
            (float('inf'), 'inf s'),
            (float('nan'), 'nan s'),
        ):
            self.assertEqual(text, durations.rounded(seconds), seconds)

    @given(some.floats(1, 1e8))
    def test_it_is_about_as_long(self, seconds: float) -> None:
        rounded = seconds_of(durations.rounded(seconds))
        self.assertLessEqual(abs(rounded - seconds), 0.5 + 0.25 * seconds)
        self.assertLessEqual(len(durations.rounded(seconds).split()), 4)


class TestBeside(base.BaseTestCase):
    def test_they_never_read_the_same(self) -> None:
        for pair, texts in (
            ((964, 300), ('16 min', '5 min')),
            ((305, 300), ('5 min 5 s', '5 min')),
            ((86401, 86400), ('1 day 1 s', '1 day')),
        ):
            shown = (durations.beside(*pair), durations.beside(*pair[::-1]))
            self.assertEqual(texts, shown)


class TestExact(base.BaseTestCase):
    def test_nothing_is_left_out(self) -> None:
        for seconds, text in (
            (0.25, '0.25 s'),
            (305.4, '5 min 5 s'),
            (60, '60 s'),
            (90, '90 s'),
            (300, '5 min'),
            (305, '5 min 5 s'),
            (3600, '1 h'),
            (86400, '1 day'),
            (180061, '2 days 2 h 1 min 1 s'),
            (float('inf'), 'inf s'),
        ):
            self.assertEqual(text, durations.exact(seconds), seconds)

    @given(some.integers(0, 10**9))
    def test_it_is_as_long(self, seconds: int) -> None:
        text = durations.exact(seconds)
        self.assertAlmostEqual(seconds, seconds_of(text), delta=1e3)
        if seconds < durations.MOST:
            self.assertEqual(seconds, seconds_of(text))
