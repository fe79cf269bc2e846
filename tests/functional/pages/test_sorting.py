# SPDX-License-Identifier: Apache-2.0
"""Can long tables be sorted and searched, where no script may run?"""

import itertools
import pathlib
import urllib.parse
from typing import Any

import ddt

from tests.functional.pages import base, looking

HOSTS, MOVES = 'hosts', 'moves'


def table(scope: int, what: str) -> str:
    kind = 'table.hosts' if what == HOSTS else 'table.stack'
    return f'section[aria-labelledby=scope-{scope}-{what}] {kind}'


def radio(scope: int, what: str, label: str) -> str:
    """An expression for the button of an order."""
    return (
        f'[...document.getElementsByName("scope-{scope}-{what}-by")].find('
        f'one => one.parentElement.textContent === "{label}")'
    )


class SortingTestCase(base.PageTestCase):
    def show(self, *what: Any) -> dict[str, Any]:
        document = super().show(*what)
        self.unfold()
        return document

    def unfold(self) -> None:
        self.look(
            'document.querySelectorAll("details.sortable").forEach('
            'one => { one.open = true; })'
        )

    def choose(self, scope: int, what: str, label: str) -> None:
        self.look(f'{radio(scope, what, label)}.click()')

    def drawn(self, scope: int, what: str) -> list[list[str]]:
        found: list[list[str]] = self.look(looking.drawn(table(scope, what)))
        return found

    def names(self, scope: int) -> list[str]:
        return [row[0] for row in self.drawn(scope, HOSTS)]

    def numbers(self, scope: int) -> list[int]:
        return [int(row[0]) for row in self.drawn(scope, MOVES)]


def servers(scope: dict[str, Any]) -> dict[str, int]:
    """By host, after the plan."""
    where = {uuid: one['host'] for uuid, one in scope['instances'].items()}
    for step in scope['steps']:
        where[step['instance']] = step['destination']
    hosts = list(where.values())
    return {one['name']: hosts.count(one['name']) for one in scope['hosts']}


