# SPDX-License-Identifier: Apache-2.0
"""Is it told what an upgrade changes in plans?"""

from typing import Any

from oslo_upgradecheck.upgradecheck import Code, Result

from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import configuration, defaults
from kronos.options import row
from kronos.options.planning import PlanningOptions
from tests.unit.cmd.checking import CheckTestCase, policy


class TestDefaults(CheckTestCase):
    def check(self, **options: Any) -> Result:
        files = configuration.Configuration(Paths([self.conf(**options)]), [])
        configuration.check(files)
        return defaults.check(files)

    def test_what_is_left_to_defaults(self) -> None:
        result = self.check()
        self.assertEqual(Code.SUCCESS, result.code)
        for option, before in defaults.CHANGED.items():
            text = f'{option} is {self._default(option)} by default, and was '
            self.assertIn(f'{text}{before}.', result.details)
            self.assertNotEqual(before, self._default(option))

    @staticmethod
    def _default(option: str) -> Any:
        rows = {each.name: each for each in row.rows(PlanningOptions)}
        return rows[option].default

    def test_all_is_set(self) -> None:
        result = self.check(**defaults.CHANGED)
        self.assertEqual(
            'all options whose defaults have changed are set.', result.details
        )

    def test_a_policy_of_mode_pack(self) -> None:
        own = policy(mode='pack', capacity_query='up')
        path = self.write_policies(own)
        result = self.check(policies_file=path, **defaults.CHANGED)
        self.assertIn('relieves hosts above 0.85', result.details)
        own['relief_threshold'] = 0.8
        path = self.write_policies(own)
        result = self.check(policies_file=path, **defaults.CHANGED)
        self.assertNotIn('relieves', result.details)

    def test_no_configuration(self) -> None:
        result = defaults.check(configuration.Configuration(Paths(), []))
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('the check Configuration', result.details)
