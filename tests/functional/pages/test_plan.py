# SPDX-License-Identifier: Apache-2.0
"""Can the page of an action plan be read, by anybody, on any screen?"""

import itertools
from typing import Any

import ddt

from kronos.reports.html import action_plan
from tests.functional.pages import base, looking, plans
from tests.functional.pages.test_access import name, role

WIDTHS = (400, 800, 1400)
PAGES = ('tame', 'hostile')
STATES = ('SUCCEEDED', 'FAILED', 'ONGOING', 'PENDING')
TEXTS = (
    'server', 'name', 'source', 'destination', 'scope', 'phase', 'kind',
    'state', 'reason', 'remedy', 'changes', 'combined',
)  # fmt: skip


def moves() -> list[dict[str, Any]]:
    """Six, the last of which only closes a host."""
    rows = [
        {
            'server': f'{number:08x}-5eed-4000-8000-{number:012x}',
            'name': f'web-{number:05}',
            'source': f'cmp-{number % 2:04}',
            'destination': f'cmp-{2 + number % 3:04}',
            'scope': 'alpha',
            'phase': 'spread',
            'kind': 'kronos_live_migrate',
            'state': STATES[number % len(STATES)],
            'reason': 'the server is locked' if number % 4 == 1 else '',
            'remedy': 'Unlock it if you want it to move.',
            'changes': 'cpu 0.620 -> 0.410, memory 0.300 -> 0.280',
            'combined': '0.600 -> 0.400',
        }
        for number in range(6)
    ]
    rows[-1] |= {
        'server': '',
        'destination': '',
        'phase': '',
        'kind': 'kronos_close_host',
    }
    return rows


def rendered(page: str) -> str:
    texts = itertools.cycle(plans.HOSTILE)
    rows = moves()
    message = 'alpha: 6 migrations, combined imbalance 0.60 -> 0.20'
    unit = '%'
    if page == 'hostile':
        rows = [dict(zip(TEXTS, texts, strict=False)) for _ in range(14)]
        message, unit = plans.HOSTILE[0], plans.HOSTILE[1]
    plan = {
        'uuid': '0c3b6f52-7a1e-4d0c-9d3e-2f1b8c5a7e64',
        'state': 'FAILED',
        'message': message,
        'audit_message': message,
        'done': 2,
        'failed': 2,
        'imbalance_before': 0.62,
        'imbalance_after': 0.18,
        'efficacy': [{'name': 'imbalance_removed', 'value': 71, 'unit': unit}],
        'moves': rows,
    }
    return action_plan.render(plan, [('Strategy', message), ('Scope', 'a')])


@ddt.ddt
class TestPlan(base.PageTestCase):
    @ddt.data(*itertools.product(PAGES, WIDTHS, base.SCHEMES))
    @ddt.unpack
    def test_readable(self, page: str, width: int, scheme: str) -> None:
        """No scrolling sideways, nothing cut off, faint or tiny."""
        self.load(rendered(page), width, scheme, 'screen')
        self.assertEqual([], self.look(looking.OVERFLOWING))
        self.assertEqual([], self.look(looking.CUT_OFF))
        self.assertEqual([], self.look(looking.OVERLAPPING))
        self.assertEqual([], self.look(looking.FAINT))
        self.assertEqual([], self.look(looking.FAINT_FIGURES))
        self.assertGreaterEqual(self.look(looking.SMALLEST_TEXT), 11)
        base.SHOTS.mkdir(parents=True, exist_ok=True)
        path = base.SHOTS / f'plan-{page}-{width}-{scheme}.png'
        self.browser.shoot(str(path))
        self.look(looking.WIDER)
        self.assertEqual([], self.look(looking.OVERFLOWING))

    @ddt.data(*PAGES)
    def test_alone_and_quiet(self, page: str) -> None:
        """Whatever a text contains, it is a text."""
        self.load(rendered(page))
        self.assertEqual([], self.browser.requests())
        self.assertEqual([], self.browser.complaints())
        self.assertEqual([], self.look(looking.SCRIPTS))
        self.assertTrue(self.look('document.title').startswith('Plan '))

    def test_everything_has_a_name(self) -> None:
        self.load(rendered('tame'))
        nodes = [x for x in self.browser.nodes() if not x.get('ignored')]
        for kind in ('table', 'region', 'columnheader', 'heading'):
            names = [name(node) for node in nodes if role(node) == kind]
            self.assertNotEqual([], names, kind)
            self.assertNotIn('', names, kind)
