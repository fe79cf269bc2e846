# SPDX-License-Identifier: Apache-2.0
"""Does what is decided get to the disk, or wait for it within bounds?"""

import logging
import pathlib

import fixtures
from oslotest import base

from kronos.monitor import outbox as outboxes
from kronos.monitor.memory import Memory
from kronos.monitor.metrics import Metrics
from kronos.monitor.outbox import Outbox
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Action, Severity
from kronos.monitor.spool import Changes, Spool, SpoolError
from tests.unit.monitor.hypervisor import ONE, TWO, event
from tests.unit.monitor.rules.test_decision import INCIDENT


class Disk:
    """In the place of a spool: full when it is told so."""

    def __init__(self) -> None:
        self.kept: list[Changes] = []
        self.room = 9999

    def commit(self, changes: Changes) -> int:
        if not self.room:
            raise SpoolError(path='x', reason='disk full')
        self.room -= 1
        self.kept.append(changes)
        return 0

    @property
    def ids(self) -> list[str]:
        return [entry.id for one in self.kept for entry in one.entries]


class OutboxTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.memory = Memory('node1')
        self.metrics = Metrics('node1')
        self.disk = Disk()
        self.made = self.outbox(self.disk)

    def outbox(self, disk: Disk | Spool) -> Outbox:
        return Outbox(disk, self.memory, self.metrics)  # type: ignore[arg-type]

    def add(self, number: int, **more: object) -> str:
        incident = INCIDENT.__class__(
            **{**vars(INCIDENT), 'id': str(number), **more}
        )
        severity = Severity.CRITICAL if number % 2 else Severity.INFO
        decision = Ruling(Action.SEND, 'r', severity, ('a',), 30.0)
        return self.made.add(incident, decision, '{}')

    def total(self, name: str) -> float:
        return self.metrics.registry.get_sample_value(name) or 0.0


class TestAdd(OutboxTestCase):
    def test_what_becomes_of_it(self) -> None:
        self.assertEqual('sent', self.add(1, seen=1000.0))
        self.assertEqual('deduplicated', self.add(2, seen=1029.0))
        self.assertEqual('sent', self.add(3, seen=1030.0))
        self.assertEqual('sent', self.add(4, seen=1031.0, instance=TWO))
        # A clock that jumped back silences nobody.
        self.assertEqual('sent', self.add(5, seen=10.0))
        for rule, what in (('r', 'dropped'), ('', 'unmatched')):
            decision = Ruling(Action.DROP, rule)
            self.assertEqual(what, self.made.add(INCIDENT, decision, '{}'))
        self.assertTrue(self.made.keep(()))
        self.assertEqual(['1', '3', '4', '5'], self.disk.ids)


class TestKeep(OutboxTestCase):
    def test_nothing_to_do(self) -> None:
        self.assertFalse(self.made.keep(()))
        self.assertEqual([], self.disk.kept)

    def test_rows_alone(self) -> None:
        self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', ONE, run=1))
        self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', TWO, run=2))
        self.assertFalse(self.made.keep({ONE}))
        (kept,) = self.disk.kept
        self.assertEqual({TWO: self.memory.rows[TWO]}, kept.rows)
        self.assertEqual({ONE}, self.memory.changed)

    def test_a_row_goes_with_its_last_incident(self) -> None:
        """Killed in between, the agent finds the second one again."""
        self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', ONE, run=1))
        self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', TWO, run=2))
        self.add(1, instance=ONE, seen=1.0)
        for number in range(outboxes.SLICE):
            self.add(number + 2, instance=f'other-{number}')
        self.add(999, instance=ONE, seen=999.0)
        self.made.keep(())
        first, second = self.disk.kept
        self.assertEqual(({TWO}, {ONE}), ({*first.rows}, {*second.rows}))
        self.assertEqual((100, 2), (len(first.entries), len(second.entries)))

    def test_the_baseline(self) -> None:
        self.made.baseline()
        self.made.keep(())
        self.made.keep(())
        self.assertEqual([True], [one.is_baseline for one in self.disk.kept])


class TestFull(OutboxTestCase):
    def test_it_waits_and_recovers(self) -> None:
        for number in range(250):
            self.add(number, instance=str(number))
        self.disk.room = 1
        self.assertTrue(self.made.keep((), at_once=True))
        self.assertEqual(100, len(self.disk.ids))
        for _ in range(3):
            self.assertFalse(self.made.keep((), at_once=True))
        self.assertEqual(1, self.log.output.count('disk full'))
        self.assertEqual(4.0, self.total('kronos_monitor_spool_errors_total'))
        self.disk.room = 99
        self.assertTrue(self.made.keep((), at_once=True))
        self.assertEqual([str(n) for n in range(250)], self.disk.ids)
        self.assertIn('takes changes again', self.log.output)

    def test_bounded(self) -> None:
        self.useFixture(
            fixtures.MonkeyPatch(f'{outboxes.__name__}.MOST_UNSAVED', 10)
        )
        for number in range(30):
            self.add(number, instance=str(number))
        self.made.keep(())
        wanted = [str(number) for number in range(11, 30, 2)]
        self.assertEqual(wanted, self.disk.ids)
        self.assertEqual(20.0, self.total('kronos_monitor_dropped_total'))


class SpoolTestCase(OutboxTestCase):
    def spool(self) -> Spool:
        folder = self.useFixture(fixtures.TempDir()).path
        spool = Spool(str(pathlib.Path(folder) / 'x.db'), 16 * 2**20)
        self.addCleanup(spool.close)
        self.made = self.outbox(spool)
        return spool


class TestOdd(SpoolTestCase):
    def test_the_others_are_kept(self) -> None:
        spool = self.spool()
        self.made.baseline()
        for number, more in enumerate(
            (
                {'instance': 'a'},
                {'instance': 'b\ud800'},
                {'instance': 'c', 'run': 2**70},
                {'instance': 'd', 'seen': float('nan')},
                {'instance': 'e'},
            )
        ):
            name = str(more['instance'])
            self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', name))
            self.add(number, **more)
        self.assertTrue(self.made.keep(()))
        self.assertFalse(self.made.keep(()))
        ids = [one.id for one in spool.waiting('a', 0, 99)]
        self.assertEqual(['0', '4'], ids)
        kept = spool.load(0.0)
        self.assertEqual({'a', 'e'}, {*kept.rows})
        self.assertTrue(kept.is_baseline)
        self.assertGreaterEqual(self.total('kronos_monitor_errors_total'), 3)


class TestAnotherFile(SpoolTestCase):
    def test_it_gets_all(self) -> None:
        spool = self.spool()
        self.memory.follow(event('LIFECYCLE', 'STARTED_BOOTED', ONE, run=1))
        self.add(1, seen=1000.0)
        self.memory.changed.clear()
        self.made.keep_all(True)
        self.made.keep(())
        kept = spool.load(1000.0)
        self.assertEqual([ONE], [*kept.rows])
        self.assertTrue(kept.is_baseline)
        self.assertEqual({(ONE, 'crash'): 1000.0}, kept.sent)
