# SPDX-License-Identifier: Apache-2.0
"""Are calls and ranges read from a query, and nothing else taken for them?"""

from oslotest import base

from kronos.policies import promql
from kronos.policies.promql import Call, Ranged


def calls(items: list[promql.Item]) -> list[str]:
    names = []
    for item in items:
        if isinstance(item, Call):
            names.append(item.name)
            for argument in item.arguments:
                names += calls(argument)
        elif isinstance(item, Ranged):
            names += calls(item.items)
    return names


class TestParse(base.BaseTestCase):
    def test_the_text_again(self) -> None:
        for query in (
            'sum by (a) (rate(x{b="]("}[5m] offset 1h)) / on (a) y',
            'max_over_time((a + b)[1h:1m] @ end())',
            'label_replace(x, \'host\', `$1`, "i", "([^:]+)(:[0-9]+)?")',
            '{__name__=~"a.*"}[5m]',
            '-x ^ 2 > bool 1e9',
            'x[$__range]',
        ):
            self.assertEqual(query, promql.text(promql.parse(query)))

    def test_comments_go(self) -> None:
        self.assertEqual(
            'sum(x )', promql.text(promql.parse('sum(x # of all )\n)'))
        )

    def test_what_does_not_fit(self) -> None:
        """Prometheus says what is wrong; nothing of it is lost."""
        for query in ('a)b,c', ')', ',', '[5m]', 'x{a="b'):
            self.assertEqual(query, promql.text(promql.parse(query)))

    def test_calls(self) -> None:
        query = 'sum by (u) (rate (x{y="avg(z)"}[5m])) + (a)'
        self.assertEqual(['by', '', 'rate', ''], calls(promql.parse(query)))

    def test_a_deep_one(self) -> None:
        self.assertRaises(ValueError, promql.parse, '(' * 5000)


class TestRanged(base.BaseTestCase):
    def argument(self, query: str) -> Ranged | None:
        [call] = promql.parse(f'f({query})')
        assert isinstance(call, Call)
        return promql.ranged(call.arguments[0])

    def test_ranges(self) -> None:
        for query, operand, seconds, resolution, modifiers in (
            ('x[5m]', 'x', 300, 0, ''),
            ('x{a="b"}[1h30m] offset 5m', 'x{a="b"}', 5400, 0, ' offset 5m'),
            ('x {a="b"} [90s]', 'x{a="b"}', 90, 0, ''),
            ('{a="b"}[500ms]', '{a="b"}', 0.5, 0, ''),
            ('(x + y)[1h:1m]', '(x + y)', 3600, 60, ''),
            ('rate(x[1m])[1h:] @ end()', 'rate(x[1m])', 3600, 0, ' @ end()'),
            ('x[300]', 'x', 300, 0, ''),
        ):
            with self.subTest(query=query):
                ranged = self.argument(query)
                assert ranged is not None
                self.assertEqual(operand, promql.text(ranged.items))
                self.assertEqual(seconds, ranged.seconds)
                self.assertEqual(resolution, ranged.resolution)
                self.assertEqual(modifiers, ranged.modifiers)
                self.assertEqual(':' in query, ranged.is_subquery)

    def test_none(self) -> None:
        for query in (
            'x',
            'rate(x[5m])',
            '"[5m]"',
            'x{a="[5m]"}',
            '1 + x[5m]',
        ):
            self.assertIsNone(self.argument(query), query)


class TestDurations(base.BaseTestCase):
    def test_both_ways(self) -> None:
        for text, seconds in (
            ('5m', 300.0),
            ('90s', 90.0),
            ('2h', 7200.0),
            ('250ms', 0.25),
        ):
            self.assertEqual(seconds, promql.seconds_of(text))
            self.assertEqual(text, promql.duration(seconds))
        self.assertEqual(90000.0, promql.seconds_of('1d1h'))
        for text in ('', 'x', '5', 'm5', '-5m', '5 m'):
            expected = 5.0 if text == '5' else 0.0
            self.assertEqual(expected, promql.seconds_of(text), text)
