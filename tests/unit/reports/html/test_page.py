# SPDX-License-Identifier: Apache-2.0
"""Does every document become a page, and none a wrong one?"""

import json
import re
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.engine import types
from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.policies.models import Mode
from kronos.recordings.formats import cluster
from kronos.reports import document as report_document
from kronos.reports.html import page
from tests import places
from tests.unit.snapshots.past import test_scope_effects

CLUSTERS = places.CLUSTERS


def scope(**fields: Any) -> types.AggregateResult:
    return types.AggregateResult(
        'alpha', types.StopReason.STUCK, 'it is stuck', **fields
    )


def document(*scopes: types.AggregateResult) -> dict[str, Any]:
    return report_document.document(types.CycleReport(list(scopes)))


class TestRender(base.BaseTestCase):
    def test_every_recorded_cluster(self) -> None:
        """From the planner, and from its JSON: the same page."""
        paths = sorted(CLUSTERS.glob('*.json'))
        self.assertNotEqual([], paths)
        for path in paths:
            result = cluster.read(str(path))
            settings = Settings(max_migrations=10)
            plan = propose([result.snapshot], result.policies, settings)
            report = report_document.document(plan)
            text = page.render(report, path.name)
            read = json.loads(json.dumps(report))
            self.assertEqual(text, page.render(read, path.name))
            for step in plan.steps:
                self.assertIn(step.instance, text)

    def test_scopes_without_anything(self) -> None:
        self.assertIn('no scope', page.render(document(), 'Empty'))
        text = page.render(document(scope(), scope()), 'Two')
        self.assertIn('Nothing is to be moved', text)

    def test_what_earlier_plans_changed(self) -> None:
        effect = test_scope_effects.of_scope(
            test_scope_effects.started(test_scope_effects.effect()),
            test_scope_effects.not_started(test_scope_effects.effect()),
            test_scope_effects.LOST,
        )
        report = report_document.document(
            types.CycleReport([scope()]), effects={'alpha': effect}
        )
        text = page.render(report, 'Effect')
        self.assertIn('of the predicted change in 1 measured plan', text)
        self.assertIn('data-label="Predicted">0.400<', text)
        self.assertIn('data-label="Realised">0.200<', text)
        self.assertIn('not started: this came', text)
        self.assertIn('the queries of the policy have changed', text)
        del report['scopes'][0]['effect']
        self.assertNotIn('earlier plans', page.render(report, 'Old'))

    def test_names_for_uuids(self) -> None:
        """A reader knows servers by their names."""
        uuids = [
            f'{number:08x}-5eed-4000-8000-{number:012x}' for number in range(3)
        ]
        names = dict(zip(uuids, ('web', 'db', 'db'), strict=True))
        reasons = {
            uuid: Reason(
                f'its host is kept for {uuid}, see {uuids[0]}x',
                Code.PACK_KEEP_HOSTS,
            )
            for uuid in uuids
        }
        report = document(
            scope(
                stayed=reasons,
                warnings=[f'{uuids[0]} is odd'],
                instances={
                    uuid: types.InstanceStanding(name, 'h1')
                    for uuid, name in names.items()
                },
            )
        )
        text = page.render(report, 'Names')
        self.assertIn('web is odd', text)
        self.assertIn('its host is kept for web, see', text)
        self.assertIn(f'kept for db ({uuids[1]}), see', text)
        self.assertIn(f'see {uuids[0]}x', text)

    def test_what_was_replayed(self) -> None:
        report = document(scope()) | {
            'recording': {
                'path': '/srv/recording',
                'recorded_at': '2026-03-02T09:00:00+00:00',
                'made_by': 'kronos-watcher 1.2',
                'strategy': 'kronos_spread',
                'anonymized': True,
            },
            'versions': {'kronos-watcher': '1.3'},
            'overrides': {'keep_hosts': '2', 'threshold.cpu': '0.1'},
            'command': 'kronos-replay /srv/recording',
        }
        text = page.render(report, 'Replayed')
        for word in (
            '/srv/recording',
            '2026-03-02T09:00:00+00:00',
            'kronos-watcher 1.2',
            'are anonymised',
            '>1.3<',
            'keep_hosts = 2, threshold.cpu = 0.1',
            'kronos-replay /srv/recording',
        ):
            self.assertIn(word, text)

    def test_packing_is_no_worsening(self) -> None:
        """Hosts that are filled are less even, and that is meant."""
        policies = [
            types.PolicyResult(
                'cpu',
                1.0,
                0.1,
                Mode.PACK,
                0.8,
                scores=[
                    types.HostScore('h1', 0.2, 0.0, 0.0),
                    types.HostScore('h2', 0.3, 1.0, 0.5),
                ],
                imbalance_before=0.1,
                imbalance_after=0.5,
            )
        ]
        packed = scope(
            policies=policies,
            combined_before=0.1,
            combined_after=0.5,
            hosts_in_use_before=2,
            hosts_in_use_after=1,
        )
        text = page.render(document(packed), 'Packed')
        self.assertNotIn('Combined imbalance', text)
        self.assertIn('Hosts emptied</dt><dd>1<', text)
        # The ceiling is on the scale, and a line in each lane and the key.
        self.assertEqual(3, text.count('class="s-full"'))
        two = page.render(document(packed, packed), 'Two')
        # Neither the imbalance nor hosts over a threshold, in two scopes.
        self.assertEqual(4, two.count('>not used</td><td role="cell"'))

    def test_the_last_of_odd_policies_is_wide(self) -> None:
        """None stands alone beside an empty half."""
        for number, wide in ((1, 1), (2, 0), (3, 1), (4, 0)):
            policies = [
                types.PolicyResult(f'p{index}', 1.0, 0.1)
                for index in range(number)
            ]
            text = page.render(document(scope(policies=policies)), 'Policies')
            self.assertEqual(wide, text.count('<section class="card full"'))

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
        report = document(
            scope(stayed={'u': Reason('it is locked', Code.INSTANCE_LOCKED)})
        )
        before = json.dumps(report)
        page.render(report, 'Once')
        self.assertEqual(before, json.dumps(report))

    @hypothesis.settings(max_examples=60, derandomize=True, database=None)
    @hypothesis.given(st.text(st.characters(), max_size=40))
    def test_any_text_is_escaped(self, text: str) -> None:
        """Surrogates too, which JSON can hold and UTF-8 cannot."""
        evil = f'<b onclick="{text}">\'&amp;'
        why = Reason(evil, Code.HOST_FROZEN)
        score = types.HostScore(evil, 0.5, 1.0, 0.5)
        policy = types.PolicyResult(
            evil, 1.0, 0.1, scores=[score], missing_hosts=[evil]
        )
        hostile = scope(
            policies=[policy],
            availability_zones={evil: evil},
            unavailable_hosts={evil: why},
            stayed={evil: why},
            instances={evil: types.InstanceStanding(evil, evil)},
            groups=[
                types.GroupStanding(
                    evil, evil, evil, 1, True, [evil], 1, evil, evil
                )
            ],
            drains=[types.Drain(evil, evil, 1, 0, {evil: why})],
            not_drained={evil: why},
            warnings=[evil],
        )
        report = document(hostile) | {'settings': {evil: [evil]}}
        html = page.render(report, evil)
        html.encode()
        self.assertEqual(0, html.count('<b onclick'))
        self.assertGreater(html.count('&lt;b onclick=&#34;'), 20)

    @hypothesis.settings(max_examples=60, derandomize=True, database=None)
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
            types.HostScore(f'h{index}', value, 0.0, after)
            for index, (value, after, _) in enumerate(rows)
        ]
        policy = types.PolicyResult('cpu', 1.0, rows[0][2], scores=scores)
        html = page.render(document(scope(policies=[policy])), 'Numbers')
        drawn = re.findall(r'<(?:rect|path)[^>]*>', html)
        for mark in drawn:
            self.assertIsNone(re.search(r'nan|inf|e\+', mark), mark)
