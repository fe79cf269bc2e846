# SPDX-License-Identifier: Apache-2.0
"""Is it remembered how each domain is, and what of it is not kept yet?"""

import json

from oslotest import base

from kronos.monitor import memory as memories
from kronos.monitor.domains import Domain, State
from kronos.monitor.events import Kind
from kronos.monitor.memory import Memory, Row
from kronos.monitor.nova_metadata import Metadata
from tests.unit.monitor.hypervisor import ONE, event


class MemoryTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.memory = Memory('node1')
        self.start(run=1)

    def start(self, run: int) -> None:
        self.follow('LIFECYCLE', 'STARTED_BOOTED', run=run)

    def follow(self, name: str, detail: str = '', **more: int) -> None:
        self.memory.follow(event(name, detail, **more))

    @property
    def row(self) -> Row:
        return self.memory.rows[ONE]


class TestFollow(MemoryTestCase):
    def test_each_event(self) -> None:
        for detail, state, reason in (
            ('SUSPENDED_PAUSED', State.PAUSED, 'USER'),
            ('SUSPENDED_IOERROR', State.PAUSED, 'IOERROR'),
            ('SUSPENDED_WATCHDOG', State.PAUSED, 'WATCHDOG'),
            ('SUSPENDED_UNKNOWN_77', State.PAUSED, 'UNKNOWN_77'),
            ('RESUMED_UNPAUSED', State.RUNNING, ''),
            ('PMSUSPENDED_DISK', State.SLEEPING, 'DISK'),
            ('SHUTDOWN_GUEST', State.SHUTTING_DOWN, 'GUEST'),
            ('STOPPED_SHUTDOWN', State.SHUTOFF, 'SHUTDOWN'),
            ('STOPPED_FAILED', State.SHUTOFF, 'CRASHED'),
            ('CRASHED_PANICKED', State.CRASHED, 'PANICKED'),
            ('UNKNOWN_9_UNKNOWN_9', State.CRASHED, 'PANICKED'),
            ('STARTED_BOOTED', State.RUNNING, ''),
        ):
            self.follow('LIFECYCLE', detail)
            found = (self.row.state, self.row.reason)
            self.assertEqual((state, reason), found, detail)

    def test_what_comes_before_its_lifecycle_event(self) -> None:
        self.follow('IO_ERROR', 'PAUSE')
        self.assertEqual('IOERROR', self.row.reason)
        self.follow('WATCHDOG', 'PAUSE')
        self.assertEqual('WATCHDOG', self.row.reason)
        self.follow('WATCHDOG', 'POWEROFF')
        self.assertTrue(self.row.is_off)

    def test_undefined(self) -> None:
        """One that runs goes on; else it is gone."""
        self.follow('LIFECYCLE', 'UNDEFINED_REMOVED')
        self.assertIn(ONE, self.memory.rows)
        self.follow('LIFECYCLE', 'STOPPED_DESTROYED')
        self.memory.changed.clear()
        self.follow('LIFECYCLE', 'UNDEFINED_REMOVED')
        self.assertEqual({}, self.memory.rows)
        self.assertEqual({ONE}, self.memory.changed)

    def test_defined(self) -> None:
        self.follow('LIFECYCLE', 'DEFINED_UPDATED')
        self.assertIs(State.RUNNING, self.row.state)
        self.memory.forget(ONE)
        self.follow('LIFECYCLE', 'DEFINED_ADDED')
        self.assertIs(State.SHUTOFF, self.row.state)


