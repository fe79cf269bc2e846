# SPDX-License-Identifier: Apache-2.0
"""Is a recovery told on the terminal, and on the page of a report?"""

from typing import Any

import fixtures

from kronos.cmd import explain, replay_tables
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport, Sample
from kronos.extensions.cells.cell_drain import ForeignMove, needs_of
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.recordings import load
from kronos.reports import document
from kronos.reports.html import page
from tests import commands, golden
from tests.builders import cells, policies, recordings, stuck_ends
from tests.unit.extensions.recovery import test_planning


class RecoveryTestCase(golden.GoldenTestCase):
    def setUp(self) -> None:
        super().setUp()
        snapshot = test_planning.cloud(
            v=test_planning.PAUSED, x=test_planning.OFF
        )
        snapshot.instances['v'].name = 'web'
        snapshot.hosts['a'].faulty = 2.0
        self.scope = test_planning.plan(snapshot)

    def test_table(self) -> None:
        text = replay_tables.table(self.scope, None)
        self.assert_golden('recovery.txt', text)

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assert_golden('recovery_page.txt', golden.words_of(text))


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


class CellTestCase(golden.GoldenTestCase):
    """Moves to another cell that were begun before."""

    def setUp(self) -> None:
        super().setUp()
        self.snapshot = cells.cells(
            [
                cells.server('a'),
                cells.server('b', 'n1', status='VERIFY_RESIZE'),
            ]
        )
        needs_of(self.snapshot).unfinished = [
            cells.unfinished('b'),
            cells.unfinished('c', has_ended=True),
            cells.unfinished('d', 'RESIZE', 'o1', plan='p'),
        ]
        needs_of(self.snapshot).of_others = [
            ForeignMove('e', 'web', 'o1', 'n2', 'old')
        ]
        self.settings = cells.settings()
        report = propose.propose([self.snapshot], [cells.CPU], self.settings)
        [self.scope] = report.scopes

    def test_table(self) -> None:
        text = replay_tables.table(self.scope, None)
        self.assert_golden('cells.txt', text)

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assert_golden('cells_page.txt', golden.words_of(text))

    def test_page_of_an_older_report(self) -> None:
        report = document.document(CycleReport([self.scope]))
        for key in ('finishing', 'unconfirmed', 'going_on', 'of_others'):
            del report['scopes'][0]['cell'][key]
        text = page.render(report, 'title')
        self.assertNotIn('Begun by an earlier plan', text)

    def test_explanation(self) -> None:
        place = self.useFixture(fixtures.TempDir()).join('recording')
        recording = cells.recording(self.snapshot, self.settings)
        load.write(place, recording)
        code, text, _ = commands.run(
            explain.main, [place, '--instance', 'b', '--wide']
        )
        self.assertEqual(0, code)
        self.assert_golden('explained.txt', text, {place: 'RECORDING'})


class ExplanationTestCase(golden.GoldenTestCase):
    def explained(self, **fields: Any) -> str:
        recording = recordings.small()
        found = recording.gathered
        found.beside[NAME] = Failures()
        on = RecoveryOptions(restart_servers=True)
        for settings in (recording.settings, recording.configured):
            if settings:
                settings.set_options(on)
        vars(found.instances[0]).update(
            failure='io_error',
            failed_at=found.taken_at - 5,
            guest='off',
            **fields,
        )
        path = f'{self.useFixture(fixtures.TempDir()).path}/recording'
        load.write(path, recording)
        arguments = [path, '--mode', 'recover', '--instance', 'u0']
        return commands.run(explain.main, arguments)[1]

    def test_restarted(self) -> None:
        self.assertIn('It is started again on a', self.explained())

    def test_left_alone(self) -> None:
        self.assertIn(
            'It failed, and is left alone: [instance_locked] it is locked',
            self.explained(locked=True),
        )
