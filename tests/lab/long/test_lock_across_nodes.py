# SPDX-License-Identifier: Apache-2.0
"""Is the lock of all engines and appliers one lock on three databases?"""

import itertools
import json
import time
from collections.abc import Iterator

import sqlalchemy as sa
from testtools import content
from watcher.db.sqlalchemy import models

from tests.lab import lock_counters, nodes

from labkit import process  # isort: skip
from labkit.ha import choice, faults  # isort: skip

from kronos.watcher_db import lock  # isort: skip

COUNT, PROCESSES = 10_000, 8
STEP = 1000
"""How many numbers there are more when the next fault comes."""


class TestLockAcrossNodes(nodes.NodesTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.databases = self.useFixture(nodes.Databases())
        self.databases.query('db1', 'CREATE DATABASE watcher')
        engine = sa.create_engine(self.url('db1'))
        self.addCleanup(engine.dispose)
        models.ActionDescription.__table__.create(engine)
        self.databases.query('db1', 'USE watcher', lock_counters.TABLE)

    def url(self, name: str) -> str:
        port = self.databases.ports[name]
        return f'mysql+pymysql://root@127.0.0.1:{port}/watcher'

    def test_calm(self) -> None:
        """Nothing fails while nothing is broken."""
        tries = self.count_with(iter(()))
        self.assertEqual([], [one for one in tries if 'failure' in one])

    def test_faults(self) -> None:
        """Nobody waits beyond the patience of the lock, whatever breaks."""
        tries = self.count_with(self.faults())
        # The lock waits for its end once more where the commit is under way.
        longest = max(one['seconds'] for one in tries)
        self.assertLess(longest, 2 * lock.PATIENCE)

    def faults(self) -> Iterator[str]:
        """Break a node, and mend it, at each step."""
        ports = self.databases.ports
        yield 'calm'
        process.kill(process.records()['db2'])
        yield 'db2 is killed'
        self.databases.start('db2')
        yield 'db2 has got all data from a donor'
        faults.isolate('db3', ports)
        yield 'db3 is cut off'
        faults.end('db3', ports)
        yield 'db3 is back'
        faults.desync('db1', ports)
        yield 'db1 lags'
        faults.end('db1', ports)
        self.pause('db2')
        yield 'db2 stands still'
        self.resume('db2')
        yield 'db2 goes on'

    def count_with(self, steps: Iterator[str]) -> list[dict[str, object]]:
        """What all processes tried, once the numbers are judged."""
        names = list(choice.DATABASES) * PROCESSES
        counters = [
            lock_counters.Counter(
                self.url(names[at]), str(at), COUNT // PROCESSES
            )
            for at in range(PROCESSES)
        ]
        for counter in counters:
            self.addCleanup(counter.kill)
        begins = []
        for done, step in enumerate(steps, start=1):
            begins.append((time.monotonic(), step))
            self.wait(lambda done=done: self.count() >= done * STEP, step)
        begins.append((time.monotonic(), 'the rest'))
        tries = [one for counter in counters for one in counter.tries()]
        self.judge(tries)
        for (begin, step), (end, _) in itertools.pairwise(begins):
            meanwhile = during(tries, begin, end)
            if any('number' in one for one in meanwhile):
                print(step, figures(meanwhile))
        return tries

    def count(self) -> int:
        """How many numbers there are, by a node that can tell."""
        name = next(filter(self.databases.is_synced, choice.DATABASES))
        [[count]] = self.databases.query(
            name, 'SELECT COUNT(*) FROM watcher.numbers'
        )
        return int(count)

    def judge(self, tries: list[dict[str, object]]) -> None:
        """Each number is there once, and whoever was told so wrote it."""
        rows = self.databases.query(
            'db1', 'SELECT n FROM watcher.numbers ORDER BY n'
        )
        numbers = [int(number) for [number] in rows]
        had = sorted(one['number'] for one in tries if 'number' in one)
        shown = figures(tries)
        print(shown)
        self.addDetail('figures', content.text_content(shown))
        self.assertEqual([*range(1, len(numbers) + 1)], numbers)
        self.assertEqual(COUNT, len(had))
        self.assertLessEqual(set(had), set(numbers))
        # A commit whose answer was lost is told as failed.
        failures = sum('failure' in one for one in tries)
        self.assertLessEqual(len(numbers) - COUNT, failures)


def during(
    tries: list[dict[str, object]], begin: float, end: float
) -> list[dict[str, object]]:
    """The tries of which some part lies between two times."""
    return [
        one
        for one in tries
        if one['began'] < end and one['began'] + one['seconds'] > begin
    ]


def figures(tries: list[dict[str, object]]) -> str:
    """How long the tries took, in seconds, and why some failed."""
    seconds = sorted(one['seconds'] for one in tries if 'number' in one)
    reasons = [str(one['failure']) for one in tries if 'failure' in one]
    shown = {
        'numbers': len(seconds),
        'median': round(seconds[len(seconds) // 2], 3),
        'p99': round(seconds[len(seconds) * 99 // 100], 3),
        'longest': round(seconds[-1], 3),
        'longest try': round(max(float(t['seconds']) for t in tries), 3),
        'failures': {reason: reasons.count(reason) for reason in reasons},
    }
    return json.dumps(shown)
