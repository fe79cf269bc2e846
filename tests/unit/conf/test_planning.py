# SPDX-License-Identifier: Apache-2.0
"""Is an option of oslo.config what its row says?"""

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.conf import planning
from tests.unit.options.test_row import Options


class TestOptions(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        self.conf.register_opts(planning.of(Options))
        self.conf([], default_config_files=[], default_config_dirs=[])

    def test_defaults(self) -> None:
        """Of choices the plain word, which a sample file shows."""
        found = {option.name: option for option in planning.of(Options)}
        self.assertEqual(
            {'hosts': 1, 'window': 60, 'speed': 'slow', 'rules': ['a']},
            {name: option.default for name, option in found.items()},
        )
        self.assertIs(str, type(found['speed'].default))
        self.assertEqual('Seconds.', found['window'].help)

    def test_limits_and_kinds(self) -> None:
        for name, value in (
            ('hosts', 0),
            ('hosts', 10),
            ('window', '1.5'),
            ('speed', 'broken'),
        ):
            self.assertRaises(ValueError, self.conf.set_override, name, value)


class TestBudgets(base.BaseTestCase):
    def read(self, text: str) -> cfg.ConfigOpts:
        """The options of a file."""
        path = self.useFixture(fixtures.TempDir()).join('kronos.conf')
        with open(path, 'w') as file:
            file.write(f'[DEFAULT]\n{text}\n')
        conf = cfg.ConfigOpts()
        conf.register_opts(planning.OPTS)
        conf([], default_config_files=[path], default_config_dirs=[])
        return conf

    def test_values(self) -> None:
        conf = self.read(
            'project_budget = 2,5/3600\n'
            'project_budgets = a:2,5/3600,b:1\n'
            'budget_exempt ='
        )
        self.assertEqual('2,5/3600', conf.project_budget)
        self.assertEqual({'a': '2,5/3600', 'b': '1'}, conf.project_budgets)
        self.assertEqual([], conf.budget_exempt)
        plain = self.read('')
        self.assertEqual(('', {}), (plain.group_budget, plain.project_budgets))
        self.assertEqual(['evacuate'], plain.budget_exempt)

    def test_nonsense(self) -> None:
        for option, value in (
            ('instance_budget', 'many'),
            ('project_budgets', 'a:many'),
            ('budget_exempt', 'No Phase'),
        ):
            conf = self.read(f'{option} = {value}')
            error = self.assertRaises(
                cfg.ConfigFileValueError, getattr, conf, option
            )
            self.assertIn('is not a', str(error))
