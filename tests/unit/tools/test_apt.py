# SPDX-License-Identifier: Apache-2.0
"""Do the lab and the tests wait while another process uses apt?"""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
from unittest import mock

import fixtures
from labkit import apt, debian
from labkit.telling import BootstrapError
from oslotest import base

HOLDER = """
import fcntl, sys
with open(sys.argv[1], 'r+b') as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print('held', flush=True)
    sys.stdin.read()
"""
APT = """#!/bin/sh
echo "$@" >> "{folder}/calls"
if [ -e "{folder}/busy" ]; then
    rm "{folder}/busy"
    echo 'E: Could not get lock {folder}/lists. It is held by process 1'
    exit 100
fi
exit {code}
"""


class TestApt(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.locks = [self.folder / name for name in ('frontend', 'lists')]
        for path in self.locks:
            path.touch()
        absent = self.folder / 'absent'
        self.useFixture(
            fixtures.MonkeyPatch('labkit.apt.LOCKS', [absent, *self.locks])
        )
        self.pauses: list[float] = []
        self.useFixture(
            fixtures.MonkeyPatch('labkit.apt.time.sleep', self.pause)
        )
        self.useFixture(
            fixtures.EnvironmentVariable(
                'PATH', f'{self.folder}:{os.environ["PATH"]}'
            )
        )
        self.program(0)
        self.log = self.folder / 'apt.log'
        self.held: list[subprocess.Popen[bytes]] = []

    def program(self, code: int) -> None:
        """A double of apt-get."""
        path = self.folder / 'apt-get'
        path.write_text(APT.format(folder=self.folder, code=code))
        path.chmod(0o755)

    def hold(self, path: pathlib.Path) -> subprocess.Popen[bytes]:
        """Another process that has locked it until its input ends."""
        process = subprocess.Popen(
            [sys.executable, '-c', HOLDER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.wait)
        assert process.stdin is not None and process.stdout is not None
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(b'held\n', process.stdout.readline())
        self.held.append(process)
        return process

    def pause(self, seconds: float) -> None:
        """What would be slept; after two of them the other one ends."""
        self.pauses.append(seconds)
        if len(self.pauses) == 2 and self.held:
            process = self.held.pop()
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

    def said(self, *arguments: str) -> str:
        with contextlib.redirect_stderr(io.StringIO()) as told:
            apt.run(self.log, *arguments)
        return told.getvalue()

    @property
    def calls(self) -> list[str]:
        return (self.folder / 'calls').read_text().splitlines()

    def test_it_waits_for_each_lock(self) -> None:
        for path in self.locks:
            with self.subTest(lock=path.name):
                self.pauses.clear()
                process = self.hold(path)
                told = self.said('update')
                self.assertIn(
                    f'waiting for apt, which process {process.pid} (', told
                )
                self.assertIn('apt is free', told)
                self.assertEqual(2, len(self.pauses))

    def test_it_says_nothing_where_apt_is_free(self) -> None:
        self.assertEqual('', self.said('install', 'mandoc'))
        self.assertEqual([], self.pauses)
        self.assertEqual(
            [f'-q -oDPkg::Lock::Timeout={apt.LOCK_SECONDS} install mandoc'],
            self.calls,
        )

    def test_it_tries_again_if_others_were_quicker(self) -> None:
        (self.folder / 'busy').touch()
        self.said('update')
        self.assertEqual(2, len(self.calls))

    def test_it_fails_once_for_another_reason(self) -> None:
        self.program(100)
        self.assertRaisesRegex(
            BootstrapError, 'apt-get install failed', self.said, 'install'
        )
        self.assertEqual(1, len(self.calls))

    def test_it_does_not_wait_for_ever(self) -> None:
        self.hold(self.locks[0])
        self.useFixture(fixtures.MonkeyPatch('labkit.apt.LOCK_SECONDS', -60))
        self.assertRaisesRegex(
            BootstrapError, 'apt is locked: process', self.said, 'update'
        )
        self.assertFalse((self.folder / 'calls').exists())

    def test_the_policy_is_there_only_after_the_wait(self) -> None:
        """Else what another process upgrades would not be started again."""
        policy = self.folder / 'policy-rc.d'
        for name, suffix in (
            ('POLICY', ''),
            ('SAVED_POLICY', '.saved'),
            ('ABSENT_POLICY', '.absent'),
        ):
            path = self.folder / f'policy-rc.d{suffix}'
            self.useFixture(
                fixtures.MonkeyPatch(f'labkit.debian.{name}', path)
            )
        seen = []
        pause = self.pause

        def look(seconds: float) -> None:
            seen.append(policy.exists())
            pause(seconds)

        self.hold(self.locks[0])
        with (
            mock.patch('labkit.apt.time.sleep', look),
            mock.patch('labkit.debian.check'),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            debian.install(['mandoc'], self.log)
        self.assertEqual([False, False], seen)
        self.assertEqual(2, len(self.calls))


class TestCallers(base.BaseTestCase):
    def test_apt_get_is_called_in_one_way(self) -> None:
        """Whatever changes packages, or lists, waits for apt's locks."""
        tools = pathlib.Path(apt.__file__).parents[1]
        found = [
            line.strip()
            for path in sorted(tools.rglob('*'))
            if path.is_file() and path.suffix in ('', '.py', '.sh')
            for line in path.read_text(errors='replace').splitlines()
            if "['apt-get', " in line
        ]
        # It changes nothing.
        self.assertEqual(
            ["['apt-get', 'indextargets', '--format', shown],"], found
        )
