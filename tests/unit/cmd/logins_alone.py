# SPDX-License-Identifier: Apache-2.0
"""Does each command end, with one line, whatever Keystone's address answers?

And does it go well as soon as Keystone does?
"""

import pathlib
import re
from typing import Any

import requests_mock

from kronos.cmd import record
from kronos.common import deadline
from tests import commands
from tests.fakes import keystone, loopback_keystone
from tests.unit.cmd import test_status
from tests.unit.cmd.checking import CheckTestCase

HANGS = 120.0


class LoginTestCase(CheckTestCase):
    mood = ''

    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(
            loopback_keystone.Keystone(
                {'compute': keystone.NOVA, 'placement': keystone.PLACEMENT}
            )
        )
        self.wire.register_uri(
            requests_mock.ANY, re.compile(self.keystone.url), real_http=True
        )

    def be(self, mood: str) -> None:
        self.mood = mood
        self.keystone.be(mood)

    def conf(self, **options: Any) -> str:
        path = super().conf(**options)
        text = pathlib.Path(path).read_text()
        text = text.replace(keystone.AUTH_URL, self.keystone.auth_url)
        limit = loopback_keystone.limit_of(self.mood)
        text = text.replace('auth_type = ', f'timeout = {limit}\nauth_type = ')
        return self.write('kronos.conf', text)

    def run_command(self, main: Any, *arguments: str) -> tuple[int, str, str]:
        """:raises DeadlinePassed: it hangs."""
        return deadline.within(
            HANGS, lambda _: commands.run(main, [*arguments])
        )


class TestRecord(LoginTestCase):
    def test_each_mood(self) -> None:
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.be(mood)
                code, out, err = self.record(mood)
                self.assertEqual((1, ''), (code, out))
                self.assertEqual(1, len(err.splitlines()), err)
                self.assertIn('Keystone', err)
                if mood != '503':
                    self.assertIn('auth_url', err)
                self.be('')
                code, out, err = self.record(mood)
                self.assertEqual((0, ''), (code, out), err)

    def record(self, name: str) -> tuple[int, str, str]:
        path = self.folder / name
        return self.run_command(
            record.main, str(path), '--config-file', self.conf()
        )


class TestTestConfig(LoginTestCase):
    def test_each_mood(self) -> None:
        """One finding, which is of the address and not of credentials."""
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.be(mood)
                report = deadline.within(HANGS, lambda _: self.check())
                result = self.finding(report, 'credentials')
                self.assertEqual({'credentials'}, self.errors(report))
                self.assertIn('set auth_url to the address', result['mend'])
                self.assertNotIn('et auth_url', result['text'])
                self.be('')
                report = deadline.within(HANGS, lambda _: self.check())
                self.assertEqual(set(), self.errors(report))

    def errors(self, report: dict[str, Any]) -> set[str]:
        levels = self.codes(report)
        return {code for code in levels if levels[code] == 'error'}


class TestStatus(LoginTestCase, test_status.StatusTestCase):
    def test_each_mood(self) -> None:
        for mood in loopback_keystone.MOODS:
            with self.subTest(mood):
                self.be(mood)
                row = self.nova(1)
                self.assertEqual(1, row['result'])
                self.assertIn('Nova could not be queried: Key', row['details'])
                self.be('')
                self.assertEqual(0, self.nova(0)['result'])

    def nova(self, code: int) -> dict[str, Any]:
        row: dict[str, Any] = deadline.within(
            HANGS, lambda _: self.results(code)
        )['Nova API']
        return row
