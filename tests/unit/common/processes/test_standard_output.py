# SPDX-License-Identifier: Apache-2.0
"""Does what C code prints stay out of stdout?"""

import os
import subprocess
import sys
import threading
from unittest import mock

from oslotest import base

from kronos.common.processes import standard_output
from tests import places

PRINTING = """
import ctypes
import sys
from scipy import optimize
from kronos.extensions.room.planning import highs
libc = ctypes.CDLL(None)
libc.puts(b'first')
actual = {name: getattr(optimize, name) for name in ('milp', 'linprog')}
def printing(name):
    def solve(*args, **options):
        libc.puts(b'stray')
        return actual[name](*args, **options)
    return solve
for name in actual:
    setattr(optimize, name, printing(name))
import numpy as np
one = np.ones(1)
row = np.ones((1, 1))
print(highs.whole(-one, row, (one * 0, one), one, {}).x.tolist())
print(highs.mixed(-one, row, one).x.tolist())
sys.stdout.flush()
libc.puts(b'last')
"""
THREADS = 8


def printed(code: str) -> tuple[list[str], list[str]]:
    """Lines of stdout and stderr of a process of its own."""
    completed = subprocess.run(
        [sys.executable, '-c', code],
        env={'PYTHONPATH': ':'.join(filter(None, sys.path))},
        cwd=places.TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    return completed.stdout.split('\n'), completed.stderr.split('\n')


class TestSolver(base.BaseTestCase):
    def test_strays_go_to_stderr(self) -> None:
        """The solver's are buffered by C, and written only at the end."""
        stdout, stderr = printed(PRINTING)
        self.assertEqual(
            ['[1.0]', '[1.0]', 'first', 'last'], sorted(stdout)[1:]
        )
        self.assertEqual(2, stderr.count('stray'))


class TestClosed(base.BaseTestCase):
    def test_threads(self) -> None:
        """The last one to leave opens it."""
        before = os.fstat(standard_output.STDOUT)
        all_in = threading.Barrier(THREADS)

        def solve() -> None:
            for _ in range(20):
                with standard_output.closed():
                    all_in.wait()

        threads = [threading.Thread(target=solve) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = os.fstat(standard_output.STDOUT)
        self.assertEqual(
            (before.st_dev, before.st_ino), (after.st_dev, after.st_ino)
        )

    def test_opened_after_an_error(self) -> None:
        before = os.fstat(standard_output.STDOUT).st_ino

        def fail() -> None:
            with standard_output.closed():
                raise ValueError

        self.assertRaises(ValueError, fail)
        self.assertEqual(before, os.fstat(standard_output.STDOUT).st_ino)

    def test_no_stdout(self) -> None:
        """A service may have none; there is nothing to close then."""
        with (
            mock.patch.object(os, 'dup', side_effect=OSError),
            mock.patch.object(os, 'dup2') as dup2,
            standard_output.closed(),
        ):
            pass
        dup2.assert_not_called()
