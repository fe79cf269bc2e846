# SPDX-License-Identifier: Apache-2.0
"""Do the pictures in the documents show what the programs show now?"""

import re

import ddt
from oslotest import base

from kronos.strategies.goals import Balance
from tests.functional.pages import pictures, png
from tests.functional.pages.base import PageTestCase
from tests.functional.pages.pictures import EVERY, FOLDER, Picture

MOST_BYTES = 200_000
ALIKE = 0.02
"""Ratio of a picture that another browser may draw otherwise."""


@ddt.ddt
class TestPictures(PageTestCase):
    @ddt.data(*EVERY)
    def test_is_up_to_date(self, picture: Picture) -> None:
        self.check(picture, picture.path.read_bytes())

    def check(self, picture: Picture, kept: bytes) -> None:
        now = picture.shot(self.browser)
        again = f'{picture.name}: make it anew with {pictures.COMMAND}'
        self.assertEqual(png.words(now), png.words(kept), again)
        self.assertEqual(png.size(now), png.size(kept), again)
        ratio = pictures.different(self.browser, now, kept)
        self.assertLess(ratio, ALIKE, again)

    def test_others_are_found_out(self) -> None:
        """Other words, another size, and other colours."""
        light, dark = EVERY[:2]
        kept = light.path.read_bytes()
        words = png.words(kept)
        for other in (
            png.with_words(kept, words.replace('Policy', 'Rule')),
            png.with_words(EVERY[2].path.read_bytes(), words),
            dark.path.read_bytes(),
        ):
            self.assertRaises(AssertionError, self.check, light, other)


class TestFiles(base.BaseTestCase):
    def test_are_small(self) -> None:
        for path in FOLDER.iterdir():
            self.assertLess(path.stat().st_size, MOST_BYTES, path.name)

    def test_each_is_shown_and_made(self) -> None:
        """By the script, by the test of Horizon, or drawn by hand."""
        pages = FOLDER.parent.rglob('*.rst')
        shown = set()
        for page in pages:
            shown |= set(re.findall(r'images/([\w.-]+)', page.read_text()))
        names = {path.name for path in FOLDER.iterdir()}
        self.assertEqual(names, shown)
        made = {picture.path.name for picture in EVERY}
        rest = {
            name
            for name in names - made
            if name.endswith('.png') and not name.startswith('horizon-')
        }
        self.assertEqual(set(), rest)

    def test_horizon_shows_the_indicators_of_today(self) -> None:
        """Only the lab can make these pictures anew, and seldom does."""
        words = png.words((FOLDER / 'horizon-plan.png').read_bytes())
        lines = words.splitlines()
        for measure in Balance.MEASURES:
            self.assertIn(measure.name, lines)
            self.assertIn(measure.description, lines)
