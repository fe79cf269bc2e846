# SPDX-License-Identifier: Apache-2.0
"""Are the files looked through, and what they leave behind told?"""

from typing import Any

import fixtures
from oslo_config import cfg
from oslo_upgradecheck.upgradecheck import Code, Result

from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import configuration
from kronos.conf import opts
from tests.unit.cmd.checking import SECRETS, CheckTestCase, policy


class FilesTestCase(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.found = configuration.Configuration(Paths(), [])

    def check(self, *others: str, **options: Any) -> Result:
        """Of a configuration, and of other services' files."""
        self.found.own = Paths([self.conf(**options)])
        self.found.others = [Paths([one]) for one in others]
        result = configuration.check(self.found)
        for secret in SECRETS:
            self.assertNotIn(secret, result.details)
        return result


class TestConfiguration(FilesTestCase):
    def test_good(self) -> None:
        other = self.write('nova.conf', '[DEFAULT]\nhost = a\n')
        result = self.check(other)
        self.assertEqual(Code.SUCCESS, result.code)
        files = ', '.join([self.found.own.files[0], other])
        self.assertEqual(f'read: {files}.', result.details)
        self.assertEqual(['a'], self.found.conf.kronos.aggregates)

    def test_an_option_that_is_gone(self) -> None:
        """In any of the files."""
        other = self.write('nova.conf', '[kronos]\nmax_moves = 3\n')
        result = self.check(other)
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn(f'{other}: [kronos] max_moves', result.details)

    def test_a_value_that_is_not_allowed(self) -> None:
        result = self.check(cooldown='10m')
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('[kronos] cooldown', result.details)

    def test_what_is_no_configuration(self) -> None:
        self.write('nova.conf', '[nova]\npassword: x\ns3cret\n')
        result = self.check(str(self.folder / 'nova.conf'))
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('nova.conf, line 3 is not', result.details)

    def test_a_file_that_may_not_be_read(self) -> None:
        """It is told, and the others are read."""
        result = self.check('/nowhere/nova.conf', max_moves=3)
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn(
            'this user may not read /nowhere/nova.conf', result.details
        )
        self.assertIn('[kronos] max_moves', result.details)


class TestOldNames(FilesTestCase):
    """As a later release of Kronos would have them."""

    def setUp(self) -> None:
        super().setUp()
        added = [
            cfg.IntOpt(
                'new_name',
                deprecated_opts=[
                    cfg.DeprecatedOpt('old_name'),
                    cfg.DeprecatedOpt('moved', group='elsewhere'),
                ],
            ),
            cfg.IntOpt(
                'on_its_way',
                deprecated_for_removal=True,
                deprecated_reason='nothing reads it',
            ),
        ]
        groups = dict(opts.list_opts())
        groups['kronos'] = [*groups['kronos'], *added]
        self.useFixture(
            fixtures.MonkeyPatch('kronos.conf.opts._GROUPS', groups)
        )

    def told(self, **options: Any) -> str:
        result = self.check(**options)
        self.assertEqual(Code.WARNING, result.code)
        return str(result.details)

    def test_renamed(self) -> None:
        """It is taken today, so no other name is proposed."""
        told = self.told(old_name=1)
        self.assertIn(
            '[kronos] old_name is now called [kronos] new_name', told
        )
        self.assertEqual(1, told.count('old_name'))

    def test_in_another_group(self) -> None:
        told = self.told(more='[elsewhere]\nmoved = 1')
        self.assertIn(
            '[elsewhere] moved is now called [kronos] new_name', told
        )

    def test_to_be_removed(self) -> None:
        told = self.told(on_its_way=1)
        self.assertIn('[kronos] on_its_way will be removed in a later', told)
        self.assertIn('Remedy: nothing reads it', told)

    def test_new_names(self) -> None:
        self.assertEqual(Code.SUCCESS, self.check(new_name=1).code)


class TestPolicies(FilesTestCase):
    def policies(self, **options: Any) -> Result:
        self.check(**options)
        return configuration.check_policies(self.found)

    def test_good(self) -> None:
        result = self.policies()
        self.assertEqual(Code.SUCCESS, result.code)
        self.assertIn('policies.yaml: 1 policies are en', result.details)

    def test_broken(self) -> None:
        self.write_policies(policy(threshold=15))
        result = self.policies()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('policy cpu: threshold: must be', result.details)

    def test_none_where_none_is_named(self) -> None:
        """As where an applier alone runs."""
        other = str(self.folder / 'policies.yaml')
        default = opts.SCOPE_OPTS[0].default
        self.assertEqual('/etc/kronos/policies.yaml', default)
        self.useFixture(
            fixtures.MonkeyPatch('os.path.exists', lambda path: path == other)
        )
        result = self.policies(policies_file=default)
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn(f'there is no {default}', result.details)

    def test_no_configuration(self) -> None:
        result = configuration.check_policies(self.found)
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('see the check Configuration', result.details)

    def test_options_that_are_not_valid(self) -> None:
        for path in ('', '$nothing'):
            result = self.policies(policies_file=path)
            self.assertEqual(Code.WARNING, result.code)
            self.assertIn('see the check Configuration', result.details)
