# SPDX-License-Identifier: Apache-2.0
"""Is it found out why a query gives no series?"""

from oslotest import base

from kronos.clients.prometheus import selectors
from kronos.cmd.checks.causes import metric_names
from kronos.engine.types import Health, Reading, Sample


class Prometheus:
    """Has some metrics, and counts what it is asked."""

    def __init__(self, *metrics: str) -> None:
        self.metrics = metrics
        self.queries: list[str] = []

    def instant_query(self, query: str, label_key: str) -> Reading:
        self.queries.append(query)
        name = query.removeprefix('count(').removesuffix(')')
        samples = [Sample('', 1.0, 0.0)] if name in self.metrics else []
        return Reading(query, Health.HEALTHY, samples)


class TestRemedy(base.BaseTestCase):
    def test_each(self) -> None:
        for query, words in (
            ('rate(x_total[15s])', r'widen its window \[15s\]'),
            ('x_total{job="a"}', 'correct the labels .* x_total'),
            ('x_total / y_total', 'correct the name y_total'),
        ):
            result = metric_names.remedy(query, Prometheus('x_total'))
            self.assertRegex(result, words)

    def test_a_query_of_no_metric(self) -> None:
        self.assertEqual('', metric_names.remedy('vector(1)', Prometheus()))

    def test_not_all_are_asked_for(self) -> None:
        prometheus = Prometheus(*'abcdefg')
        metric_names.remedy('a + b + c + d + e', prometheus)
        self.assertEqual(3, len(prometheus.queries))


class TestNames(base.BaseTestCase):
    def test_what_is_no_metric(self) -> None:
        for query, names in (
            ('sum by (host) (rate(x[5m] offset 1h)) > bool 1e9', ['x']),
            ('a * on (b_c) group_left (d) e{f="g{h"} or j', ['a', 'e', 'j']),
            ('label_replace(k, "l", "$1", "m", "(.*)") # n', ['k']),
            ('p:q:r / p:q:r', ['p:q:r']),
        ):
            self.assertEqual(names, selectors.names(query))
