# SPDX-License-Identifier: Apache-2.0
"""A process that waits for the lock of all engines and appliers, and holds it.

It writes ``has it`` and the seconds that it waited, and holds the lock until
a line comes on stdin; then ``gave it back``. ``failed`` and the reason
otherwise. The argument is the URL of Watcher's database.
"""

import pathlib
import subprocess
import sys
import time
from typing import Any, Self

from kronos.watcher_db import lock
from tests import turntaking

TOP = pathlib.Path(__file__).resolve().parent.parent


class Holder:
    """Such a process; a context that kills it at the end."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', 'tests.lock_holder', url],
            cwd=TOP,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.kill()
        self._process.communicate()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def give_back(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write('\n')
        self._process.stdin.flush()

    def answer(self) -> str:
        """Its next line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip()


def main(url: str) -> None:
    turntaking.configure(url)
    began = time.monotonic()

    def hold(_: Any) -> None:
        print(f'has it: {time.monotonic() - began:.1f} s', flush=True)
        sys.stdin.readline()

    try:
        # How long it is held is up to the test.
        lock.exclusively(hold)
    except lock.FAILURES as error:
        seconds = time.monotonic() - began
        print(f'failed: {seconds:.1f} s: {lock.reason(error)}', flush=True)
    else:
        print('gave it back', flush=True)


if __name__ == '__main__':
    main(sys.argv[1])
