# SPDX-License-Identifier: Apache-2.0
"""Does a raw query ask for the usage of each step, of every sample policy?"""

import re

from oslotest import base

from kronos.policies import loader, promql
from kronos.policies.models import Policy
from kronos.simulate.fetch import raw_queries
from tests import places

SAMPLES = [
    *sorted((places.TOP / 'etc' / 'kronos').glob('policies*.yaml')),
    *sorted(places.EXAMPLES.glob('*/policies.yaml')),
]


def policies() -> list[Policy]:
    return [
        policy
        for path in SAMPLES
        for policy in loader.load(str(path)).policies
    ]


def without_averages(query: str) -> str:
    """A query without its averages over queries, spaces and brackets."""
    return re.sub(r'avg_over_time|\[\w+:\w*\]|[()\s]', '', query)


class TestSamples(base.BaseTestCase):
    def test_only_windows_change(self) -> None:
        """All else of the query stays, to the letter."""
        queries = 0
        for policy in policies():
            for query in (policy.vm_profile_query, policy.imbalance_query):
                queries += 1
                raw = raw_queries.derived(query, 300)
                self.assertEqual((), tuple(raw.doubts), query)
                plain = promql.text(promql.parse(query)).strip()
                self.assertEqual(
                    re.sub(
                        r'(?<!last_over_timeceilometer_memory_usage)'
                        r'\[\w+\]',
                        '[5m]',
                        without_averages(plain),
                    ),
                    without_averages(raw.text),
                )
                self.assertNotRegex(raw.text, r'\[(?!5m)\w+:')
                self.assertEqual(
                    300 if 'rate(' in query else 0, raw.seconds, query
                )
        self.assertGreater(queries, 40)

    def test_peaks(self) -> None:
        """Those of capacity_query: no peak is left in them."""
        peaks = 0
        for policy in policies():
            if policy.capacity_query:
                peaks += 1
                raw = raw_queries.derived(policy.capacity_query, 300)
                self.assertNotIn('max_over_time', raw.text)
                self.assertNotIn('[1h', raw.text)
                self.assertEqual(300, raw.seconds)
        self.assertGreater(peaks, 4)


class TestDerived(base.BaseTestCase):
    def test_functions(self) -> None:
        for query, expected in (
            ('rate(x[2m])', 'rate(x[5m])'),
            ('irate(x{a="[2m]"}[2m])', 'rate(x{a="[2m]"}[5m])'),
            ('increase(x[1h])', '(rate(x[5m]) * 3600)'),
            ('rate(x[1h] offset 5m)', 'rate(x[5m] offset 5m)'),
            ('avg_over_time(x[1h])', 'avg_over_time(x[5m])'),
            ('max_over_time(x[1h])', 'avg_over_time(x[5m])'),
            ('quantile_over_time(0.9, x[1h])', 'avg_over_time(x[5m])'),
            ('predict_linear(x[1h], 900)', 'avg_over_time(x[5m])'),
            ('max_over_time((a - b)[1h:1m])', 'avg_over_time((a - b)[5m:1m])'),
            ('avg_over_time(a[1d:1h])', 'avg_over_time(a[5m:5m])'),
            ('avg_over_time(a[1d:])', 'avg_over_time(a[5m:])'),
            ('avg_over_time(rate(x[2m])[1h:1m])', '(rate(x[5m]))'),
            (
                'avg_over_time(rate(x[2m])[1h:1m] offset 1d)',
                'avg_over_time(rate(x[5m])[5m:1m] offset 1d)',
            ),
            (
                'max_over_time(avg_over_time(rate(x[1m])[10m:])[1h:])',
                '((rate(x[5m])))',
            ),
            ('last_over_time(x[15m])', 'last_over_time(x[15m])'),
            ('x', 'x'),
            ('rate(x[1h:10m])', 'rate(x[20m:10m])'),
        ):
            with self.subTest(query=query):
                raw = raw_queries.derived(query, 300)
                self.assertEqual(expected, raw.text)
                self.assertEqual((), tuple(raw.doubts))

    def test_only_one_of_two_looks_back(self) -> None:
        raw = raw_queries.derived(
            'rate(x[2m]) * on (a) max_over_time(y[1h])', 60
        )
        self.assertEqual('rate(x[1m]) * on (a) avg_over_time(y[1m])', raw.text)
        self.assertEqual(60, raw.seconds)

    def test_doubts(self) -> None:
        for query, words in (
            ('stddev_over_time(x[1h])', 'stddev_over_time() looks back'),
            ('kronos:cpu:avg1h', '1 recording rule, whose windows'),
        ):
            raw = raw_queries.derived(query, 300)
            self.assertEqual(query, raw.text)
            self.assertEqual(0.0, raw.seconds)
            self.assertIn(words, ' '.join(raw.doubts))
