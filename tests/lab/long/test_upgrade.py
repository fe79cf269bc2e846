# SPDX-License-Identifier: Apache-2.0
"""Does kronos-status name the audits that a restart then cancels?"""

import json
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import fixtures

from tests import documented
from tests.lab import base, memory
from tests.lab.base import layout

CONF = ['--watcher-config', str(layout.ETC / 'watcher.conf')]
SCHEMA = pathlib.Path('strategies', 'parameters.py')
OLD, NEW = "'items': {", "'default': [], 'items': {"
"""Of the parameter aggregates: what the release after next may say."""
HEALTHY = (
    'Audits Kept',
    'Configuration',
    'Policies Files',
    'Changed Defaults',
    'Installed Versions',
    'Nova API',
    'Plugin Names',
    'Plugins Load',
    'Action Parameters',
)
"""Other scenarios leave nothing that these tell of."""


class TestUpgrade(memory.MemoryTestCase):
    def run_status(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, '-m', 'kronos.cmd.status', *words],
            cwd=base.TOP,
            capture_output=True,
            text=True,
        )

    def check(self) -> dict[str, dict[str, Any]]:
        """What each check says, by its name."""
        done = self.run_status('upgrade', 'check', '--json', *CONF)
        self.assertEqual('', done.stderr)
        rows = json.loads(done.stdout)['checks']
        worst = max(row['result'] for row in rows)
        self.assertEqual(worst, done.returncode, rows)
        return {row['check']: row for row in rows}

    def install(self) -> None:
        """Have what starts from now on find another Kronos.

        At the end there is the former one, and an engine that has it.
        """
        self.addCleanup(self.lab.restart, memory.ENGINE)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        shutil.copytree(base.TOP / 'kronos', folder / 'kronos')
        schema = folder / 'kronos' / SCHEMA
        text = schema.read_text()
        self.assertIn(OLD, text)
        schema.write_text(text.replace(OLD, NEW, 1))
        self.useFixture(
            fixtures.EnvironmentVariable('PYTHONPATH', str(folder))
        )

    def state(self, audit: dict[str, Any]) -> str:
        found = self.cloud.watcher(f'/v1/audits/{audit["UUID"]}')
        return str(found['state'])

    def test_one_default_differs(self) -> None:
        audits = [
            self.audit('aggregates=alpha', more)
            for more in (
                '--audit_type CONTINUOUS --interval 3600',
                '--audit_type EVENT',
            )
        ]
        for audit in audits:
            self.addCleanup(
                self.run_client,
                f'optimize audit update {audit["UUID"]} '
                'replace state=CANCELLED',
            )
        going, waiting = audits
        self.wait(lambda: self.state(going) == 'ONGOING', 'it to go on')
        found = self.check()
        for name in HEALTHY:
            self.assertEqual(0, found[name]['result'], found[name])
        self.install()
        row = self.check()['Audits Kept']
        self.assertEqual(2, row['result'])
        self.assertIn(f'({going["UUID"]}, ONGOING)', row['details'])
        self.assertIn(f'({waiting["UUID"]}, PENDING)', row['details'])
        self.assertIn('its parameters aggregates', row['details'])
        self.assertEqual('ONGOING', self.state(going))
        self.lab.restart(memory.ENGINE)
        for audit in audits:
            self.assertEqual('CANCELLED', self.state(audit))
        self.assertEqual(0, self.check()['Audits Kept']['result'])

    def test_what_the_documentation_shows(self) -> None:
        ran = 0
        for _where, command in documented.commands():
            program, *words = command.split()
            if program == 'kronos-status':
                more = [one for one in words if '/' not in one]
                if CONF[0] in more:
                    more.remove(CONF[0])
                done = self.run_status(*more, *CONF)
                self.assertIn(done.returncode, (0, 1), done.stdout)
                self.assertEqual('', done.stderr)
                ran += 1
        self.assertGreater(ran, 2)
