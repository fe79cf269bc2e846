# SPDX-License-Identifier: Apache-2.0
"""Does every document become a page, and none a wrong one (N12)?"""

import json
import pathlib
import re
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.engine import report, types
from kronos.engine.propose import propose
from kronos.engine.settings import Settings
from kronos.pages import page
from kronos.snapshots import cluster

CLUSTERS = pathlib.Path(__file__).parents[2] / 'fixtures' / 'clusters'


def scope(**fields: Any) -> types.AggregateResult:
    return types.AggregateResult(
        'alpha', types.StopReason.STUCK, 'it is stuck', **fields
    )


def document(*scopes: types.AggregateResult) -> dict[str, Any]:
    return report.document(types.CycleReport(list(scopes)))


class TestRender(base.BaseTestCase):
    def test_every_recorded_cluster(self) -> None:
        """From the planner, and from its JSON: the same page."""
        paths = sorted(CLUSTERS.glob('*.json'))
        self.assertNotEqual([], paths)
        for path in paths:
            found = cluster.read(str(path))
            settings = Settings(max_migrations=10)
            plan = propose([found.snapshot], found.policies, settings)
            told = report.document(plan)
            text = page.render(told, path.name)
            read = json.loads(json.dumps(told))
            self.assertEqual(text, page.render(read, path.name))
            for step in plan.steps:
                self.assertIn(step.instance, text)

    def test_scopes_without_anything(self) -> None:
        self.assertIn('no scope', page.render(document(), 'Empty'))
        text = page.render(document(scope(), scope()), 'Two')
        self.assertIn('Nothing is to be moved', text)

    def test_of_another_format(self) -> None:
        for version in (2, '1', None):
            error = self.assertRaises(
                ValueError,
                page.render,
                {'format_version': version, 'scopes': []},
                'Later',
            )
            self.assertIn(repr(version), str(error))

    def test_the_document_stays_as_it_is(self) -> None:
        found = document(scope(stayed={'u': 'it is locked'}))
        before = json.dumps(found)
        page.render(found, 'Once')
        self.assertEqual(before, json.dumps(found))

    @hypothesis.settings(
        max_examples=60, deadline=None, derandomize=True, database=None
    )
    @hypothesis.given(st.text(st.characters(), max_size=40))
    def test_any_text_is_escaped(self, text: str) -> None:
        """Surrogates too, which JSON can hold and UTF-8 cannot."""
        evil = f'<b onclick="{text}">\'&amp;'
        score = types.HostScore(evil, 0.5, 1.0, 0.5)
        policy = types.PolicyResult(
            evil, 1.0, 0.1, scores=[score], missing_hosts=[evil]
        )
        found = scope(
            policies=[policy],
            availability_zones={evil: evil},
            unavailable_hosts={evil: evil},
            stayed={evil: evil},
            instances={evil: types.InstanceStanding(evil, evil)},
            groups=[
                types.GroupStanding(
                    evil, evil, evil, 1, True, [evil], 1, evil, evil
                )
            ],
            drains=[types.Drain(evil, evil, 1, 0, {evil: evil})],
            not_drained={evil: evil},
            warnings=[evil],
        )
        told = document(found) | {'settings': {evil: [evil]}}
        html = page.render(told, evil)
        html.encode()
        self.assertEqual(0, html.count('<b onclick'))
        self.assertGreater(html.count('&lt;b onclick=&#34;'), 20)

    @hypothesis.settings(
        max_examples=60, deadline=None, derandomize=True, database=None
    )
    @hypothesis.given(
        st.lists(
            st.tuples(
                st.floats(), st.one_of(st.none(), st.floats()), st.floats(0, 1)
            ),
            min_size=1,
            max_size=60,
        )
    )
    def test_any_number_can_be_drawn(self, rows: Any) -> None:
        """NaN, infinite and negative ones, of a file made by hand."""
        scores = [
            types.HostScore(f'h{at}', value, 0.0, after)
            for at, (value, after, _) in enumerate(rows)
        ]
        policy = types.PolicyResult('cpu', 1.0, rows[0][2], scores=scores)
        html = page.render(document(scope(policies=[policy])), 'Numbers')
        drawn = re.findall(r'<(?:rect|path)[^>]*>', html)
        for mark in drawn:
            self.assertIsNone(re.search(r'nan|inf|e\+', mark), mark)
