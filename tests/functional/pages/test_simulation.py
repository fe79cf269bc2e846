# SPDX-License-Identifier: Apache-2.0
"""Can the page of a simulation be read, by anybody, on any screen?"""

import functools
import itertools

import ddt
import numpy as np

from kronos.simulate import loop
from kronos.simulate.columns import Kind
from kronos.simulate.outcome import page, results
from tests.builders import loads as build
from tests.builders import simulations
from tests.functional.pages import base, looking
from tests.functional.pages.test_access import name, role

WIDTHS = (400, 800, 1280, 1400)
LONG = 'window.cpu=quantile:0.95:3600 max_migrations=20 cooldown=3600 ' * 2


@functools.cache
def rendered() -> str:
    """A page with a column of every kind, full hosts, and a long name."""
    load = build.load(
        simulations.noisy(60, 24) * 1.5,
        np.arange(24) % 3,
        [4.0] * 4,
        [build.policy(weight=0.5), build.policy('memory', weight=0.5)],
    )
    outcome = [loop.run(load, simulations.column(load, kind)) for kind in Kind]
    outcome[0].name = LONG
    document = {
        'sentence': results.sentence(outcome),
        'command': f'kronos-simulate load --set {LONG}',
        'load': {
            'path': '/var/tmp/' + 'load' * 20,
            'start': build.START,
            'days': load.days,
            'step': 300,
            'hosts': 4,
            'servers': 24,
            'limits': ['The usage of deleted servers is not known. ' * 5],
        },
    }
    return page.render(document, outcome, base.TITLE)


@ddt.ddt
class TestSimulation(base.PageTestCase):
    @ddt.data(*itertools.product(WIDTHS, base.SCHEMES))
    @ddt.unpack
    def test_readable(self, width: int, scheme: str) -> None:
        """No scrolling sideways, nothing cut off, faint or tiny."""
        self.load(rendered(), width, scheme, 'screen')
        self.assertEqual([], self.look(looking.OVERFLOWING))
        self.assertEqual([], self.look(looking.CUT_OFF))
        self.assertEqual([], self.look(looking.OVERLAPPING))
        self.assertEqual([], self.look(looking.FAINT))
        self.assertEqual([], self.look(looking.FAINT_FIGURES))
        self.assertEqual([], self.look(looking.TOUCHING_TICKS))
        self.assertGreaterEqual(self.look(looking.SMALLEST_TEXT), 11)
        base.SHOTS.mkdir(parents=True, exist_ok=True)
        path = base.SHOTS / f'simulation-{width}-{scheme}.png'
        self.browser.shoot(str(path))

    def test_figures_have_words(self) -> None:
        self.load(rendered())
        images = [
            name(node)
            for node in self.browser.nodes()
            if role(node) == 'image' and not node.get('ignored')
        ]
        drawn = self.look('document.querySelectorAll(".plot svg").length')
        self.assertEqual(drawn, len(images))
        for words in (
            'Imbalance cpu over time',
            'Moves: ',
            'Hosts above 90 %',
        ):
            self.assertTrue(any(words in image for image in images), words)

    def test_all_that_is_drawn_is_in_the_key(self) -> None:
        self.load(rendered())
        kinds = (
            '[...new Set([...document.querySelectorAll("{} path")].map('
            'path => path.className.baseVal))].sort()'
        )
        self.assertEqual(
            ['s-area', 's-hot', 's-line', 's-mark', 's-was'],
            self.look(kinds.format('.key')),
        )
        drawn = set(self.look(kinds.format('.plot')))
        self.assertEqual(set(), drawn - set(self.look(kinds.format('.key'))))

    def test_headings_skip_no_level(self) -> None:
        self.load(rendered())
        levels = self.look(looking.OUTLINE)
        self.assertEqual(1, levels[0])
        for level, following in itertools.pairwise(levels):
            self.assertLessEqual(following, level + 1)

    def test_alone_and_quiet(self) -> None:
        self.load(rendered())
        self.assertEqual([], self.browser.requests())
        self.assertEqual([], self.browser.complaints())
        self.assertEqual([], self.look(looking.SCRIPTS))
