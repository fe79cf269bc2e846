# SPDX-License-Identifier: Apache-2.0
"""Does a page show what the report says, and nothing else?"""

import re
from typing import Any

from kronos.reports.html import bars, page, sankey
from tests.functional.pages import base, looking, plans

PIXELS = 0.006
"""Share of a lane that rounding and the width of a line may take."""


class TestBars(base.PageTestCase):
    def test_are_as_long_as_their_numbers(self) -> None:
        rows = 0
        for name in ('small', 'mixed', 'large'):
            for width in base.WIDTHS:
                self.show(name, width)
                for table in self.look(looking.BARS):
                    for row in table['rows']:
                        self.check_row(row, table['top'])
                        rows += 1
        self.assertGreater(rows, 100)

    def check_row(self, row: dict[str, Any], top: float) -> None:
        self.assertTrue(row['aligned'], row)
        self.assertGreaterEqual(row['tall'], 20)
        for state in ('before', 'after'):
            drawn = row[f'{state}_share']
            # Half a line of the frame stands out; a lane has 130 pixels.
            self.assertAlmostEqual(row[state] / top, drawn, delta=0.012)

    def test_the_band_is_where_the_report_has_it(self) -> None:
        document = self.show('small')
        policies = document['scopes'][0]['policies']
        tables = self.look(looking.BARS)
        for policy, table in zip(policies, tables, strict=True):
            for state, share in (('after', 'ceiling'), ('value', 'was')):
                lowest = min(one[state] for one in policy['scores'])
                ceiling = (lowest + policy['threshold']) / table['top']
                for row in table['rows']:
                    self.assertAlmostEqual(
                        ceiling, row[f'{share}_share'], delta=0.012
                    )

    def test_every_host_of_a_small_scope(self) -> None:
        document = self.show('mixed')
        figures = [
            policy
            for scope in document['scopes']
            for policy in scope['policies']
            if policy['scores']
        ]
        tables = [x for x in self.look(looking.BARS) if x['of_hosts']]
        self.assertEqual(5, len(tables))
        for policy, table in zip(figures, tables, strict=True):
            rows = sorted(table['rows'], key=lambda row: row['host'])
            scores = sorted(policy['scores'], key=lambda one: one['host'])
            for row, score in zip(rows, scores, strict=True):
                self.assertEqual(score['host'], row['host'])
                self.assertAlmostEqual(
                    score['value'], row['before'], delta=0.0006
                )
                self.assertAlmostEqual(
                    score['after'], row['after'], delta=0.0006
                )

    def test_slots_of_hosts(self) -> None:
        """As the report has them; of 60 hosts, those that stand out."""
        for width in base.WIDTHS:
            document = self.show('roomy', width)
            outcome = document['scopes'][0]['room']
            tables = [x for x in self.look(looking.BARS) if x['of_slots']]
            self.assertEqual(len(outcome['wanted']), len(tables))
            rows = zip(outcome['by_host'].values(), tables, strict=True)
            for slots, table in rows:
                by_host = {row['host']: row for row in slots}
                self.assertLess(len(table['rows']), len(by_host))
                for row in table['rows']:
                    self.check_row(row, table['top'])
                    reported = by_host[row['host']]
                    self.assertEqual(reported['before'], row['before'])
                    self.assertEqual(reported['after'], row['after'])

    def test_what_earlier_plans_promised_and_changed(self) -> None:
        """Plans that are measured, beside the table of all of them."""
        for width in base.WIDTHS:
            document = self.show('mixed', width)
            effect = document['scopes'][0]['effect']
            measured = [
                (_titled(plan), policy['predicted'], policy['realised'])
                for plan in effect['plans']
                for policy in plan['policies']
                if not policy['unmeasured']
            ]
            self.assertEqual(1, len(measured))
            [table] = [x for x in self.look(looking.BARS) if not x['of_hosts']]
            for row, (plan, predicted, realised) in zip(
                table['rows'], measured, strict=True
            ):
                self.assertEqual(plan, row['host'])
                self.assertAlmostEqual(predicted, row['before'], delta=0.0006)
                self.assertAlmostEqual(realised, row['after'], delta=0.0006)
                self.check_row(row, table['top'])

    def test_no_threshold_counts_where_hosts_are_filled(self) -> None:
        document = self.show('packed')
        [scope] = document['scopes']
        self.assertLess(
            scope['hosts_in_use_after'], scope['hosts_in_use_before']
        )
        drawn = '.s-band, .s-edge, .s-was, .over, .o'
        self.assertEqual([], self.look(looking.all_of(drawn)))
        self.assertGreater(len(self.look(looking.all_of('.s-after'))), 50)
        [text] = self.look(looking.all_of('section.scope > p'))
        self.assertIn(
            f'the hosts in use from {scope["hosts_in_use_before"]} to '
            f'{scope["hosts_in_use_after"]}.',
            text,
        )
        self.show('mixed')
        self.assertNotEqual([], self.look(looking.all_of('.s-band')))

    def test_an_old_report_has_none_for_after(self) -> None:
        self.show('old')
        for table in self.look(looking.BARS):
            for row in table['rows']:
                self.assertIsNone(row['after'])
                self.assertIsNone(row['after_share'])


