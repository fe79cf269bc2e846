# SPDX-License-Identifier: Apache-2.0
"""Are Watcher and Nova judged by their versions, here and at the wire?"""

from oslo_upgradecheck.upgradecheck import Code, Result
from oslotest import base

from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import configuration, versions
from tests.fakes.keystone import AUTH_URL, NOVA
from tests.unit.cmd.checking import SECRETS, CheckTestCase
from tests.unit.cmd.upgrade_checks import packages


class TestInstalled(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.packages = self.useFixture(packages.Packages())

    def told(self, watcher: str, nova: str = '33.0.2') -> Result:
        self.packages.add('python-watcher', watcher)
        self.packages.add('nova', nova)
        return versions.check()

    def test_supported_ones(self) -> None:
        result = self.told('15.1.2', '31.0.0')
        self.assertEqual(Code.SUCCESS, result.code)
        self.assertIn('python-watcher 15.1.2. nova 31.0.0.', result.details)

    def test_a_build_of_the_newest(self) -> None:
        self.assertEqual(Code.SUCCESS, self.told('17.0.1.dev3').code)

    def test_too_old(self) -> None:
        result = self.told('14.1.0', '30.2.0')
        self.assertEqual(Code.FAILURE, result.code)
        for text in (
            'python-watcher 14.1.0 is too old for this release of Kronos. '
            'Remedy: upgrade it to 15.0.0 or later',
            'nova 30.2.0 is too old',
        ):
            self.assertIn(text, result.details)

    def test_newer_than_known(self) -> None:
        result = self.told('18.0.0')
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('python-watcher 18.0.0 is newer', result.details)

    def test_no_release(self) -> None:
        result = self.told('local')
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('python-watcher local: its rel', result.details)


class NovaTestCase(CheckTestCase):
    """The running one, at the wire."""

    def told(self, **options: str) -> Result:
        where = Paths([self.conf(**options)])
        found = configuration.Configuration(where, [])
        configuration.check(found)
        result = versions.check_nova(found, '')
        for secret in SECRETS:
            self.assertNotIn(secret, result.details)
        return result


class TestNova(NovaTestCase):
    def test_it_answers(self) -> None:
        result = self.told()
        self.assertEqual(Code.SUCCESS, result.code)
        self.assertEqual(
            "Nova's newest microversion is 2.104.", result.details
        )

    def test_keystone_is_away(self) -> None:
        self.wire.get(AUTH_URL, status_code=503)
        self.wire.post(f'{AUTH_URL}/auth/tokens', status_code=503)
        result = self.told()
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('Nova could not be queried: ', result.details)

    def test_nova_is_away(self) -> None:
        for url in (NOVA, f'{NOVA}/'):
            self.wire.get(url, status_code=503)
        result = self.told()
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('Nova could not be queried: ', result.details)

    def test_no_credentials(self) -> None:
        result = self.told(credentials='')
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('Nova could not be queried: ', result.details)

    def test_a_value_that_is_none(self) -> None:
        """It is not shown: it may be a password at the wrong place."""
        result = self.told(more='timeout = s3cret')
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('queried: ConfigFileValueError', result.details)

    def test_no_configuration(self) -> None:
        found = configuration.Configuration(Paths(), [])
        self.assertEqual(Code.WARNING, versions.check_nova(found, '').code)


class TestOldNova(NovaTestCase):
    newest = '2.60'

    def test_it_answers(self) -> None:
        result = self.told()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('is 2.60; Kronos needs 2.', result.details)
        self.assertIn('it does not show', result.details)
