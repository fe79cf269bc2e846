# SPDX-License-Identifier: Apache-2.0
"""The dashboard and the alerts are whole, and use the metrics that there are.

``tests/lab/test_planner_dashboard.py`` has Prometheus read the queries.
"""

import itertools
import re

from oslotest import base

from kronos.metrics.catalogue import BY_NAME
from kronos.metrics.metric import PROCESS_LABELS, Kind
from tests import dashboards, places

RUNBOOKS = places.TOP / 'doc' / 'source' / 'runbooks.rst'
ROWS = [
    'Health',
    'Balance',
    'Moves',
    'Why servers stay',
    'Weigher',
    'Effect',
]
GRAFANA_10 = 38
"""Version of the schema that Grafana 10 writes, and later ones take."""
LEVELS = {'critical', 'warning'}
PARTS = ('Meaning', 'First commands', 'Remedy')
SCRAPED = {'instance', 'job', 'le'}
"""Labels that the scrape or a histogram adds."""
_METRIC = re.compile(r'\bkronos_\w+')
_SELECTED = re.compile(r'\b(kronos_\w+)\{([^}]*)\}')


def names(expression: str) -> set[str]:
    """The metrics of a query, without the endings of a histogram."""
    found = set()
    for name in _METRIC.findall(re.sub(r'"[^"]*"', '""', expression)):
        bare = re.sub(r'_(bucket|sum|count)$', '', name)
        is_histogram = bare in BY_NAME and BY_NAME[bare].kind is Kind.HISTOGRAM
        found.add(bare if is_histogram else name)
    return found


def expressions() -> list[str]:
    """The queries of all panels and alerts."""
    panels = dashboards.panels(dashboards.read())
    return [
        *(query.expression for panel in panels for query in panel.queries),
        *(rule['expr'] for rule in dashboards.alerts()),
    ]


