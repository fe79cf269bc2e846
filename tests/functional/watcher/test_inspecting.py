# SPDX-License-Identifier: Apache-2.0
"""What does a process with Watcher's own code say of the plugins?"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys

import fixtures
from oslotest import base

from kronos.cmd import test_config
from kronos.cmd.checks import subprocess_probe, watcher

SAMPLE = pathlib.Path(__file__).parents[3] / 'etc/kronos/policies.yaml'
SECRET = 'geheim-4711'


class InspectingTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.folder / 'kronos.conf'
        self.conf.write_text(
            f'[kronos]\npolicies_file = {SAMPLE}\n[kronos_prometheus]\n'
            f'url = http://127.0.0.1:9\nbearer_token = {SECRET}\n'
            'max_retries = 0\n[nova]\nauth_type = password\n'
            'auth_url = http://127.0.0.1:9\nusername = joe\n'
            f'password = {SECRET}\nproject_name = p\n'
            'user_domain_id = default\nproject_domain_id = default\n'
        )

    def run_it(self, *arguments):
        """As a program: what it prints and what is logged."""
        return subprocess.run(
            [
                sys.executable,
                '-m',
                test_config.__name__,
                '--config-file',
                str(self.conf),
                *arguments,
            ],
            capture_output=True,
            text=True,
        )

    def test_all_plugins_can_be_loaded(self):
        found = subprocess_probe.inspect(watcher.MODULE, watcher.GROUPS, None)
        self.assertEqual({''}, set(found.values()))
        for name in (
            'watcher_strategies:kronos_spread',
            'watcher_planners:kronos',
            'watcher_actions:kronos_live_migrate',
            'watcher_goals:kronos_balance',
        ):
            self.assertIn(name, found)

    def test_a_good_configuration(self):
        """0, and nothing but the report is printed."""
        done = self.run_it('--offline', '--format', 'json')
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual('', done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([], report['findings'])
        self.assertEqual(24, len(report['watcher']['entry_points']))

    def test_nothing_answers(self):
        """1; no traceback and no secret, though all is logged."""
        done = self.run_it('--debug')
        self.assertEqual(1, done.returncode)
        self.assertIn('ERROR credentials', done.stdout)
        self.assertIn('ERROR prometheus-away', done.stdout)
        for text in (done.stdout, done.stderr):
            self.assertNotIn('Traceback', text)
            self.assertNotIn(SECRET, text)

    def test_it_does_not_load_watcher_itself(self):
        """Its modules would change this process."""
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        before = set(sys.modules)
        with contextlib.redirect_stdout(io.StringIO()):
            code = test_config.main(
                ['--offline', '--config-file', str(self.conf)],
                lambda *_: {},
            )
        self.assertEqual(0, code)
        loaded = set(sys.modules) - before
        self.assertEqual(
            set(),
            {n for n in loaded if n.split('.')[0] in ('watcher', 'nova')},
        )
