# SPDX-License-Identifier: Apache-2.0
"""A process that counts under the lock of all engines and appliers.

It reads the largest number, waits a moment, and writes the next one: two that
have the lock at once write the same number. The arguments are the URL of
Watcher's database, what the process calls itself, and how many numbers it
writes. A line of JSON for each try goes to stdout: when it began, by the clock
that all processes share, the seconds that it took, and the number, or why
there is none.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from typing import Any

import sqlalchemy as sa

from kronos.watcher_db import lock
from tests import turntaking

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HOLD_SECONDS = 0.004
"""At most so long between what is read and what is written."""
PAUSE_SECONDS = 0.05
TABLE = 'CREATE TABLE numbers (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT)'
_LARGEST = sa.text('SELECT COALESCE(MAX(n), 0) FROM numbers')
_NEXT = sa.text('INSERT INTO numbers (n) VALUES (:n)')


class Counter:
    """Such a process."""

    def __init__(self, url: str, name: str, count: int) -> None:
        words = ['-W', 'ignore', '-m', 'tests.lab.lock_counters']
        # A pipe would be full before it is read.
        self._output = tempfile.TemporaryFile('w+')  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, *words, url, name, str(count)],
            cwd=TOP,
            stdout=self._output,
            start_new_session=True,
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()

    def tries(self) -> list[dict[str, Any]]:
        """All of its tries, once it has ended."""
        self._process.wait()
        self._output.seek(0)
        return [json.loads(line) for line in self._output]


def main(url: str, name: str, count: str) -> None:
    turntaking.configure(url)
    chance = random.Random(name)
    left = int(count)

    def count_on(session: Any) -> int:
        number = int(session.execute(_LARGEST).scalar()) + 1
        time.sleep(chance.uniform(0, HOLD_SECONDS))
        lock.mark(session)
        session.execute(_NEXT, {'n': number})
        return number

    while left:
        began = time.monotonic()
        try:
            result: dict[str, Any] = {'number': lock.exclusively(count_on)}
            left -= 1
        except lock.FAILURES as error:
            result = {'failure': lock.reason(error)}
        result |= {'began': began, 'seconds': time.monotonic() - began}
        print(json.dumps(result), flush=True)
        time.sleep(chance.uniform(0, PAUSE_SECONDS))


if __name__ == '__main__':
    main(*sys.argv[1:])