def sections() -> dict[str, str]:
    """The runbook of each alert, by its heading."""
    parts = re.split(r'\n(Kronos\w+)\n-+\n', RUNBOOKS.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class TestDashboard(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.document = dashboards.read()
        self.panels = [*dashboards.panels(self.document)]

    def test_form(self) -> None:
        self.assertEqual(GRAFANA_10, self.document['schemaVersion'])
        # An import gives it a number of its own.
        self.assertIsNone(self.document['id'])
        self.assertTrue(self.document['uid'])
        self.assertEqual(
            [('datasource', 'datasource'), ('scope', 'query')],
            [
                (variable['name'], variable['type'])
                for variable in self.document['templating']['list']
            ],
        )
        scope = self.document['templating']['list'][1]
        self.assertTrue(scope['includeAll'] and scope['multi'])
        self.assertEqual(dashboards.ALL, scope['allValue'])
        self.assertLessEqual(names(scope['definition']), BY_NAME.keys())

    def test_rows(self) -> None:
        rows = [panel.title for panel in self.panels if panel.kind == 'row']
        self.assertEqual(ROWS, rows)
        self.assertEqual('row', self.panels[0].kind)

    def test_numbers(self) -> None:
        numbers = [panel.number for panel in self.panels]
        self.assertEqual(len(numbers), len({*numbers}))

    def test_places(self) -> None:
        for panel in self.panels:
            self.assertGreaterEqual(panel.left, 0, panel.title)
            self.assertLessEqual(
                panel.left + panel.width, dashboards.COLUMNS, panel.title
            )
        for panel, other in itertools.combinations(self.panels, 2):
            self.assertFalse(
                panel.overlaps(other), f'{panel.title} / {other.title}'
            )
        tops = [panel.top for panel in self.panels]
        self.assertEqual(sorted(tops), tops)

    def test_overlaps_are_seen(self) -> None:
        panel, other = self.panels[1:3]
        self.assertFalse(panel.overlaps(other))
        other.left = panel.left + panel.width - 1
        self.assertTrue(panel.overlaps(other))

    def test_each_panel(self) -> None:
        sources = set()
        for raw, panel in zip(
            self.document['panels'], self.panels, strict=True
        ):
            if panel.kind == 'row':
                continue
            self.assertTrue(panel.queries, panel.title)
            self.assertRegex(panel.description, r'^\S.+\.$', panel.title)
            for part in (raw, *raw['targets']):
                sources.add(part['datasource']['uid'])
            letters = [target['refId'] for target in raw['targets']]
            self.assertEqual(len(letters), len({*letters}), panel.title)
            for query in panel.queries:
                if panel.kind != 'table':
                    self.assertTrue(query.legend, panel.title)
                self.assertEqual(panel.kind != 'timeseries', query.instant)
        self.assertEqual({'${datasource}'}, sources)

    def test_legends(self) -> None:
        """Each label of a legend is one that the query leaves."""
        for panel in self.panels:
            for query in panel.queries:
                kept = re.findall(r'by \(([^)]*)\)', query.expression)
                labels = set(re.findall(r'\w+', ' '.join(kept)))
                self.assertLessEqual(
                    {*re.findall(r'\{\{(\w+)\}\}', query.legend)},
                    labels,
                    panel.title,
                )

    def test_scope(self) -> None:
        """The variable chooses the scopes of each metric that has one."""
        for panel in self.panels:
            for query in panel.queries:
                for name in names(query.expression):
                    if 'scope' in BY_NAME[name].labels:
                        self.assertRegex(
                            query.expression,
                            name + r'\w*\{scope=~"\$scope"',
                            panel.title,
                        )


class TestMetrics(base.BaseTestCase):
    def test_each_is_in_the_catalogue(self) -> None:
        for expression in expressions():
            self.assertLessEqual(names(expression), BY_NAME.keys())

    def test_each_of_the_catalogue_is_used(self) -> None:
        used = names(RUNBOOKS.read_text())
        for expression in expressions():
            used |= names(expression)
        self.assertEqual(set(), BY_NAME.keys() - used)

    def test_labels(self) -> None:
        """Each selector and each group names labels of its metrics."""
        for expression in expressions():
            rows = [BY_NAME[name] for name in names(expression)]
            labels = {label for row in rows for label in row.labels}
            labels |= {*PROCESS_LABELS} | SCRAPED
            for group in re.findall(r'(?:by|on) \(([^)]*)\)', expression):
                self.assertLessEqual({*re.findall(r'\w+', group)}, labels)
            for name, selector in _SELECTED.findall(expression):
                self.assertLessEqual(
                    {*re.findall(r'(\w+)\s*(?:=|!)', selector)},
                    {*BY_NAME[names(name).pop()].labels},
                    expression,
                )


class TestAlerts(base.BaseTestCase):
    def test_each(self) -> None:
        rules = dashboards.alerts()
        self.assertGreaterEqual(len(rules), 13)
        for rule in rules:
            self.assertEqual({'severity'}, {*rule['labels']})
            self.assertIn(rule['labels']['severity'], LEVELS)
            texts = rule['annotations']
            self.assertEqual(
                {'summary', 'description', 'runbook_section'}, {*texts}
            )
            self.assertEqual(rule['alert'], texts['runbook_section'])
            self.assertRegex(texts['description'], r'^[A-Z].+\.$')

    def test_numbers_in_texts_are_rounded(self) -> None:
        """Counts that Prometheus extrapolates have no fractions."""
        for rule in dashboards.alerts():
            if 'increase(' in rule['expr']:
                self.assertNotIn(
                    '{{ $value }}', rule['annotations']['summary']
                )

    def test_runbooks(self) -> None:
        """Each has a section with its meaning, commands and remedy."""
        alerts = [rule['alert'] for rule in dashboards.alerts()]
        self.assertEqual(alerts, [*sections()])
        for alert, text in sections().items():
            heads = re.findall(r'^(\w[\w ]+)\n    ', text, re.MULTILINE)
            self.assertEqual(PARTS, tuple(heads), alert)
            self.assertRegex(text, r'\.\. code-block:: console\n', alert)
