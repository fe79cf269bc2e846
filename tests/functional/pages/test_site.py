# SPDX-License-Identifier: Apache-2.0
"""Can the documents be read, searched and pasted from, on any screen?"""

import itertools
import re

import ddt

from tests.functional.pages import base, looking, site

WIDTHS = (400, 800, 1400)
BEYOND = looking.script("""
  const scrolls = one => {
    for (let at = one.parentElement; at !== document.body;
         at = at.parentElement)
      if (getComputedStyle(at).overflowX === 'auto') return true;
    return false;
  };
  return [...document.querySelectorAll('body *')].filter(one =>
    shown(one) && box(one).width && box(one).right > innerWidth + .5
    && !scrolls(one)).map(named);
""")
"""What is beyond the right side, but for what has a scrollbar of its own."""
CENTRED = looking.script("""
  return [...document.querySelectorAll('.docs-body :is(td, th, p, li, dd)')]
    .filter(one => getComputedStyle(one).textAlign === 'center').map(named);
""")
CUT_TABLES = looking.script("""
  return [...document.querySelectorAll('table.docutils')].filter(one =>
    shown(one) && one.scrollWidth > one.clientWidth + 1).map(named);
""")
"""Tables of which some columns are seen only after scrolling."""
WORDS = looking.script("""
  const lines = node => {
    const range = document.createRange();
    range.selectNode(node);
    return new Set([...range.getClientRects()].map(one => one.top)).size;
  };
  return [...document.querySelectorAll('td:first-child code .pre')]
    .flatMap(one => [...one.childNodes])
    .filter(node => /^[a-z_]{1,11}$/.test(node.data))
    .map(node => [node.data, lines(node)]);
""")
"""Short words of codes in first columns, and over how many lines each is."""
FAINT = looking.FAINT.replace('texts()', 'texts().filter(one =>'
    " !one.closest('.headerlink, .highlight'))")  # fmt: skip
"""Code has the colours of its lexer."""
COPIED = 'navigator.clipboard.readText()'
PASTED = """(selector => {
  const button = document.querySelector(selector + ' .site-copy');
  button.click();
  return button.parentElement.textContent;
})"""


