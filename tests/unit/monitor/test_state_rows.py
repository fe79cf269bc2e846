# SPDX-License-Identifier: Apache-2.0
"""Does an agent start whatever a state file has in its columns?"""

import contextlib
import logging
import pathlib
import sqlite3
from typing import Any

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.monitor import state_file, state_rows
from kronos.monitor.domains import State
from kronos.monitor.memory import Row
from kronos.monitor.spool import Changes, Entry, Spool
from tests.unit.monitor.hypervisor import ONE, TWO

MIB = 2**20
NOW = 2000.0
COLUMNS = (
    'meta.key',
    'meta.value',
    'domains.instance',
    'domains.row',
    'incidents.seq',
    'incidents.id',
    'incidents.instance',
    'incidents.severity',
    'incidents.seen',
    'incidents.run',
    'incidents.state',
    'incidents.body',
    'deliveries.sink',
    'deliveries.seq',
    'sent.instance',
    'sent.kind',
    'sent.at',
    'sqlite_sequence.seq',
)
ODD = st.one_of(
    st.text(max_size=9),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=True),
    st.binary(max_size=9),
    st.sampled_from(
        [
            '[' * 20_000,
            '{"instance": ' * 5000,
            'NaN',
            'inf',
            '-Infinity',
            '1795675905.x',
            '9' * 5000,
            '\0',
            '"\\ud800"',
            2**63 - 1,
            -(2**63),
            float('inf'),
            b'\xff\xfe',
            b'\x00',
        ]
    ),
)
ROW = (
    f'{{"instance": "{ONE}", "name": "guest", "state": "RUNNING", '
    '"reason": "", "run": 1, "token": "t", "episode": 0, "failed": "", '
    '"failed_at": 0.0, "ending": false, "storms": {}, "metadata": {}}'
)


def entry(number: int) -> Entry:
    return Entry(
        f'id-{number}',
        ONE,
        1,
        1000.0 + number,
        1,
        State.SHUTOFF,
        f'{{"number": {number}}}',
        ('a', 'b'),
    )


class RowsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'monitor.db'
        self.good = self.good_file()
        self.number = 9

    def fill(self) -> None:
        """Put a good file there."""
        for part in self.path.parent.glob('monitor.db*'):
            part.unlink()
        self.path.write_bytes(self.good)

    def good_file(self) -> bytes:
        with self.spool() as spool:
            rows: dict[str, Row | None] = {
                name: Row(name, 'guest', State.RUNNING, '', 3)
                for name in (ONE, TWO)
            }
            sent = {(ONE, 'crash'): 1000.0, (TWO, 'hang'): 1000.0}
            entries = [entry(number) for number in range(3)]
            spool.commit(Changes(rows, entries, sent, True))
            spool.alive(NOW)
        return self.path.read_bytes()

    @contextlib.contextmanager
    def spool(self) -> Any:
        with contextlib.closing(Spool(str(self.path), 16 * MIB)) as spool:
            yield spool

    def change(self, statement: str, *values: object) -> None:
        connection = sqlite3.connect(self.path)
        with contextlib.closing(connection), connection:
            connection.execute(statement, values)

    def check(self) -> str:
        return state_file.check(str(self.path), state_rows.fault)

    def work(self) -> None:
        """Whatever an agent asks of a spool."""
        self.number += 1
        with self.spool() as spool:
            spool.load(NOW)
            spool.keep_sinks(['a', 'b'])
            spool.commit(
                Changes({ONE: Row(ONE, 'guest')}, [entry(self.number)])
            )
            waiting = spool.waiting('a', 0, 99)
            for delivery in waiting:
                self.assertIsInstance(delivery.seen, float)
                self.assertIsInstance(delivery.body, str)
            self.assertEqual(f'id-{self.number}', waiting[-1].id)
            spool.done(waiting[-1].seq, 'a')
            spool.alive(NOW)
            spool.oldest()
            spool.used()


