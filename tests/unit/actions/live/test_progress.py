# SPDX-License-Identifier: Apache-2.0
"""Is a migration seen to stand still, and its hosts to fail?"""

import itertools
import random

import fixtures
import testscenarios
from oslotest import base as oslo_base

from kronos.common import exceptions
from tests.fakes.qemu_copy import QemuCopy
from tests.unit.actions.live import base, following

INTERVALS = (0.5, 1, 2, 5, 7, 10, 20, 30, 45, 60, 90, 120)
"""Seconds between two saves of Nova's monitor."""
MIB = 2**20
LONG = 300
GIB = 2**30


class FollowTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 10
        self.settings.timing.migration_timeout = 2000
        self.log = self.useFixture(fixtures.FakeLogger())
        self.instance.script = ('queued', *['running'] * LONG, 'completed')

    def look(self, do):
        """Call ``do(migration, number)`` before every look of ours."""
        numbers = iter(range(10000))
        self.cloud.on_look = lambda one: do(one, next(numbers))

    @staticmethod
    def figures(done, left):
        return {
            'memory_total_bytes': 4 * GIB,
            'memory_processed_bytes': done,
            'memory_remaining_bytes': left,
        }


class StallTestCase(FollowTestCase):
    def test_no_progress(self):
        error = self.fails(
            exceptions.MigrationFailed,
            'aborted: no progress for 5 min (running, 1.0 of 4.0 GiB memory)',
        )
        self.assertNotIn('not over', str(error))
        self.assertEqual(('h1', None), self.place())
        self.assertEqual(1, len(self.aborts))
        self.assertLess(self.clock.now, 1000 + 400)

    def test_turned_off(self):
        self.settings.timing.stall_timeout = 0
        self.fails(exceptions.MigrationTimeout, 'aborted after 33 min 20 s')

    def test_bytes_that_were_sent_are_progress(self):
        """A guest that writes as fast: what remains does not shrink."""

        def grow(migration, number):
            migration.figures = self.figures(number, GIB)

        self.look(grow)
        self.fails(exceptions.MigrationTimeout, 'aborted after 33 min 20 s')

    def test_fewer_bytes_left_are_progress(self):
        def shrink(migration, number):
            migration.figures = self.figures(GIB, 4 * GIB - number)

        self.look(shrink)
        self.fails(exceptions.MigrationTimeout, 'aborted after 33 min 20 s')

    def test_to_and_fro_is_none(self):
        def swing(migration, number):
            migration.figures = self.figures(GIB, GIB + number % 2)

        self.look(swing)
        self.fails(exceptions.MigrationFailed, 'no progress for 5 min')

    def test_a_driver_that_tells_nothing(self):
        def nothing(migration, number):
            migration.figures = {}

        self.look(nothing)
        self.fails(exceptions.MigrationTimeout, 'aborted after 33 min 20 s')

    def test_not_in_the_queue(self):
        self.instance.script = (*['queued'] * 90, 'running', 'completed')
        self.assertEqual('', self.run_move())

    def test_not_while_it_prepares(self):
        self.instance.script = (*['preparing'] * 90, 'running', 'completed')
        self.assertEqual('', self.run_move())

    def test_not_after_the_switch(self):
        self.instance.script = ('running', *['post-migrating'] * 90)
        self.instance.script += ('completed',)
        self.assertEqual('', self.run_move())

    def away(self, begin, end):
        """Nova answers nothing between two moments."""
        faults = {('GET', '/nova'), ('DELETE', '/nova')}
        self.clock.at(begin, lambda: self.cloud.down.update(faults))
        self.clock.at(end, self.cloud.down.clear)

    def test_nobody_knows_while_nova_is_away(self):
        def once(migration, number):
            if self.clock.now > 1600:
                migration.script[:] = ['running', 'completed']

        self.look(once)
        self.away(1100, 1600)
        self.assertEqual('', self.run_move())

    def test_what_was_seen_before_and_after_counts(self):
        self.away(1200, 1600)
        self.fails(exceptions.MigrationFailed, 'no progress for 5 min')
        self.assertGreater(self.clock.now, 1700)
        self.assertLess(self.clock.now, 1850)


class ProgressLogTestCase(FollowTestCase):
    def test_at_most_every_30_seconds(self):
        def grow(migration, number):
            migration.figures = self.figures(number, 4 * GIB - number)
            if number > 60:
                migration.script[:] = ['running', 'completed']

        self.look(grow)
        self.run_move()
        lines = self.log.output.count('GiB memory')
        seconds = self.clock.now - 1000
        self.assertGreater(seconds, 600)
        self.assertLessEqual(lines, seconds / 30 + 1)
        self.assertGreater(lines, seconds / 30 - 3)

    def test_the_record(self):
        self.instance.script = ('queued', 'queued', 'running', 'completed')
        self.run_move()
        record = self.notices.told[-1][1]['record']
        self.assertEqual(
            [10.0, 10.0, 20.0, GIB, None, 'completed'],
            [
                record.queued_seconds,
                record.running_seconds,
                record.total_seconds,
                record.memory_bytes,
                record.disk_bytes,
                record.status,
            ],
        )