class TestLarge(base.PageTestCase):
    def test_1000_hosts(self) -> None:
        """At most 5 MB; all hosts in figures, some in bars, all in one."""
        document, text = base.rendered('large')
        self.assertLess(len(text.encode()), 5_000_000)
        self.show('large')
        self.assertEqual(
            1000,
            self.look('document.querySelectorAll(".figures tbody tr").length')
            - 2
            - self.look('document.querySelectorAll("footer tbody tr").length'),
        )
        for table in self.look(looking.BARS):
            self.assertLess(len(table['rows']), bars.ALL + 20)
        sums = self.look(
            '[...document.querySelectorAll("table.hist")].map(table =>'
            '[1, 2].map(at => [...table.querySelectorAll("tbody tr")].map('
            'row => parseInt(row.children[at].innerText.match(/\\d+/)[0])'
            ').reduce((a, b) => a + b)))'
        )
        self.assertEqual([[1000, 1000]] * 3, sums)

    def test_the_skyline_stands_on_all_hosts(self) -> None:
        """Its line falls from the highest host to the lowest."""
        document = self.show('large')
        policies = document['scopes'][0]['policies']
        ends = self.look(
            '[...document.querySelectorAll(".sky")].map(one => {'
            'const line = one.querySelector(".s-line");'
            'const end = line.getTotalLength();'
            'const top = parseFloat(one.querySelector(".y").textContent);'
            'return [0, end].map(at => line.getPointAtLength(at)).map('
            'point => [point.x, top * (1 - point.y / 300)]);})'
        )
        for policy, (first, last) in zip(policies, ends, strict=True):
            values = [one['after'] for one in policy['scores']]
            self.assertAlmostEqual(max(values), first[1], delta=0.002)
            self.assertAlmostEqual(min(values), last[1], delta=0.002)
            self.assertEqual([0, 1000], [first[0], last[0]])


class TestMoves(base.PageTestCase):
    def test_each_in_the_table(self) -> None:
        for name in ('small', 'mixed', 'large'):
            document = self.show(name)
            steps = [one for s in document['scopes'] for one in s['steps']]
            rows = self.look(looking.MOVES)
            self.assertGreaterEqual(len(rows), 5)
            for step, row in zip(steps, rows, strict=True):
                self.assertIn(step['instance_name'], row[1])
                self.assertIn(step['instance'], row[1])
                self.assertEqual(step['source'], row[2].split()[0])
                self.assertEqual(step['destination'], row[3].split()[0])
                self.assertEqual(f'{step["combined_after"]:.4f}', row[-1])

    def test_lines_lead_from_host_to_host(self) -> None:
        for name in ('small', 'mixed', 'large'):
            for width in base.WIDTHS:
                document = self.show(name, width)
                scopes = [one for one in document['scopes'] if one['steps']]
                figures = self.look(looking.FLOW)
                for scope, figure in zip(scopes, figures, strict=True):
                    self.check_figure(scope, figure)

    def check_figure(
        self, scope: dict[str, Any], figure: dict[str, Any]
    ) -> None:
        sides = {}
        for side, end in (('left', 'source'), ('right', 'destination')):
            rows = figure[side]
            self.assertLessEqual(len(rows), sankey.ENDS)
            touching = abs(rows[0]['inner'] - figure[f'svg_{side}'])
            self.assertLess(touching, 2)
            named = {one['host'] for one in rows if one['host']}
            sides[side] = {
                step[end]: step[end] if step[end] in named else ''
                for step in scope['steps']
            }
        wanted = {
            (
                sides['left'][step['source']],
                sides['right'][step['destination']],
            )
            for step in scope['steps']
        }
        drawn = set()
        for path in figure['paths']:
            self.assertEqual((0, 100), (path['from'], round(path['to'])))
            drawn.add(
                (
                    _nearest(figure['left'], path['start']),
                    _nearest(figure['right'], path['end']),
                )
            )
        self.assertEqual(wanted, drawn)

    def test_numbers_are_those_of_the_table(self) -> None:
        document = self.show('small')
        (figure,) = self.look(looking.FLOW)
        steps = document['scopes'][0]['steps']
        for side, end in (('left', 'source'), ('right', 'destination')):
            for row in figure[side]:
                for number in re.findall(r'#(\d+)', row['numbers']):
                    step = steps[int(number) - 1]
                    self.assertEqual(row['host'], step[end])


