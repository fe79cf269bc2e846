# SPDX-License-Identifier: Apache-2.0
"""Does kronos-status end as it should, with every result in its place?"""

import json
import re
import textwrap
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from kronos.cmd import program, status
from kronos.cmd.upgrade_checks import services
from kronos.watcher_db import service_probe
from tests import commands, documented
from tests.fakes.keystone import AUTH_URL
from tests.unit.cmd.checking import SECRETS, CheckTestCase, policy
from tests.unit.cmd.upgrade_checks import packages, test_database

GROUP = 'watcher_clients_auth'
NAMES = [name for name, _ in status.Checks._upgrade_checks]


class StatusTestCase(CheckTestCase):
    """All is well, and the processes that are asked say so."""

    def setUp(self) -> None:
        super().setUp()
        self.packages = self.useFixture(packages.Packages())
        self.packages.add('python-watcher', '17.0.0')
        self.packages.add('nova', '34.0.0')
        well = test_database.DatabaseTestCase()
        well.setUp()
        self.addCleanup(well.doCleanups)
        self.loaded = {'plugins': {'watcher_goals:kronos_balance': ''}}
        self.loaded |= well.answer
        self.weighers = {'error': '', 'is_enabled': True}

    def run_status(self, *arguments: str) -> tuple[int, str, str]:
        code, out, err = commands.run(
            status.main, ['upgrade', 'check', *arguments], self.inspect
        )
        for secret in SECRETS:
            self.assertNotIn(secret, out + err)
        return code, out, err

    def results(self, code: int, *arguments: str) -> dict[str, Any]:
        """What each check says, by its name; the exit status is this."""
        if not arguments:
            arguments = ('--watcher-config', self.conf(credentials=GROUP))
        found, out, err = self.run_status('--json', *arguments)
        self.assertEqual((code, ''), (found, err), out)
        document = json.loads(out)
        self.assertEqual({'name', 'checks'}, set(document))
        rows = document['checks']
        self.assertEqual(NAMES, [row['check'] for row in rows])
        self.assertEqual(code, max(row['result'] for row in rows))
        return {row['check']: row for row in rows}


class TestResults(StatusTestCase):
    def test_good(self) -> None:
        self.assertEqual(
            {0}, {row['result'] for row in self.results(0).values()}
        )

    def test_a_table(self) -> None:
        conf = self.conf()
        code, out, err = self.run_status('--watcher-config', conf)
        self.assertEqual((0, ''), (code, err))
        self.assertIn('| Check: Audits Kept ', out)
        self.assertEqual(len(NAMES), out.count('| Result: Success '))

    def test_a_warning(self) -> None:
        self.wire.post(f'{AUTH_URL}/auth/tokens', status_code=503)
        self.assertEqual(1, self.results(1)['Nova API']['result'])

    def test_a_failure(self) -> None:
        self.write_policies(policy(threshold=15))
        self.assertEqual(2, self.results(2)['Policies Files']['result'])

    def test_what_is_asked_is_asked_once(self) -> None:
        self.results(0)
        self.assertEqual(
            [service_probe.__name__] * 2 + ['kronos.weighers.probe'],
            [module for module, _ in self.inspected],
        )


class TestFiles(StatusTestCase):
    """Whose are read, by what is named."""

    def test_of_kronos(self) -> None:
        """Beside Watcher's, it has the options of Kronos."""
        watcher = self.write('watcher.conf', '[kronos]\nmax_moves = 1\n')
        own = self.conf()
        result = self.results(
            1, '--config-file', own, '--watcher-config', watcher
        )
        told = result['Configuration']['details']
        self.assertIn(f'{watcher}: [kronos] max_moves', told)
        self.assertEqual(0, result['Policies Files']['result'])
        self.assertEqual(
            [[watcher], [watcher]],
            [request['files'] for _, request in self.inspected[:2]],
        )

    def test_of_nova(self) -> None:
        """With the directory that nova-scheduler reads, too."""
        nova = self.write('nova/nova.conf', '')
        more = self.folder / 'nova' / 'nova-scheduler.conf.d'
        more.mkdir()
        more.joinpath('kronos.conf').write_text('[kronos]\nmax_moves = 1\n')
        conf = self.conf()
        result = self.results(
            1, '--watcher-config', conf, '--nova-config', nova
        )
        told = result['Configuration']['details']
        self.assertIn('kronos.conf: [kronos] max_moves', told)
        self.assertEqual([str(more)], self.inspected[2][1]['folders'])

    def test_one_that_is_not_there(self) -> None:
        code, _, err = self.run_status('--watcher-config', '/nowhere')
        self.assertEqual(2, code)
        self.assertIn('/nowhere cannot be read', err)


