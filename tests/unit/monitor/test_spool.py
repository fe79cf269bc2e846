# SPDX-License-Identifier: Apache-2.0
"""Is on disk together what happened together, and never too much of it?"""

import logging
import pathlib
import subprocess
import sys

import fixtures
from oslotest import base

from kronos.monitor import spool as spools
from kronos.monitor.domains import State
from kronos.monitor.memory import Row
from kronos.monitor.spool import Changes, Entry, Spool, SpoolError
from tests import places
from tests.unit.monitor.hypervisor import ONE, TWO

MIB = 2**20


def entry(number: int, severity: int = 1, instance: str = ONE) -> Entry:
    body = f'{{"number": {number}}}'
    return Entry(
        f'id-{number}',
        instance,
        severity,
        1000.0 + number,
        1,
        State.SHUTOFF,
        body,
        ('a', 'b'),
    )


class SpoolTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'monitor.db'
        self.spool = self.again()

    def again(self, size: int = 16 * MIB) -> Spool:
        spool = Spool(str(self.path), size)
        self.addCleanup(spool.close)
        return spool

    def reopen(self) -> None:
        self.spool.close()
        self.spool = self.again()

    def ids(self, sink: str = 'a') -> list[str]:
        return [one.id for one in self.spool.waiting(sink, 0, 9999)]


class TestTogether(SpoolTestCase):
    """What a trigger needs: nothing of single incidents."""

    def test_all_that_there_are(self) -> None:
        self.assertIsNone(self.spool.newest('a'))
        for number in range(5):
            self.spool.commit(Changes(entries=[entry(number)]))
        newest = self.spool.newest('a')
        assert newest is not None
        self.spool.commit(Changes(entries=[entry(9)]))
        self.assertEqual(5, self.spool.done(newest, 'a', 0))
        self.assertEqual(['id-9'], self.ids())
        self.assertEqual(6, len(self.ids('b')))
        self.assertEqual(5, self.spool.done(newest, 'b', 0))
        self.assertEqual(0, self.spool.done(newest, 'b', 0))
        self.reopen()
        self.assertEqual(['id-9'], self.ids('b'))


class TestKept(SpoolTestCase):
    def test_all_of_it(self) -> None:
        row = Row(ONE, 'guest', State.RUNNING, '', 3, 'token', 2, 'crash')
        row.storms = {'io_error': 7.0}
        row.metadata.extra_specs = {'a': 'b'}
        self.spool.commit(
            Changes(
                {ONE: row, TWO: Row(TWO, 'two')},
                [entry(1)],
                {(ONE, 'crash'): 1000.0},
                True,
            )
        )
        self.spool.commit(Changes({TWO: None}))
        self.spool.alive(2000.0)
        self.reopen()
        kept = self.spool.load(2000.0)
        self.assertEqual({ONE: row}, kept.rows)
        self.assertEqual({(ONE, 'crash'): 1000.0}, kept.sent)
        self.assertEqual((2000.0, True), (kept.alive, kept.is_baseline))
        self.assertEqual(['id-1'], self.ids('b'))

    def test_nothing(self) -> None:
        self.assertEqual(spools.Kept(), self.spool.load(0.0))
        self.assertIsNone(self.spool.oldest())

    def test_the_same_incident_twice(self) -> None:
        self.spool.commit(Changes(entries=[entry(1)]))
        self.spool.commit(Changes(entries=[entry(1)]))
        self.assertEqual(['id-1'], self.ids())

    def test_all_or_none(self) -> None:
        odd = entry(2)
        odd.body = None  # type: ignore[assignment]
        self.assertRaises(
            ValueError, self.spool.commit, Changes(entries=[entry(1), odd])
        )
        self.assertEqual([], self.ids())

    def test_a_row_of_no_use(self) -> None:
        self.spool.commit(Changes({ONE: Row(ONE, 'x'), TWO: Row(TWO, 'y')}))
        writer, _ = self.spool._both or (None, None)
        assert writer is not None
        writer.execute(
            'UPDATE domains SET row = ? WHERE instance = ?', ('{}', ONE)
        )
        self.assertEqual([TWO], [*self.spool.load(0.0).rows])