def _nearest(rows: list[dict[str, Any]], y: float) -> str:
    row = min(rows, key=lambda one: abs(one['middle'] - y))
    assert abs(row['middle'] - y) < 2, (row, y)
    return str(row['host'])


class TestNothing(base.PageTestCase):
    def test_what_is_not_known_is_not_called_even(self) -> None:
        """Without any value an imbalance of 0 would be a lie."""
        self.show('nothing')
        cells = self.look(
            '[...document.querySelectorAll("nav tbody tr")].map(row =>'
            '[4, 5].map(at => row.children[at].textContent))'
        )
        self.assertEqual([['unknown'] * 2] * 2, cells)
        seen = self.look('document.querySelector("main").innerText')
        self.assertIn('no imbalance is known', seen)
        self.assertIn('no move of them was chosen', seen)


class TestHostile(base.PageTestCase):
    def test_texts_stay_texts(self) -> None:
        """With scripts switched on; what they say can be read."""
        document, text = base.rendered('hostile')
        self.show('hostile')
        self.browser.ask('Emulation.setScriptExecutionDisabled', value=False)
        self.browser.events.clear()
        self.browser.ask('Page.reload')
        self.browser.wait_for('Page.loadEventFired')
        self.assertEqual(base.TITLE, self.look('document.title'))
        self.assertEqual([], self.look(looking.SCRIPTS))
        self.assertEqual([], self.browser.requests())
        self.assertEqual([], self.browser.complaints())
        seen = self.look('document.body.textContent')
        for one in plans.HOSTILE:
            clean = re.sub('[\u202e\u2066\x00\x1b\ud800\ufffe]', '\ufffd', one)
            self.assertIn(clean, seen)
        self.assertTrue(self.look('document.body.checkVisibility()'))

    def test_the_title_too(self) -> None:
        document, _ = base.rendered('small')
        for title in plans.HOSTILE:
            self.load(page.render(document, title))
            self.assertEqual([], self.look(looking.SCRIPTS))
            self.assertEqual(6, len(self.look(looking.BARS)[0]['rows']))

    def test_the_policy_refuses_what_gets_in(self) -> None:
        """The last resort: a script or picture in the page does nothing."""
        self.show('small')
        self.browser.ask('Emulation.setScriptExecutionDisabled', value=False)
        self.look(
            'document.body.append(Object.assign(document.createElement('
            '"script"), {textContent: "document.title = \'taken\'"}))'
        )
        self.look(
            'document.body.append(Object.assign(document.createElement('
            '"img"), {src: "http://192.0.2.1/x.png"}))'
        )
        self.assertEqual(base.TITLE, self.look('document.title'))
        self.browser.wait_for('Log.entryAdded')
        while len(self.browser.complaints()) < 2:
            self.browser.pump()
        for text in self.browser.complaints()[:2]:
            self.assertIn('Content Security Policy', text)


def _titled(plan: dict[str, Any]) -> str:
    """A plan as the title of its row has it."""
    return f'{plan["uuid"]}{"" if plan["started"] else ", not started"}'
