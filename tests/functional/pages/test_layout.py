# SPDX-License-Identifier: Apache-2.0
"""Is a page readable: wide and narrow, light and dark, small and large?"""

import itertools
import struct

import ddt

from kronos.reports.html import page
from tests.functional.pages import base, looking

NAMES = (
    'small', 'mixed', 'long', 'packed', 'roomy', 'nothing', 'old', 'hostile',
    'large',
)  # fmt: skip
EVERY = list(itertools.product(NAMES, base.WIDTHS, base.SCHEMES))

# Machado, Oliveira and Fernandes (2009), severity 1, on linear light.
BLINDNESS = {
    'protanopia': (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    'deuteranopia': (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    'tritanopia': (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


@ddt.ddt
class TestEveryPage(base.PageTestCase):
    @ddt.data(*EVERY)
    @ddt.unpack
    def test_readable(self, name: str, width: int, scheme: str) -> None:
        """Nothing sticks out, is cut off, faint or tiny."""
        self.show(name, width, scheme)
        self.assertEqual([], self.look(looking.OVERFLOWING))
        self.assertEqual([], self.look(looking.CUT_OFF))
        self.assertEqual([], self.look(looking.OVERLAPPING))
        self.assertEqual([], self.look(looking.FAINT))
        self.assertEqual([], self.look(looking.FAINT_FIGURES))
        self.assertGreaterEqual(self.look(looking.SMALLEST_TEXT), 11)
        if name != 'large' or (width, scheme) == (400, base.SCHEMES[0]):
            # To draw all of it takes the browser ten seconds and more.
            self.check_shot(name, width, scheme)
        self.look(looking.WIDER)
        self.assertEqual([], self.look(looking.OVERFLOWING))

    def check_shot(self, name: str, width: int, scheme: str) -> None:
        base.SHOTS.mkdir(parents=True, exist_ok=True)
        path = base.SHOTS / f'{name}-{width}-{scheme}.png'
        self.browser.shoot(str(path))
        size = struct.unpack('>II', path.read_bytes()[16:24])
        height = self.look('document.documentElement.scrollHeight')
        self.assertEqual((width, height), size)

    @ddt.data(*base.WIDTHS)
    def test_labels_are_on_one_line(self, width: int) -> None:
        document, _ = base.rendered('small')
        told = {
            'recording': {
                'path': '/srv/recordings/' + 'a' * 40,
                'made_by': 'tools/generate --hosts 12 --instances 60 --seed 3',
                'recorded_at': '2026-03-02T09:00:00+00:00',
                'anonymized': True,
            },
            'command': 'kronos-replay ' + '--set a=b ' * 20,
        }
        self.load(page.render(document | told, base.TITLE), width)
        self.assertIn('Recorded by', self.look(looking.all_of('dt')))
        self.assertEqual([], self.look(looking.BROKEN_LABELS))
        self.assertEqual([], self.look(looking.OVERFLOWING))

    @ddt.data(*base.WIDTHS)
    def test_alone_and_quiet(self, width: int) -> None:
        """It asks for nothing, and the browser has nothing to say."""
        for name in NAMES:
            self.show(name, width)
            self.assertEqual([], self.browser.requests())
            self.assertEqual([], self.browser.complaints())
            self.assertEqual([], self.look(looking.SCRIPTS))


class TestColours(base.PageTestCase):
    def test_follow_the_reader(self) -> None:
        """prefers-color-scheme: dark on light, or light on dark."""
        found = {}
        for scheme in base.SCHEMES:
            self.show('small', 1280, scheme)
            found[scheme] = self.look(looking.COLOURS)
        light, dark = found['light'], found['dark']
        for part in ('page', 'card'):
            self.assertGreater(min(light[part]), 230)
            self.assertLess(max(dark[part]), 60)
        self.assertLess(max(light['text']), 60)
        self.assertGreater(min(dark['text']), 200)

    def test_can_be_told_apart_by_everybody(self) -> None:
        for scheme in base.SCHEMES:
            self.show('small', 1280, scheme)
            found = self.look(looking.COLOURS)
            for kind, matrix in BLINDNESS.items():
                seen = {
                    part: _seen(color, matrix) for part, color in found.items()
                }
                for one, other in (
                    ('after', 'over'),
                    ('after', 'band'),
                    ('over', 'band'),
                    ('after', 'before'),
                ):
                    apart = sum(
                        abs(a - b)
                        for a, b in zip(seen[one], seen[other], strict=True)
                    )
                    self.assertGreater(
                        apart, 75, f'{scheme}, {kind}: {one} and {other}'
                    )

    def test_are_never_alone(self) -> None:
        """What is over the band has a mark in its number, too."""
        marked = 0
        for name in ('small', 'mixed', 'large'):
            self.show(name)
            for table in self.look(looking.BARS):
                for row in table['rows']:
                    self.assertEqual(row['marked'], row['told'], row)
                    marked += row['marked']
        self.assertGreater(marked, 0)

    def test_phases_have_dashes_of_their_own(self) -> None:
        self.show('mixed')
        paths = [
            path for one in self.look(looking.FLOW) for path in one['paths']
        ]
        kinds = {path['color']: path['dash'] for path in paths}
        self.assertEqual(3, len(kinds))
        self.assertEqual(3, len(set(kinds.values())))


class TestPrint(base.PageTestCase):
    def test_on_white_and_all_of_it(self) -> None:
        """Also of a dark screen; what is folded up is unfolded."""
        self.show('mixed', 1280, 'dark', 'print')
        found = self.look(looking.COLOURS)
        self.assertEqual([255, 255, 255], found['page'])
        self.assertEqual([0, 0, 0], found['text'])
        self.assertEqual([], self.look(looking.FAINT))
        hidden = (
            '[...document.querySelectorAll("details li, details td")].filter('
            'one => !one.checkVisibility({contentVisibilityAuto: true})'
            ').length'
        )
        self.assertEqual(0, self.look(hidden))
        self.browser.media('dark')
        self.assertGreater(self.look(hidden), 0)


def _seen(
    color: list[float], matrix: tuple[tuple[float, float, float], ...]
) -> list[float]:
    linear = [
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
        for one in (part / 255 for part in color)
    ]
    found = []
    for row in matrix:
        value = sum(a * b for a, b in zip(row, linear, strict=True))
        value = min(max(value, 0.0), 1.0)
        found.append(
            255
            * (
                12.92 * value
                if value <= 0.0031308
                else 1.055 * value ** (1 / 2.4) - 0.055
            )
        )
    return found
