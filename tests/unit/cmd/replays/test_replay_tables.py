# SPDX-License-Identifier: Apache-2.0
"""Do the tables of kronos-replay, and its page, say what a plan says?"""

from kronos.cmd.replays import replay_tables
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport, Sample
from kronos.reports import document
from kronos.reports.html import page
from tests import golden
from tests.builders import policies, stuck_ends


class LabelsTestCase(golden.GoldenTestCase):
    """Labels that match no host of the scope."""

    def test_table(self) -> None:
        snapshot = policies.snapshot({'cpu': {'a': 0.2, 'b': 0.7}})
        samples = snapshot.readings['cpu'].imbalance.samples
        samples += [Sample(f'db{n}', 0.5, 0.0) for n in range(7)]
        [scope] = propose.propose(
            [snapshot], [policies.policy()], Settings()
        ).scopes
        text = replay_tables.table(scope, None)
        self.assert_golden('labels.txt', text)


class RestTestCase(golden.GoldenTestCase):
    """Hosts that no migration helps, and the others."""

    def setUp(self) -> None:
        super().setUp()
        snapshot, rules, settings = stuck_ends.zone_beside_a_zone()
        report = propose.propose([snapshot], rules, settings)
        self.scope = report.scopes[0]

    def test_table(self) -> None:
        text = replay_tables.table(self.scope, None)
        self.assert_golden('rest.txt', text)

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assert_golden('rest_page.txt', golden.words_of(text))
