# SPDX-License-Identifier: Apache-2.0
"""Does every request come to an end, whatever its service does not say?

In a process of its own: where another test has had eventlet replace threads
that are there already, a server in a thread stands still.
"""

import pathlib
import subprocess
import sys

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]


class TestDeadlines(base.BaseTestCase):
    def run_them(self, *names: str) -> None:
        module = 'tests.unit.clients.deadlines'
        done = subprocess.run(
            [
                sys.executable,
                '-m',
                'testtools.run',
                *(f'{module}.{name}' for name in names),
            ],
            cwd=TOP,
            text=True,
            capture_output=True,
        )
        told = f'{done.stdout}\n{done.stderr}'
        self.assertEqual(0, done.returncode, told[-20_000:])
        self.assertIn('OK', done.stdout, told[-2000:])

    def test_every_method(self) -> None:
        self.run_them('TestEveryMethod')

    def test_keystone(self) -> None:
        self.run_them('TestKeystone')
