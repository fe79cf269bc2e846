# SPDX-License-Identifier: Apache-2.0
"""Does every request come to an end, whatever its service does not say?

In a process of its own: where another test has had eventlet replace threads
that are there already, a server in a thread stands still.
"""

import concurrent.futures
import subprocess
import sys

from oslotest import base

from tests import places

TOP = places.TOP


MODULE = 'tests.unit.clients.deadlines'
PARTS = (
    'TestEveryMethod',
    'TestKeystone.test_it_is_in_trouble_from_the_start',
    'TestKeystone.test_when_the_token_has_to_be_renewed',
)


class TestDeadlines(base.BaseTestCase):
    def test_all(self) -> None:
        """Side by side, since they do little but wait."""
        runs = {
            part: subprocess.Popen(
                [sys.executable, '-m', 'testtools.run', f'{MODULE}.{part}'],
                cwd=TOP,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            for part in PARTS
        }
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
            told = pool.map(lambda run: run.communicate()[0], runs.values())
        for (part, run), text in zip(runs.items(), told, strict=True):
            self.assertEqual(0, run.returncode, f'{part}: {text[-20_000:]}')
            self.assertIn('OK', text[-2000:], part)
