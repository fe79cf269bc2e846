# SPDX-License-Identifier: Apache-2.0
"""Tests with threads run in a process of their own.

Where another test has had eventlet replace threads, theirs stand still.
"""

import subprocess
import sys
from typing import ClassVar

from oslotest import base

from tests import places


class AloneTestCase(base.BaseTestCase):
    """Runs a module of tests."""

    MODULE: ClassVar[str] = ''

    def run_alone(self) -> None:
        done = subprocess.run(
            [sys.executable, '-m', 'testtools.run', self.MODULE],
            cwd=places.TOP,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual(0, done.returncode, done.stdout[-20_000:])
        self.assertIn('OK', done.stdout[-2000:])
