# SPDX-License-Identifier: Apache-2.0
"""Is a recovery told on the terminal, and on the page of a report?"""

from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import explain, replay_tables
from kronos.engine.types import CycleReport
from kronos.extensions.recovery.reports.part import RecoveryReport
from kronos.recordings import load
from kronos.reports import document
from kronos.reports.html import page
from tests import commands
from tests.builders import recordings
from tests.unit.extensions.recovery import test_planning


class RecoveryTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        snapshot = test_planning.cloud(
            v=test_planning.PAUSED, x=test_planning.OFF
        )
        snapshot.instances['v'].name = 'web'
        snapshot.hosts['a'].faulty = 2.0
        self.scope = test_planning.plan(snapshot)

    def test_table(self) -> None:
        lines = replay_tables.table(self.scope, None).splitlines()
        self.assertIn(
            'Closed before anything leaves: a: it is at fault: '
            'host_fault_query gives 2 for it',
            lines,
        )
        self.assertIn('Restart: x on b: it failed (crash)', lines)
        [there] = [one for one in lines if one.startswith('Restart: web (v)')]
        self.assertIn('a -> ', there)

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assertIn('Servers that are started again', text)
        self.assertIn('is closed before anything leaves it', text)


class ExplanationTestCase(base.BaseTestCase):
    def explained(self, **fields: Any) -> str:
        recording = recordings.small()
        found = recording.gathered
        found.failures_unknown = ''
        recording.settings.restart_servers = True
        if recording.configured:
            recording.configured.restart_servers = True
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