class SiteTestCase(base.PageTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # Before a test has a folder for temporary files of its own.
        site.built()

    def visit(
        self, name: str, width: int = 1400, scheme: str = 'light'
    ) -> None:
        """Load a page with its scripts."""
        self.browser.open(str(site.page(name)), width, scheme, scripts=True)

    def is_seen(self, selector: str) -> bool:
        return bool(
            self.look(
                f'document.querySelector("{selector}").checkVisibility()'
            )
        )


@ddt.ddt
class TestEveryPage(SiteTestCase):
    @ddt.data(*itertools.product(site.PAGES, WIDTHS))
    @ddt.unpack
    def test_fits(self, name: str, width: int) -> None:
        """Nothing is beyond the side, cut or centred."""
        self.visit(name, width)
        self.assertEqual([], self.look(BEYOND))
        self.assertEqual([], self.look(CENTRED))
        self.assertEqual([], self.look(CUT_TABLES))
        self.assertEqual(1, self.look(looking.OUTLINE).count(1))
        self.assertTrue(self.is_seen('h1'))
        self.assertTrue(self.is_seen('.site-search input'))

    @ddt.data(*itertools.product(site.PAGES, base.SCHEMES))
    @ddt.unpack
    def test_nothing_is_faint(self, name: str, scheme: str) -> None:
        self.visit(name, 800, scheme)
        self.assertEqual([], self.look(FAINT))

    @ddt.data(*site.PAGES)
    def test_loads_nothing_from_elsewhere(self, name: str) -> None:
        self.visit(name)
        asked = self.browser.requests()
        self.assertGreater(len(asked), 3)
        rest = [one for one in asked if not one.startswith(('file:', 'data:'))]
        self.assertEqual([], rest)
        self.assertEqual([], self.browser.complaints())
        text = site.page(name).read_text()
        self.assertNotRegex(text, 'google|gtag|analytics')

    def test_codes_break_between_words_on_a_phone(self) -> None:
        self.visit('troubleshooting', 400)
        words = self.look(WORDS)
        self.assertGreater(len(words), 100)
        self.assertIn('instance_', [word for word, _ in words])
        self.assertEqual([], [word for word, lines in words if lines > 1])

    def test_pictures_follow_the_reader(self) -> None:
        for scheme in base.SCHEMES:
            self.visit('index', 1400, scheme)
            for other in base.SCHEMES:
                seen = self.is_seen(f'figure.only-{other}')
                self.assertEqual(scheme == other, seen)
            color = self.look(
                'getComputedStyle(document.body).backgroundColor'
            )
            parts = [int(part) for part in re.findall(r'\d+', color)]
            dark = max(parts) < 60
            self.assertEqual(scheme == 'dark', dark, color)


class TestMenu(SiteTestCase):
    def test_is_folded_on_a_phone(self) -> None:
        """It comes before the page, a line high, and opens at a tap."""
        for width in (400, 800):
            self.visit('operating', width)
            self.assertFalse(self.is_seen('.site-menu'))
            top = self.look(
                'document.querySelector("h1").getBoundingClientRect().top'
            )
            self.assertLess(top, 220)
            self.look('document.querySelector(".site-fold-label").click()')
            self.assertTrue(self.is_seen('.site-menu'))
            self.assertEqual([], self.look(BEYOND))

    def test_opens_by_the_keyboard(self) -> None:
        self.visit('operating', 400)
        self.look('document.querySelector(".site-fold").focus()')
        self.press(' ', 32, ' ')
        self.assertTrue(self.is_seen('.site-menu'))

    def test_is_beside_the_page_on_a_screen(self) -> None:
        self.visit('operating')
        self.assertTrue(self.is_seen('.site-menu'))
        self.assertFalse(self.is_seen('.site-fold-label'))
        self.assertTrue(self.is_seen('.site-contents'))
        current = self.look('document.querySelector('
            '".site-menu .current > a").textContent')  # fmt: skip
        self.assertEqual('Operating', current)

    def test_search_finds(self) -> None:
        self.visit('search')
        query = 'location.search = "?q=quarantine"'
        self.browser.events.clear()
        self.look(query)
        self.browser.wait_for('Page.loadEventFired')
        found = self.look(
            """new Promise(done => {
              let tries = 100;
              const look = () => {
                const links = document.querySelectorAll('#search-results a');
                if (links.length || !tries--)
                  done([...links].map(one => one.textContent));
                else setTimeout(look, 50);
              };
              look();
            })"""
        )
        self.assertIn('Concepts', found)


class TestPasting(SiteTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.browser.ask(
            'Browser.grantPermissions',
            permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'],
        )

    def copied(self, selector: str) -> str:
        """What a block's button copies."""
        self.look(f'{PASTED}({selector!r})')
        return str(self.look(COPIED))

    def test_commands_without_prompts(self) -> None:
        self.visit('operating')
        text = self.copied('.highlight-console')
        self.assertEqual(
            'openstack optimize audit create --force -g kronos_balance '
            '-s kronos_spread \\\n    -p aggregates=alpha',
            text,
        )

    def test_a_file_as_a_whole(self) -> None:
        self.visit('policies')
        text = self.copied('.highlight-yaml')
        self.assertTrue(text.startswith('policies:\n  - name: cpu'), text)

    def test_selecting_takes_no_prompt(self) -> None:
        """It is seen, and not part of the text."""
        self.visit('troubleshooting')
        texts = self.look(looking.all_of('.highlight-console pre'))
        self.assertGreater(len(texts), 10)
        self.assertEqual([], [one for one in texts if one.startswith('$')])
        seen = self.look(
            'getComputedStyle(document.querySelector(".gp"), "::before")'
            '.content'
        )
        self.assertEqual('"$ "', seen)

    def test_what_is_printed_has_no_button(self) -> None:
        self.visit('troubleshooting')
        without = self.look(
            '[...document.querySelectorAll(".highlight-console")].filter('
            'one => !one.querySelector(".gp")'
            ' && one.querySelector(".site-copy")).length'
        )
        self.assertEqual(0, without)