class LivenessTestCase(FollowTestCase):
    """The host fails while the migration runs."""

    def setUp(self):
        super().setUp()
        self.settings.timing.stall_timeout = 0

    def fail_host(self, host, **change):
        def fail(migration, number):
            if number == 5:
                self.failed_at = self.clock.now
                self.cloud.services[host].update(change)

        self.look(fail)

    def aborted(self, words, after=0):
        error = self.fails(
            exceptions.MigrationCancelled, 'aborted running', words
        )
        self.assertEqual('destination_closed', error.kwargs['fault'])
        # Over at the next look after it was aborted.
        self.assertGreaterEqual(self.clock.now - self.failed_at, after)
        self.assertLessEqual(self.clock.now - self.failed_at, after + 10)
        self.assertEqual(('h1', None), self.place())

    def test_destination_down(self):
        self.fail_host('h2', state='down')
        self.aborted('nova-compute on destination h2 is down', 30)

    def test_a_report_that_is_late(self):
        """Nova calls a host down whose one report was lost."""

        def late(migration, number):
            state = 'down' if number in (5, 6, 7, 20, 21, 22) else 'up'
            self.cloud.services['h2'].update(state=state)

        self.look(late)
        self.instance.script = (*['running'] * 50, 'completed')
        self.assertEqual('', self.run_move())
        self.assertIn('destination h2 is available again', self.log.output)

    def test_destination_forced_down(self):
        self.fail_host('h2', forced=True)
        self.aborted('destination h2 is forced down')

    def test_destination_disabled(self):
        self.fail_host('h2', status='disabled', reason='broken fan')
        self.aborted('destination h2 is disabled (broken fan)')

    def test_destination_gone(self):
        def gone(migration, number):
            if number == 5:
                self.failed_at = self.clock.now
                self.reply(
                    'GET',
                    f'{base.NOVA}/os-services',
                    lambda query: {'services': []},
                )

        self.look(gone)
        self.aborted('destination h2 has no nova-compute service', 30)

    def test_it_is_not_tried_again(self):
        self.fail_host('h2', state='down')
        self.aborted('down', 30)
        self.assertEqual(1, self.requests)

    def test_source_down_is_said(self):
        self.fail_host('h1', state='down')
        error = self.fails(
            exceptions.MigrationTimeout,
            'aborted after 33 min 20 s',
            'nova-compute on source h1 is down',
        )
        self.assertEqual('source_failed', error.kwargs['fault'])
        self.assertEqual(
            1,
            self.log.output.count('is being migrated: nova-compute on source'),
        )

    def test_source_that_comes_back_is_said(self):
        self.clock.at(
            1100, lambda: self.cloud.services['h1'].update(state='down')
        )
        self.clock.at(
            1200, lambda: self.cloud.services['h1'].update(state='up')
        )
        self.instance.script = (*['running'] * 50, 'completed')
        self.assertEqual('', self.run_move())
        self.assertIn('source h1 is available again', self.log.output)

    def test_source_disabled_is_nothing(self):
        self.fail_host('h1', status='disabled')
        self.instance.script = (*['running'] * 50, 'completed')
        self.assertEqual('', self.run_move())
        self.assertNotIn('nova-compute on source', self.log.output)

    def test_it_arrives_instead(self):
        self.fail_host('h2', status='disabled')
        self.instance.script = (
            *['running'] * 3,
            *['post-migrating'] * 9,
            'completed',
        )
        self.assertIn('completed instead of cancelled', self.run_move())

    def test_it_dies_of_the_host_before_it_is_aborted(self):
        """The host's fault is none of the instance."""
        self.fail_host('h2', state='down')

        def refuse(method, path, query, body, real=self.cloud.answer):
            if method == 'DELETE':
                self.cloud.migrations[0].script = ['failed']
                self.cloud._reach(self.cloud.migrations[0])
            return real(method, path, query, body)

        self.cloud.answer = refuse
        self.fails(
            exceptions.MigrationCancelled,
            'destination h2 is down',
            'the migration ended as failed',
        )


