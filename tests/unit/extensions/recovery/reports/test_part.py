# SPDX-License-Identifier: Apache-2.0
"""Is a recovery told on the terminal, and on the page of a report?"""

from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import explain
from kronos.cmd.replays import replay_tables
from kronos.engine.types import CycleReport
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.extensions.recovery.reports.part import RecoveryReport
from kronos.recordings import load
from kronos.reports import document
from kronos.reports.html import page
from tests import commands, golden
from tests.builders import recordings
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


class StopsTestCase(base.BaseTestCase):
    def test_page(self) -> None:
        """It says why nothing was recovered, as something bad."""
        report = document.document(
            CycleReport([test_planning.plan(test_planning.cloud())])
        )
        for stopped, words in RecoveryReport.stops.items():
            report['scopes'][0]['stopped'] = stopped
            text = page.render(report, 'title')
            self.assertIn(f'<span class="badge bad">{words}</span>', text)