class TestUnforeseen(StatusTestCase):
    def inspect(
        self, module: str, arguments: Sequence[str], request: Any
    ) -> Any:
        raise ValueError(SECRETS[0])

    def test_its_text_is_not_told(self) -> None:
        """It may hold a secret; the place helps to find what happened."""
        conf = self.conf()
        code, out, err = self.run_status('--watcher-config', conf)
        self.assertEqual((255, ''), (code, out))
        self.assertRegex(
            err, r'^kronos-status: ValueError in inspect, line \d+ of .+\n$'
        )


class TestPage(StatusTestCase):
    """What the page about upgrades shows is what is printed."""

    def setUp(self) -> None:
        super().setUp()
        database = self.loaded['database']
        database['stored'] |= {
            'strategies': [
                {
                    'name': 'kronos_spread',
                    'differs': ['its parameters max_migrations'],
                }
            ],
            'audits': [
                {
                    'name': 'even',
                    'uuid': '5b1d7c1e-66f4-4a8c-8a0f-3c9d2e7b9f10',
                    'state': 'ONGOING',
                }
            ],
            'waiting_plans': 1,
            'finished_audits': 4,
        }
        database['host'] = 'ctl1'
        database['services'] = [
            test_database.up(service, host)
            for service in (services.ENGINE, services.APPLIER)
            for host in ('ctl1', 'ctl2')
        ]
        self.paths = {
            '/etc/watcher/watcher.conf': self.conf(),
            '/etc/kronos/policies.yaml': str(self.folder / 'policies.yaml'),
        }

    def rows(self, table: str) -> list[str]:
        """What is said of each check, without frame and line breaks."""
        for shown, path in self.paths.items():
            table = table.replace(path, shown)
        table = table.replace(program.version(), '1.0.0')
        return [
            ' '.join(re.sub(r'(?m)^\||\|$', '', row).split())
            for row in re.split(r'(?m)^\+-+\+$', table)
        ]

    def inspect(
        self, module: str, arguments: Sequence[str], request: Any
    ) -> Any:
        """All plugins of a service can be loaded."""
        answer = super().inspect(module, arguments, request)
        groups = service_probe.GROUPS[arguments[0]] if arguments else ()
        plugins = {
            f'{entry_point.group}:{entry_point.name}': ''
            for entry_point in metadata.distribution(
                program.PACKAGE
            ).entry_points
            if entry_point.group in groups
        }
        return answer | {'plugins': plugins}

    def test_the_example(self) -> None:
        page = documented.page('upgrading.rst')
        example = documented.section(page, 'Example')
        _, _, rest = example.partition('   $ kronos-status ')
        command, _, shown = rest.partition('\n')
        words = [self.paths.get(one, one) for one in command.split()]
        code, out, _ = commands.run(status.main, words, self.inspect)
        self.assertEqual(2, code)
        table, _, _ = shown.partition('\n\n')
        begin, end = textwrap.dedent(table).split(f'{documented.LEFT_OUT}\n')
        first, last = self.rows(begin), self.rows(end)
        self.assertEqual(first, self.rows(out)[: len(first)])
        self.assertEqual(last[1:], self.rows(out)[1 - len(last) :])

    def test_each_check(self) -> None:
        """Has its entry in the list, in this order."""
        page = documented.page('upgrading.rst')
        text = documented.section(page, 'What it checks')
        self.assertEqual(
            NAMES, re.findall(r'(?m)^(\w.+)\n(?=    (?:\* )?\*\w+\*: )', text)
        )
        self.assertEqual(
            {'success', 'warning', 'failure'},
            set(re.findall(r'(?m)^    (?:\* )?\*(\w+)\*: ', text)),
        )

    def test_commands(self) -> None:
        result = documented.typed('upgrading.rst', 'kronos-status')
        self.assertGreater(len(result), 3)
        for words in result:
            words = [self.paths.get(word, word) for word in words]
            status.argument_parser().parse_args(words)