class IntervalTestCase(
    testscenarios.TestWithScenarios, oslo_base.BaseTestCase
):
    """Nova writes its figures down more or less often."""

    scenarios = [
        (
            f'{interval} s, a look each {poll} s',
            {'every': interval, 'poll': poll},
        )
        for interval, poll in itertools.product(INTERVALS, (0.5, 5.0))
    ]

    def follow(self, copy, seconds):
        """What is known of a migration after so many seconds, or at its end.

        It ends as soon as its passes are in vain.
        """

        def check(found):
            self.assertLess(found.stands_still(), 300)

        return following.follow(copy, self.poll, seconds, check=check)

    def copy(self, **more):
        """Of 64 GiB at 1,000 MiB/s, seen by a conductor of another clock."""
        return QemuCopy(
            **{
                'memory': 64 * GIB,
                'speed': 1000 * MIB,
                'interval': self.every,
                'clock_offset': -217.3,
                **more,
            }
        )

    def check_speed(self, copy, found):
        self.assertLess(abs(found.passes.bandwidth / copy.speed - 1), 0.05)

    def test_the_speed(self):
        copy = self.copy(memory=1024 * GIB)
        found = self.follow(copy, 1000)
        self.check_speed(copy, found)
        self.assertEqual(1, found.passes.number)

    def test_one_that_converges(self):
        """Each pass is smaller by a tenth than the one before."""
        copy = self.copy(dirty_rate=900 * MIB, working_set=64 * GIB)
        self.assertLess(copy.end, 700)
        self.assertEqual(0, self.follow(copy, 2000).passes.in_vain() // 3)

    def test_one_that_never_ends(self):
        """It is found, and its pause is not thought shorter than it is."""
        copy = self.copy(dirty_rate=1300 * MIB, working_set=7300 * MIB)
        found = self.follow(copy, 80 * max(self.every, self.poll) + 200)
        self.assertEqual(3, found.passes.in_vain())
        self.check_speed(copy, found)
        self.assertGreaterEqual(found.passes.pause, 0.99 * copy.pause)

    def test_two_conductors_of_which_the_clocks_differ(self):
        """Their times are of no use; what was seen when is."""
        copy = self.copy(memory=1024 * GIB)
        row = copy.row

        def either(at):
            copy.clock_offset = 240.0 if at % 40 < 20 else -60.0
            return row(at)

        copy.row = either
        found = self.follow(copy, 1000)
        longest = max(self.every, self.poll)
        error = abs(found.passes.bandwidth / copy.speed - 1)
        self.assertLess(error, max(0.05, self.poll / longest / 5))


class RandomTestCase(IntervalTestCase):
    """Guests of all sorts, by seeds."""

    scenarios = [(str(seed), {'seed': seed}) for seed in range(20)]

    def setUp(self):
        super().setUp()
        chance = random.Random(self.seed)
        self.every = chance.choice(INTERVALS)
        self.poll = chance.choice((0.5, 1.0, 5.0, 10.0))
        speed = chance.uniform(20, 2000) * MIB
        working_set = chance.uniform(0.6, 20) * speed
        self.guest = {
            'memory': chance.uniform(20, 60) * speed,
            'speed': speed,
            'working_set': working_set,
            'dirty_rate': chance.uniform(1.05, 2) * speed,
            'clock_offset': chance.uniform(-300, 300),
        }

    def copy(self, **more):
        return super().copy(**{**self.guest, **more})

    def test_one_that_converges(self):
        rate = 0.8 * self.guest['speed']
        copy = self.copy(dirty_rate=rate, working_set=self.guest['memory'])
        self.assertLess(self.follow(copy, 5000).passes.in_vain(), 3)

    def test_one_that_never_ends(self):
        copy = self.copy()
        found = self.follow(copy, 50 * max(self.every, self.poll) + 400)
        if found.passes.in_vain():
            self.check_speed(copy, found)
            self.assertGreaterEqual(found.passes.pause, 0.99 * copy.pause)

    def test_the_speed(self):
        copy = self.copy(memory=1000 * self.guest['speed'])
        self.check_speed(copy, self.follow(copy, 900))

    def test_two_conductors_of_which_the_clocks_differ(self):
        """Speeds and sizes say nothing of it."""


class PaceTestCase(FollowTestCase):
    """Figures that come so seldom that a standstill cannot be told."""

    WORDS = 'no new figures of its migration for'

    def follow_every(self, interval):
        copy = QemuCopy(4 * GIB, 4 * MIB, interval=interval)
        began = self.clock.now

        def write(migration, number):
            migration.figures, _written = copy.row(self.clock.now - began)
            if self.clock.now - began > 1000:
                migration.script[:] = ['running', 'completed']

        self.look(write)
        self.assertEqual('', self.run_move())

    def test_it_is_told(self):
        self.follow_every(200)
        self.assertIn(self.WORDS, self.log.output)
        self.assertIn('live_migration_monitor_interval', self.log.output)

    def test_often_enough(self):
        self.follow_every(120)
        self.assertNotIn(self.WORDS, self.log.output)