class TestFailure(MemoryTestCase):
    def test_ids(self) -> None:
        """Each incident has its own, and one that is defined anew, too."""
        found = [self.memory.fail(self.row, Kind.CRASH, 1.0)]
        found += [self.memory.fail(self.row, Kind.CRASH, 1.0)]
        self.memory.forget(ONE)
        self.start(run=1)
        found += [self.memory.fail(self.row, Kind.CRASH, 1.0)]
        self.assertEqual(3, len({*found}))

    def test_the_same_id_after_a_restart(self) -> None:
        """What was not kept is found again, under the same id."""
        kept = Row.of(json.loads(json.dumps(self.row.document())))
        again = Memory('node1', {ONE: kept})
        self.assertEqual(
            self.memory.fail(self.row, Kind.CRASH, 1.0),
            again.fail(kept, Kind.PANIC, 2.0),
        )

    def test_it_ends_with_a_start(self) -> None:
        self.memory.fail(self.row, Kind.CRASH, 1.0)
        self.follow('LIFECYCLE', 'STOPPED_FAILED')
        self.assertEqual('crash', self.row.failed)
        self.start(run=2)
        self.assertEqual('', self.row.failed)

    def test_it_ends_with_time_where_it_runs(self) -> None:
        self.memory.fail(self.row, Kind.IO_ERROR, 1000.0)
        self.memory.expire(1000.0 + memories.LASTING)
        self.assertEqual('io_error', self.row.failed)
        self.memory.storm(self.row, Kind.IO_ERROR, 1100.0)
        self.memory.expire(1001.0 + memories.LASTING)
        self.assertEqual('io_error', self.row.failed)
        self.memory.expire(1101.0 + memories.LASTING)
        self.assertEqual('', self.row.failed)

    def test_a_storm_is_kept_now_and_then(self) -> None:
        self.memory.changed.clear()
        self.memory.storm(self.row, Kind.IO_ERROR, 1000.0)
        self.assertEqual({ONE}, self.memory.changed)
        self.memory.changed.clear()
        for number in range(1001, 1010):
            self.memory.storm(self.row, Kind.IO_ERROR, float(number))
        self.assertEqual(set(), self.memory.changed)
        self.memory.storm(self.row, Kind.IO_ERROR, 1010.0)
        self.assertEqual({ONE}, self.memory.changed)


class TestAdopt(MemoryTestCase):
    def test_unchanged(self) -> None:
        domain = Domain(ONE, 'guest', State.RUNNING, '', 1)
        self.memory.adopt(domain)
        self.memory.changed.clear()
        self.memory.adopt(domain)
        self.assertEqual(set(), self.memory.changed)

    def test_an_arrival_that_an_event_tells_of_again(self) -> None:
        """It waited while domains were listed."""
        for detail, reason in (
            ('STOPPED_DESTROYED', 'INCOMING_DEFINED'),
            ('STOPPED_MIGRATED', 'INCOMING'),
        ):
            self.follow('LIFECYCLE', detail)
            self.memory.adopt(Domain(ONE, 'g', State.PAUSED, 'MIGRATION', 2))
            self.assertEqual(reason, self.row.reason)
            self.follow('LIFECYCLE', 'STARTED_MIGRATED', run=2)
            self.assertEqual(reason, self.row.reason)
            self.assertTrue(self.row.is_elsewhere)
            self.start(run=3)

    def test_one_that_leaves(self) -> None:
        self.memory.adopt(Domain(ONE, 'g', State.PAUSED, 'MIGRATION', 1))
        self.assertFalse(self.row.is_elsewhere)
        self.assertTrue(self.row.is_leaving)

    def test_another_run(self) -> None:
        self.memory.fail(self.row, Kind.HANG, 1.0)
        self.memory.adopt(Domain(ONE, 'guest', State.RUNNING, '', 2))
        self.assertEqual(('', 2), (self.row.failed, self.row.run))

    def test_metadata(self) -> None:
        """What cannot be read now was read before."""
        metadata = Metadata(project='p')
        self.memory.adopt(Domain(ONE, 'g', State.RUNNING, '', 1, metadata))
        self.memory.adopt(Domain(ONE, 'g', State.RUNNING, '', 1))
        self.assertEqual('p', self.row.metadata.project)

    def test_described_between_listings(self) -> None:
        """Its state may be older than the last event."""
        self.follow('LIFECYCLE', 'STOPPED_FAILED')
        metadata = Metadata(flavor='f')
        self.memory.describe(Domain(ONE, 'g', State.RUNNING, '', 1, metadata))
        self.assertIs(State.SHUTOFF, self.row.state)
        self.assertEqual('f', self.row.metadata.flavor)

    def test_a_hostile_name(self) -> None:
        self.memory.adopt(
            Domain(ONE, 'a\n\x1b' + 'b' * 999, State.RUNNING, '')
        )
        self.assertTrue(self.row.name.startswith('a??bb'))
        self.assertEqual(255, len(self.row.name))
