# SPDX-License-Identifier: Apache-2.0
"""Does the openstack client find the commands, and only them?"""

import importlib.metadata
import re
import subprocess
import sys
import tomllib

from cliff import commandmanager

from kronos.osc import plugin
from tests import places
from tests.unit.osc import clouds

GROUP = 'openstack.kronos.v1'
NAMES = {
    'optimize kronos explain',
    'optimize kronos maintenance finish',
    'optimize kronos maintenance pause',
    'optimize kronos maintenance report',
    'optimize kronos maintenance resume',
    'optimize kronos maintenance start',
    'optimize kronos maintenance status',
    'optimize kronos plan list',
    'optimize kronos plan show',
    'optimize kronos run',
    'optimize kronos slots',
}
ELSEWHERE = 'https://elsewhere.example.org'


class TestPlugin(clouds.CloudTestCase):
    def test_the_group_is_the_one_that_the_client_looks_for(self) -> None:
        name = plugin.API_NAME
        self.assertEqual(
            f'openstack.{name}.v{plugin.DEFAULT_API_VERSION}', GROUP
        )
        self.assertIn(plugin.DEFAULT_API_VERSION, plugin.API_VERSIONS)
        command_manager = commandmanager.CommandManager(GROUP)
        self.assertEqual(NAMES, {name for name, _ in command_manager})

    def test_no_command_has_the_name_of_one_of_watchers(self) -> None:
        """Theirs are there, too, where python-watcherclient is."""
        result = importlib.metadata.entry_points(
            group='openstack.infra_optim.v1'
        )
        others = {point.name.replace('_', ' ') for point in result}
        self.assertIn('optimize actionplan list', others)
        self.assertEqual(set(), NAMES & others)
        out = self.run_client('--help')[1]
        for name in NAMES:
            self.assertIn(name, out)

    def test_little_is_loaded_before_a_command_runs(self) -> None:
        """The client loads all plugins, whatever it is asked for."""
        program = (
            'import sys; from kronos.osc import plugin, commands; '
            'print(*sorted(sys.modules), sep="\\n")'
        )
        loaded = subprocess.run(
            [sys.executable, '-c', program],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        ours = {name for name in loaded if name.startswith('kronos.')}
        self.assertEqual(
            {'kronos.osc', 'kronos.common'},
            {'.'.join(name.split('.')[:2]) for name in ours},
        )
        for heavy in ('pydantic', 'numpy', 'watcher', 'nova'):
            self.assertNotIn(heavy, loaded)

    def test_the_extra_has_what_the_commands_need(self) -> None:
        project = tomllib.loads((places.TOP / 'pyproject.toml').read_text())
        extras = project['project']['optional-dependencies']
        names = {
            re.split(r'\W*[>=]', requirement)[0]
            for requirement in extras['client']
        }
        self.assertEqual({'python-openstackclient', 'rich'}, names)


class TestWhere(clouds.CloudTestCase):
    def test_an_endpoint_of_clouds_yaml(self) -> None:
        for kind in ('infra_optim', 'resource_optimization'):
            self.keystone.wire.get(
                f'{ELSEWHERE}/{kind}/v1/action_plans/detail',
                json={'action_plans': []},
            )
            override = {f'{kind}_endpoint_override': f'{ELSEWHERE}/{kind}'}
            code, _, err = self.run_client('plan', 'list', cloud=override)
            none = 'Watcher has no action plan of Kronos.\n'
            self.assertEqual((0, none), (code, err))
            self.assertEqual([], self.watcher.requests)

    def test_another_region(self) -> None:
        self.assertIn(
            'the Keystone catalog has no endpoint of type infra-optim',
            self.refused('plan', 'list', cloud={'region_name': 'two'}),
        )