class TestDeliveries(SpoolTestCase):
    def test_each_sink_for_itself(self) -> None:
        self.spool.commit(Changes(entries=[entry(1), entry(2)]))
        first = self.spool.waiting('a', 0, 1)[0]
        self.spool.done(first.seq, 'a')
        self.assertEqual(
            (['id-2'], ['id-1', 'id-2']), (self.ids(), self.ids('b'))
        )
        self.assertEqual(1001.0, self.spool.oldest())
        self.spool.done(first.seq, 'b')
        self.assertEqual(1002.0, self.spool.oldest())

    def test_sinks_that_are_no_more(self) -> None:
        self.spool.commit(Changes(entries=[entry(1), entry(2)]))
        self.assertEqual(2, self.spool.keep_sinks(['b']))
        self.assertEqual(([], ['id-1', 'id-2']), (self.ids(), self.ids('b')))
        self.assertEqual(2, self.spool.keep_sinks([]))
        self.assertIsNone(self.spool.oldest())


class TestFull(SpoolTestCase):
    def test_the_least_severe_and_oldest_go(self) -> None:
        text = 'x' * 8000
        dropped = total = 0
        for start in range(0, 3000, 100):
            batch = [
                entry(number, severity=number % 3)
                for number in range(start, start + 100)
            ]
            for one in batch:
                one.body = text
            total += len(batch)
            dropped += self.spool.commit(Changes(entries=batch))
            self.assertLessEqual(self.spool.size(), 16 * MIB)
        left = self.spool.waiting('a', 0, 9999)
        self.assertEqual(total - dropped, len(left))
        self.assertGreater(dropped, 0)
        kinds = [int(one.id[3:]) % 3 for one in left]
        self.assertNotIn(0, kinds)
        numbers = [int(one.id[3:]) for one in left if int(one.id[3:]) % 3 == 2]
        self.assertEqual(2999, numbers[-1], 'the newest of the severest')

    def test_room_comes_back(self) -> None:
        self.spool.commit(Changes(entries=[entry(n) for n in range(500)]))
        full = self.spool.used()
        for one in self.spool.waiting('a', 0, 999):
            self.spool.done(one.seq, 'a')
            self.spool.done(one.seq, 'b')
        self.assertLess(self.spool.used(), full)

    def test_a_disk_without_room(self) -> None:
        """In a process of its own, whose files may not grow."""
        done = subprocess.run(
            [sys.executable, '-c', LIMITED, str(self.path) + '.x'],
            cwd=places.TOP,
            capture_output=True,
            text=True,
        )
        self.assertEqual('recovered\n', done.stdout, done.stderr)


LIMITED = """
import resource, sys
from kronos.monitor.spool import Changes, Spool, SpoolError
from tests.unit.monitor.test_spool import entry, MIB

spool = Spool(sys.argv[1], 64 * MIB)
spool.load(0.0)
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, unlimited[1]))
kept = failed = 0
for start in range(0, 5000, 50):
    batch = [entry(number) for number in range(start, start + 50)]
    for one in batch:
        one.body = 'x' * 1000
    try:
        spool.commit(Changes(entries=batch))
        kept += len(batch)
    except SpoolError as error:
        failed += 1
assert failed and kept, (failed, kept)
assert len(spool.waiting('a', 0, 9999)) == kept
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
spool.commit(Changes(entries=[entry(9999)]))
assert len(spool.waiting('a', 0, 9999)) == kept + 1
print('recovered')
"""


class TestBroken(SpoolTestCase):
    def test_while_it_is_used(self) -> None:
        self.spool.commit(Changes(entries=[entry(n) for n in range(500)]))
        made = self.spool.file_id
        writer, _ = self.spool._both or (None, None)
        assert writer is not None
        writer.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        with self.path.open('r+b') as stream:
            stream.write(b'\xa5' * 4096 * 3)
        error = self.assertRaises(
            SpoolError,
            lambda: [self.spool.waiting('a', 0, 9), self.ids(), self.fill()],
        )
        self.assertIn(str(self.path), str(error))
        self.assertEqual([], self.ids())
        self.assertNotEqual(made, self.spool.file_id)
        self.spool.commit(Changes(entries=[entry(1)]))
        self.assertEqual(['id-1'], self.ids())

    def fill(self) -> None:
        for number in range(9999):
            self.spool.commit(Changes(entries=[entry(number)]))

    def test_closed(self) -> None:
        spool = Spool(str(self.path) + '.y', 16 * MIB)
        spool.close()
        self.assertRaises(SpoolError, spool.oldest)
