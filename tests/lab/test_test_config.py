# SPDX-License-Identifier: Apache-2.0
"""kronos-test-config on a cloud where all is well, and where it is not."""

import json
import pathlib
import subprocess
import sys
from typing import Any, ClassVar

import fixtures

from tests import documented
from tests.lab import base
from tests.lab.base import Wanted, layout

from labkit import settings  # isort: skip

SERVERS = [Wanted(f'web-{host}', host, 0.5, 1024) for host in base.ALPHA[:3]]
WEIGHER = (
    '[filter_scheduler]\nweight_classes = nova.scheduler.weights.all_weighers,'
    'kronos.weighers.load.KronosWeigher\n'
)
SECRET = 's3cret-of-test'
NOWHERE = '[kronos_prometheus]\nurl = http://127.0.0.1:9\nmax_retries = 0\n'


class TestConfigTestCase(base.LabTestCase):
    """All options of Kronos are in the directory beside watcher.conf."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def check(
        self, *arguments: str, code: int = 1, scope: str = 'alpha'
    ) -> dict[str, Any]:
        """The report; by default with all that Watcher reads.

        :param code: the exit status that is right
        """
        if '--config-file' not in arguments:
            arguments = (
                '--watcher-config',
                str(layout.ETC / 'watcher.conf'),
                *arguments,
            )
        done = self.run_it('--format', 'json', '--scope', scope, *arguments)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        self.assertEqual('', done.stderr)
        return dict(json.loads(done.stdout))

    def run_it(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the program; nothing but its report is printed."""
        return subprocess.run(
            [sys.executable, '-m', 'kronos.cmd.test_config', *words],
            cwd=base.TOP,
            capture_output=True,
            text=True,
        )

    def credentials(self, user: str, password: str) -> str:
        """Of a user in the project of the services."""
        port = self.lab.ports['keystone']
        return (
            '[nova]\nauth_type = password\n'
            f'auth_url = http://127.0.0.1:{port}/v3\nusername = {user}\n'
            f'password = {password}\nproject_name = service\n'
            'user_domain_id = default\nproject_domain_id = default\n'
        )

    def finding(self, report: dict[str, Any], code: str) -> dict[str, Any]:
        """The first of a code, be it a cause or not."""
        found = [one for one in self.all(report) if one['code'] == code]
        self.assertNotEqual([], found, report['findings'])
        return dict(found[0])

    def all(self, report: dict[str, Any]) -> list[dict[str, Any]]:
        """Causes and what follows from them."""
        return [
            finding
            for cause in report['findings']
            for finding in (cause, *cause['follows'])
        ]

    def nova_config(self, text: str = WEIGHER) -> list[str]:
        """Arguments for what nova-scheduler would read."""
        file = self.folder / 'weigher.conf'
        file.write_text(text)
        names = [layout.ETC / 'nova-common.conf', file, layout.KRONOS.parent]
        return [word for one in names for word in ('--nova-config', str(one))]


class TestGood(TestConfigTestCase):
    options: ClassVar = {'cooldown': base.WINDOW_SECONDS}

    def test_all_is_well(self) -> None:
        """Exit 0, and the numbers are those of the cloud."""
        self.boot(SERVERS)
        report = self.check(*self.nova_config(), code=0)
        self.assertEqual([], report['findings'])
        for row in report['queries']:
            if row['field'] != 'vm_profile_query':
                self.assertEqual((6, 6), (row['hosts'], row['hosts_of_scope']))
        for row in report['servers']:
            self.assertEqual((3, 3), (row['servers'], row['with_a_value']))
        [scope] = report['scopes']
        for name, width in self.imbalances(base.ALPHA).items():
            self.assertAlmostEqual(width, scope['imbalances'][name], places=2)
        self.assertIn('admin', report['cloud']['roles'])
        self.assertEqual(
            sorted(base.GOALS), report['watcher']['running']['strategies']
        )
        weigher = report['weigher']
        self.assertTrue(weigher['is_enabled'])
        self.assertNotIn(None, weigher['scores'].values())
        self.assertEqual(
            {'plans_at_a_time': 4, 'actions_at_a_time': 8},
            {
                key: value
                for key, value in report['watcher']['applier'].items()
                if 'at_a_time' in key
            },
        )

    def test_what_the_documentation_shows(self) -> None:
        """Each command, with the files and aggregates of the lab."""
        kronos = self.folder / 'kronos.conf'
        kronos.write_text(
            (layout.KRONOS.parent / 'kronos.conf').read_text()
            + f'[kronos]\npolicies_file = {self.policies}\n'
            + self.credentials('watcher', settings.password())
        )
        nova = self.folder / 'nova.conf'
        nova.write_text(WEIGHER + kronos.read_text())
        paths = {
            '/etc/watcher/watcher.conf': str(layout.ETC / 'watcher.conf'),
            '/etc/kronos/kronos.conf': str(kronos),
            '/etc/nova/nova.conf': str(nova),
            'gpu': 'alpha',
        }
        ran = 0
        for command in dict.fromkeys(one for _, one in documented.commands()):
            program, *words = command.split()
            # Of two cells it is right where there are two.
            if program == 'kronos-test-config' and '--cells' not in words:
                words = [paths.get(word, word) for word in words]
                done = self.run_it(*words)
                self.assertEqual(0, done.returncode, done.stdout)
                ran += 1
        self.assertGreater(ran, 3)


class TestBroken(TestConfigTestCase):
    def test_prometheus_is_away(self) -> None:
        with layout.KRONOS.open('a') as file:
            file.write(NOWHERE)
        found = self.finding(self.check(), 'prometheus-away')
        self.assertIn('cannot connect', found['text'])

    def test_nova_answers_with_errors(self) -> None:
        """That is no missing permission."""
        self.cloud.set_nova_api([{'path': '/os-services', 'answer': 503}])
        self.addCleanup(self.cloud.set_nova_api, [])
        found = self.finding(self.check(), 'nova-failed')
        self.assertIn('503', found['text'])

    def test_a_user_who_may_too_little(self) -> None:
        """Each listing that Nova and Placement refuse him, and the rule."""
        identity = self.cloud.connection.identity
        user = identity.create_user(
            name=self.getUniqueString(),
            password=SECRET,
            domain_id='default',
        )
        self.addCleanup(identity.delete_user, user)
        project = identity.find_project('service', domain_id='default')
        identity.assign_project_role_to_user(
            project, user, identity.find_role('member')
        )
        file = self.folder / 'kronos.conf'
        file.write_text(
            layout.KRONOS.read_text()
            + f'hypervisor_types = fake\n{self.prometheus()}'
            + self.credentials(user.name, SECRET)
        )
        report = self.check('--config-file', str(file))
        refused = [
            one['text']
            for one in self.all(report)
            if one['code'] == 'permission'
        ]
        for rule in (
            'os-services:list',
            'os-hypervisors:list-detail',
            'os-aggregates:index',
            'servers:detail:get_all_tenants',
            'allocation_candidates:list',
        ):
            with self.subTest(rule):
                self.assertTrue(any(rule in text for text in refused), refused)
        found = self.finding(report, 'permission-admin')
        self.assertIn('member', found['text'])
        self.assertNotIn(SECRET, json.dumps(report))
        # What can be looked at is looked at.
        self.assertEqual(6, len(report['queries']))

    def prometheus(self) -> str:
        return f'[kronos_prometheus]\nurl = {self.cloud.prometheus}\n'