def keys_of_hosts(scope: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By order and host, the higher the earlier."""
    ends = [
        one[end] for one in scope['steps'] for end in ('source', 'destination')
    ]
    found: dict[str, dict[str, float]] = {
        'name': {},
        'servers': dict(servers(scope)),
        'moves': {host: ends.count(host) for host in set(ends)},
    }
    for policy in scope['policies']:
        found[policy['name']] = {
            one['host']: one['after'] for one in policy['scores']
        }
    return found


KEYS_OF_MOVES = {
    'order of the plan': lambda step: 0,
    'server': lambda step: step['instance_name'],
    'from': lambda step: step['source'],
    'to': lambda step: step['destination'],
    'why': lambda step: step['phase'],
    'memory': lambda step: -step['memory_mb'],
    'gain': lambda step: -step['gain'],
}


@ddt.ddt
class TestOrders(SortingTestCase):
    @ddt.data(*base.WIDTHS)
    def test_hosts(self, width: int) -> None:
        document = self.show('long', width)
        for number, scope in enumerate(document['scopes'], start=1):
            names = [one['name'] for one in scope['hosts']]
            self.assertEqual(names, self.names(number))
            for label, known in keys_of_hosts(scope).items():
                self.choose(number, HOSTS, label)
                wanted = sorted(
                    names, key=lambda host: -known.get(host, float('-inf'))
                )
                self.assertEqual(wanted, self.names(number), label)
                self.assertEqual(label == 'name', wanted == names, label)

    @ddt.data(*base.WIDTHS)
    def test_moves(self, width: int) -> None:
        document = self.show('long', width)
        several = 0
        for number, scope in enumerate(document['scopes'], start=1):
            steps = dict(enumerate(scope['steps'], start=1))
            self.assertEqual(list(steps), self.numbers(number))
            for label, key in KEYS_OF_MOVES.items():
                if not self.look(radio(number, MOVES, label) + ' != null'):
                    self.assertEqual('why', label)
                    continue
                self.choose(number, MOVES, label)
                wanted = sorted(steps, key=lambda at: key(steps[at]))
                self.assertEqual(wanted, self.numbers(number), label)
                several += wanted != list(steps)
        self.assertGreaterEqual(several, 9)

    def test_of_the_promised_size(self) -> None:
        """1,000 hosts; and a choice concerns its own table alone."""
        document = self.show('large')
        [scope] = document['scopes']
        known = keys_of_hosts(scope)['ram']
        moves = self.numbers(1)
        self.choose(1, HOSTS, 'ram')
        self.assertEqual(
            sorted(known, key=lambda host: -known[host]), self.names(1)
        )
        self.assertEqual(moves, self.numbers(1))

    def test_every_table_has_its_own(self) -> None:
        self.show('long')
        self.choose(1, HOSTS, 'cpu')
        self.choose(2, MOVES, 'gain')
        self.assertEqual(
            [
                ('scope-1-moves-by', ['order of the plan']),
                ('scope-1-hosts-by', ['cpu']),
                ('scope-2-moves-by', ['gain']),
                ('scope-2-hosts-by', ['name']),
            ],
            [
                (one['name'], one['chosen'])
                for one in self.look(looking.ORDERS)
            ],
        )

    def test_short_tables_have_none(self) -> None:
        self.show('small')
        self.assertEqual([], self.look(looking.ORDERS))
        self.show('mixed')
        self.assertEqual(
            ['scope-1-moves-by'],
            [one['name'] for one in self.look(looking.ORDERS)],
        )

    def test_a_browser_that_cannot_shows_none(self) -> None:
        _, text = base.rendered('long')
        self.load(text.replace('columns: subgrid)', 'columns: unheard-of)'))
        self.unfold()
        found = self.look(looking.ORDERS)
        self.assertEqual([False] * 4, [one['shown'] for one in found])
        self.assertEqual(
            'table',
            self.look(
                f'getComputedStyle(document.querySelector("{table(1, HOSTS)}")'
                ').display'
            ),
        )


@ddt.ddt
class TestSortedTables(SortingTestCase):
    @ddt.data(
        *itertools.product(
            ('long', 'large', 'packed'), base.WIDTHS, base.SCHEMES
        )
    )
    @ddt.unpack
    def test_readable(self, name: str, width: int, scheme: str) -> None:
        """Sorted as well, on every screen."""
        self.show(name, width, scheme)
        self.choose(1, HOSTS, 'cpu')
        self.choose(1, MOVES, 'memory')
        self.assertEqual([], self.look(looking.OVERFLOWING))
        self.assertEqual([], self.look(looking.CUT_OFF))
        self.assertEqual([], self.look(looking.OVERLAPPING))
        self.assertEqual([], self.look(looking.FAINT))
        if width > 700:
            self.assertEqual([], self.look(looking.UNALIGNED))
        path = base.SHOTS / f'{name}-sorted-{width}-{scheme}.png'
        base.SHOTS.mkdir(parents=True, exist_ok=True)
        if name != 'large':
            # To draw all of it takes the browser ten seconds.
            self.browser.shoot(str(path))

    @ddt.data(*base.WIDTHS)
    def test_heads_stay_in_sight(self, width: int) -> None:
        """That of the columns, and the host of a row."""
        self.show('large', width)
        self.choose(1, HOSTS, 'cpu')
        frame, head, row = self.look(
            '(() => {'
            f'const table = document.querySelector("{table(1, HOSTS)}");'
            'const frame = table.parentElement;'
            'frame.scrollTo(60, 5000);'
            'const rows = [...table.tBodies[0].rows];'
            'return [frame, table.tHead, rows[0].cells[0]].map('
            'one => one.getBoundingClientRect().toJSON());'
            '})()'
        )
        self.assertAlmostEqual(frame['top'], head['top'], delta=2)
        self.assertGreater(row['left'], frame['left'])

    @ddt.data(*base.WIDTHS)
    def test_stay_tables(self, width: int) -> None:
        """For a screen reader, with all their rows and cells."""
        self.show('long', width)
        self.choose(1, HOSTS, 'cpu')
        nodes = {one['nodeId']: one for one in self.browser.nodes()}
        [found] = [
            one
            for one in nodes.values()
            if one['role']['value'] == 'table'
            and self.rows_below(nodes, one, 'rowheader') == 30
        ]
        self.assertEqual(31, self.rows_below(nodes, found, 'row'))
        self.assertEqual(9, self.rows_below(nodes, found, 'columnheader'))
        self.assertEqual(240, self.rows_below(nodes, found, 'cell'))

    def rows_below(
        self, nodes: dict[str, Any], node: dict[str, Any], role: str
    ) -> int:
        below = [nodes[one] for one in node['childIds'] if one in nodes]
        return sum(
            (one['role']['value'] == role) + self.rows_below(nodes, one, role)
            for one in below
        )

    def test_on_paper(self) -> None:
        """As chosen, which is told; else as tables, with heads on each."""
        self.show('long')
        self.choose(1, HOSTS, 'cpu')
        sorted_names = self.names(1)
        self.browser.media('light', 'print')
        self.assertEqual(sorted_names, self.names(1))
        told = self.look(
            '[...document.querySelectorAll(".sort")].filter('
            'one => one.checkVisibility()).map(one => one.innerText)'
        )
        self.assertEqual(1, len(told))
        self.assertIn('cpu', told[0])
        self.assertNotIn('ram', told[0])
        self.assertEqual(
            'table-header-group',
            self.look(
                'getComputedStyle(document.querySelector('
                f'"{table(1, MOVES)} thead")).display'
            ),
        )


class TestButtons(SortingTestCase):
    def test_by_the_keyboard(self) -> None:
        self.show('long')
        names = self.names(1)
        self.look(
            'document.querySelector("section[aria-labelledby=scope-1-hosts] '
            'summary").focus()'
        )
        self.press('Tab', 9)
        self.press('ArrowRight', 39)
        focus, width, style = self.look(
            '(() => {'
            'const one = document.activeElement;'
            'const style = getComputedStyle(one);'
            'return [one.parentElement.textContent, style.outlineWidth,'
            ' style.outlineStyle];'
            '})()'
        )
        self.assertEqual('servers', focus)
        self.assertEqual(('3px', 'solid'), (width, style))
        self.assertNotEqual(names, self.names(1))
        self.press('ArrowLeft', 37)
        self.assertEqual(names, self.names(1))

    def test_have_names(self) -> None:
        document = self.show('long')
        nodes = [
            (one['role']['value'], one['name']['value'])
            for one in self.browser.nodes()
            if not one['ignored'] and 'name' in one
        ]
        buttons = [name for role, name in nodes if role == 'radio']
        for scope in document['scopes']:
            for label in keys_of_hosts(scope):
                self.assertEqual(2, buttons.count(label), label)
        for legend in ('Sort hosts by', 'Sort moves by'):
            self.assertEqual(2, nodes.count(('group', legend)))

    def test_are_large_enough(self) -> None:
        """24 pixels at least, WCAG 2.5.8, wherever they are touched."""
        for width in base.WIDTHS:
            self.show('long', width)
            heights = self.look(
                '[...document.querySelectorAll(".sort label")].map('
                'one => one.getBoundingClientRect().height)'
            )
            self.assertGreaterEqual(min(heights), 24)


class TestSearch(base.PageTestCase):
    def test_finds_what_is_folded_up(self) -> None:
        """The browser unfolds it: a text in the address is such a search."""
        document, text = base.rendered('large')
        names = [one['name'] for one in document['scopes'][0]['hosts']]
        name = next(one for one in names if text.count(one) == 1)
        self.show('large')
        folded = 'document.querySelector("details.sortable").open'
        self.assertFalse(self.look(folded))
        path = pathlib.Path(self.folder, 'page.html')
        asked = urllib.parse.quote(name).replace('-', '%2D')
        for url in ('about:blank', f'{path.as_uri()}#:~:text={asked}'):
            self.browser.events.clear()
            self.browser.ask('Page.navigate', url=url)
            self.browser.wait_for('Page.loadEventFired')
        for _ in range(50):
            # It looks for the text while it draws.
            self.browser.ask('Page.captureScreenshot')
            if self.look(folded):
                return
        self.fail(f'{name} is not found')