class TestDropped(RowsTestCase):
    def test_nothing_of_a_good_file(self) -> None:
        self.assertEqual('', self.check())
        self.work()
        self.assertEqual('', self.check())
        self.assertEqual('', self.log.output)

    def test_each(self) -> None:
        for statement, value, reason in (
            (
                "UPDATE meta SET value = ? WHERE key = 'alive'",
                '1795675905.x',
                'meta alive: could not convert string to float',
            ),
            (
                'UPDATE domains SET row = ? WHERE rowid = 1',
                '[' * 20_000,
                f'domains {ONE}: Invalid JSON: recursion limit',
            ),
            (
                'UPDATE domains SET row = ? WHERE rowid = 1',
                ROW.replace('0.0', 'NaN'),
                f'domains {ONE}: failed_at: Input should be a finite number',
            ),
            (
                'UPDATE domains SET row = ? WHERE rowid = 1',
                ROW.replace('"run": 1', f'"run": {2**63}'),
                f'domains {ONE}: a value is no integer, or too large',
            ),
            (
                'UPDATE domains SET row = ? WHERE rowid = 2',
                ROW,
                f'domains {TWO}: it is the row of another instance',
            ),
            (
                'UPDATE incidents SET seen = ? WHERE seq = 1',
                'x',
                'incidents 1: a value is no number',
            ),
            (
                'UPDATE incidents SET body = ? WHERE seq = 1',
                b'\xff',
                'incidents 1: a value is no text',
            ),
            (
                'UPDATE incidents SET seq = ? WHERE seq = 1',
                2**63 - 1,
                'its number is out of range',
            ),
            (
                f"UPDATE sent SET at = ? WHERE instance = '{ONE}'",
                float('inf'),
                f'sent {ONE}: it is not finite',
            ),
        ):
            self.fill()
            self.change(statement, value)
            fault = self.check()
            self.assertIn(' rows cannot be read, such as ', fault)
            self.assertIn(reason, fault)
            self.work()
            self.assertEqual(1, self.log.output.count('cannot be read'))
            self.assertIn(reason, self.log.output)
            self.work()
            self.assertEqual(1, self.log.output.count('cannot be read'))
            self.assertEqual('', self.check())
            self.log._output.truncate(0)  # type: ignore[attr-defined]

    def test_the_rest_stays(self) -> None:
        self.change("UPDATE domains SET row = '' WHERE rowid = 1")
        self.change("UPDATE incidents SET seen = 'x' WHERE seq = 2")
        self.change("UPDATE meta SET value = '' WHERE key = 'alive'")
        with self.spool() as spool:
            kept = spool.load(NOW)
            self.assertEqual([TWO], [*kept.rows])
            self.assertEqual((None, True), (kept.alive, kept.is_baseline))
            for sink in ('a', 'b'):
                waiting = spool.waiting(sink, 0, 99)
                self.assertEqual(['id-0', 'id-2'], [x.id for x in waiting])

    @hypothesis.settings(max_examples=40)
    @hypothesis.given(
        st.lists(st.tuples(st.sampled_from(COLUMNS), ODD), max_size=4)
    )
    def test_whatever_is_there(self, changes: list[tuple[str, Any]]) -> None:
        self.fill()
        for place, value in changes:
            table, _, column = place.partition('.')
            with contextlib.suppress(sqlite3.Error):
                self.change(
                    f'UPDATE OR IGNORE {table} SET {column} = ?',  # noqa: S608
                    value,
                )
        self.check()
        self.work()
        self.assertEqual('', self.check())

    @hypothesis.settings(max_examples=10)
    @hypothesis.given(st.binary(min_size=1, max_size=9))
    def test_texts_of_no_encoding(self, data: bytes) -> None:
        self.fill()
        for place in COLUMNS:
            table, _, column = place.partition('.')
            with contextlib.suppress(sqlite3.Error):
                self.change(
                    f'UPDATE OR IGNORE {table} SET {column} = '  # noqa: S608
                    'CAST(? AS TEXT)',
                    data,
                )
        self.check()
        self.work()
        self.assertEqual('', self.check())
