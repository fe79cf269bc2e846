# SPDX-License-Identifier: Apache-2.0
"""Can a page be read with a screen reader and without a mouse?"""

from typing import Any

import ddt

from tests.functional.pages import base, looking

NAMES = ('small', 'mixed', 'long', 'packed', 'nothing', 'old', 'large')


def role(node: dict[str, Any]) -> str:
    return str(node.get('role', {}).get('value', ''))


def name(node: dict[str, Any]) -> str:
    return str(node.get('name', {}).get('value', '')).strip()


@ddt.ddt
class TestScreenReader(base.PageTestCase):
    def heard(self) -> list[dict[str, Any]]:
        return [one for one in self.browser.nodes() if not one.get('ignored')]

    @ddt.data(*((one, width) for one in NAMES for width in base.WIDTHS))
    @ddt.unpack
    def test_everything_has_a_name(self, document: str, width: int) -> None:
        """Tables by captions, figures by labels, regions by headings."""
        self.show(document, width)
        counts = {'table': 0, 'image': 0, 'region': 0, 'columnheader': 0}
        for node in self.heard():
            if role(node) in (*counts, 'link', 'heading', 'navigation'):
                self.assertNotEqual('', name(node), role(node))
            if role(node) in counts:
                counts[role(node)] += 1
        for kind in ('table', 'region', 'columnheader'):
            self.assertGreater(counts[kind], 0, kind)

    @ddt.data(*base.WIDTHS)
    def test_tables_stay_tables(self, width: int) -> None:
        """Also where their rows are drawn as cards."""
        document = self.show('small', width)
        nodes = self.heard()
        moves = [
            one
            for one in nodes
            if role(one) == 'table' and name(one).startswith('The moves in')
        ]
        self.assertEqual(1, len(moves))
        headers = [name(one) for one in nodes if role(one) == 'rowheader']
        for step in document['scopes'][0]['steps']:
            self.assertTrue(
                any(step['instance_name'] in header for header in headers)
            )

    def test_pictures_are_told(self) -> None:
        document = self.show('large')
        images = [name(one) for one in self.heard() if role(one) == 'image']
        self.assertEqual(4, len(images))
        self.assertEqual(3, sum('1000 hosts' in one for one in images))
        steps = document['scopes'][0]['steps']
        self.assertIn(f'{len(steps)} moves from', ' '.join(images))

    @ddt.data(*NAMES)
    def test_headings_skip_no_level(self, document: str) -> None:
        self.show(document)
        levels = self.look(looking.OUTLINE)
        self.assertEqual(1, levels[0])
        self.assertEqual(1, levels.count(1))
        for one, following in zip(levels, levels[1:], strict=False):
            self.assertLessEqual(following, one + 1)


class TestKeyboard(base.PageTestCase):
    def test_what_is_folded_up_opens_without_scripts(self) -> None:
        self.show('mixed')
        folded = 'document.querySelector(".reasons details")'
        self.assertFalse(self.look(f'{folded}.open'))
        self.look(f'{folded}.querySelector("summary").focus()')
        self.press('Enter', 13, '\r')
        self.assertTrue(self.look(f'{folded}.open'))

    def test_what_scrolls_can_be_reached(self) -> None:
        for width in base.WIDTHS:
            self.show('large', width)
            unreachable = self.look(
                '[...document.querySelectorAll("body *")].filter(one =>'
                '["auto", "scroll"].includes(getComputedStyle(one).overflowY)'
                ' && one.tabIndex < 0).length'
            )
            self.assertEqual(0, unreachable)

    def test_the_first_stop_leads_past_the_head(self) -> None:
        self.show('small')
        self.press('Tab', 9)
        self.assertEqual(
            'To the report', self.look('document.activeElement.textContent')
        )
        self.assertTrue(
            self.look(
                'document.activeElement.getBoundingClientRect().left >= 0'
            )
        )
