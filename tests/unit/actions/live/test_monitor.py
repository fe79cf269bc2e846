# SPDX-License-Identifier: Apache-2.0
"""Is a live migration followed to whatever end it takes?"""

import logging
import time

import fixtures
import testscenarios

from kronos.actions.live import monitor
from kronos.common import exceptions
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base

LONG = 200
NO_VALID_HOST = (
    'No valid host was found. There are not enough hosts available.'
)


class SuccessTestCase(base.MoveTestCase):
    def test_moves(self):
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)
        self.assertEqual([], self.aborts)

    def test_the_scheduler_decides(self):
        self.run_move()
        self.assertEqual(
            [{'os-migrateLive': {'host': 'h2', 'block_migration': 'auto'}}],
            self.cloud.bodies,
        )

    def test_the_queue_has_a_clock_of_its_own(self):
        # 1,500 s in the queue and 500 s under way: both within limits.
        self.settings.timing.stall_timeout = 0
        self.instance.script = (
            *['queued'] * 30,
            *['running'] * 10,
            'completed',
        )
        self.assertEqual('', self.run_move())
        self.assertGreater(self.clock.now, 1000 + 1900)

    def test_logs_each_status_once(self):
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.instance.script = (
            'accepted',
            'accepted',
            *['running'] * 5,
            'completed',
        )
        self.run_move()
        told = [
            one.rpartition(' ')[2]
            for one in log.output.splitlines()
            if ': migration ' in one
        ]
        self.assertEqual(['accepted', 'running', 'completed'], told)

    def test_nova_away_for_a_while(self):
        def away(look):
            if look.status == 'queued':
                self.cloud.down.add(('GET', '/nova/v2.1/os-migrations'))

        self.cloud.on_look = away
        sleep, slept = self.clock.sleep, []

        def back(seconds):
            slept.append(seconds)
            if len(slept) == 5:
                self.cloud.down.clear()
            sleep(seconds)

        self.clock.sleep = back
        self.assertEqual('', self.run_move())
        self.assertGreater(len(slept), 5)

    def test_looks_that_fail_of_anything(self):
        """Nothing that a look raises is an end of the migration."""
        errors = [KeyError('status'), TypeError('null'), RecursionError()]
        self.settings.timing.stall_timeout = 0
        self.instance.script = (*['running'] * 4, 'completed')
        for name in ('get_migration_status', 'get_instance', 'get_service'):
            self.stumble(name, list(errors))
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)
        self.assertEqual([], self.aborts)

    def test_a_row_that_is_gone_and_a_server_that_nobody_can_read(self):
        self.instance.script = ('running', 'running', 'completed')
        gone = exceptions.NovaClientError(
            reason='HTTP 404', status=404, transient=False
        )
        self.stumble('get_migration_status', [gone])
        self.stumble('get_instance', [KeyError('server')])
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)

    def stumble(self, name, errors):
        """While the migration runs, a method first raises these."""
        client = self.client
        if hasattr(self.live_migration, name):
            client = self.live_migration
        real = getattr(client, name)

        def method(*args):
            known = [one.status for one in self.cloud.migrations]
            if known == ['running'] and errors:
                raise errors.pop(0)
            return real(*args)

        setattr(client, name, method)

    def test_the_host_follows_the_migration(self):
        """Nova may call it completed a little before the server is there."""
        self.instance.script = ('running', 'completed')
        late = []

        def still_busy(row):
            if self.instance.host == 'h2' and len(late) < 3:
                late.append(1)
                row['OS-EXT-STS:task_state'] = 'migrating'
                row['OS-EXT-SRV-ATTR:host'] = 'h1'
            return row

        real = self.cloud.server_row
        self.cloud.server_row = lambda one: still_busy(real(one))
        self.assertEqual('', self.run_move())
        self.assertEqual(3, len(late))


class RefusalTestCase(base.MoveTestCase):
    def test_scheduler(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = NO_VALID_HOST
        self.fails(
            exceptions.PreFlightError,
            f'destination refused: {NO_VALID_HOST}',
        )
        self.assertEqual('h1', self.instance.host)

    def test_conductor(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = 'Unacceptable CPU info: no avx512'
        self.fails(
            exceptions.PreFlightError, 'destination refused: Unacceptable CPU'
        )

    def test_whose_compute_is_unavailable(self):
        for host, whose, fault in (
            ('h1', 'source', 'source_not_up'),
            ('h2', 'destination', 'destination_not_up'),
        ):
            self.instance.script = ('accepted', 'error')
            self.instance.refusal = (
                f'Compute service of {host} is unavailable at this time.'
            )
            error = self.fails(exceptions.PreFlightError, f'{whose} refused: ')
            self.assertEqual(fault, error.kwargs['fault'])

    def refuses(self, status, text):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                raise cloud.Answer(status, {'fault': {'message': text}})
            return real(method, path, query, body)

        self.cloud.answer = answer

    def test_state(self):
        self.refuses(409, 'wrong state')
        self.fails(exceptions.PreFlightError, 'rejected by Nova', '409')

    def test_at_once(self):
        """Before 2.34 Nova refuses in its answer."""
        self.refuses(400, NO_VALID_HOST)
        self.fails(
            exceptions.PreFlightError, 'destination refused', NO_VALID_HOST
        )

    def test_other_cell(self):
        self.refuses(400, 'Compute host h2 could not be found.')
        self.fails(
            exceptions.PreFlightError, 'h2 is in another cell, or unmapped'
        )

    def test_leaves_a_trace_on_the_server(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = NO_VALID_HOST

        def broken(look):
            self.instance.status = 'ERROR'

        self.cloud.on_look = broken
        self.fails(exceptions.PreFlightError, 'the instance is ERROR on h1')


class FailureTestCase(base.MoveTestCase):
    def test_driver(self):
        self.instance.script = ('running', 'failed')
        self.fails(
            exceptions.MigrationFailed, 'failed', 'the connection to the host'
        )

    def test_gone(self):
        def delete(look):
            if look.status == 'preparing':
                self.cloud.servers.pop(base.UUID, None)

        self.cloud.on_look = delete
        self.fails(
            exceptions.MigrationFailed,
            'the instance is gone; Placement still has allocations for it on '
            'h2.example.org',
        )

    def test_aborted_by_somebody(self):
        """An operator's wish is not answered by another try."""
        self.instance.script = ('running', 'cancelled')
        self.cloud.on_look = lambda look: self.cloud.note_abort(base.UUID)
        self.fails(exceptions.MigrationCancelled, 'by somebody else')
        self.assertEqual(1, self.requests)

    def test_aborted_by_nobody_knows_whom(self):
        """The safe answer is that somebody wished it."""
        self.instance.script = ('queued', 'queued', 'cancelled')
        path = f'{base.NOVA}/servers/{base.UUID}/os-instance-actions'

        def away(look):
            if len(look.script) == 2:
                self.cloud.down.add(('GET', path))

        self.cloud.on_look = away
        self.fails(exceptions.MigrationCancelled, 'by somebody else')
        self.assertEqual(1, self.requests)

    def test_gone_and_its_rows_too(self):
        self.instance.script = ('running',) * LONG

        def look(migration):
            self.clock.at(
                self.clock.now + 1,
                lambda: self.cloud.servers.pop(base.UUID, None),
            )

        self.cloud.on_look = look
        self.fails(exceptions.MigrationFailed, 'the instance is gone')

    def test_a_row_that_is_gone_while_nova_is_away(self):
        """Nobody knows; it is watched on."""
        self.instance.script = ('running',) * LONG
        servers = ('GET', f'{base.NOVA}/servers')

        def look(migration):
            self.cloud.on_look = lambda migration: None
            self.clock.at(1050, hide)

        def hide():
            self.hidden = self.cloud.servers.pop(base.UUID)
            self.cloud.down.add(servers)
            self.clock.at(1300, show)

        def show():
            self.cloud.servers[base.UUID] = self.hidden
            self.cloud.down.clear()
            self.cloud.migrations[0].script = ['running', 'completed']

        self.cloud.on_look = look
        self.assertEqual('', self.run_move())

    def test_completed_but_not_there(self):
        self.instance.script = ('running', 'completed')
        self.cloud._reach = lambda look: None
        self.fails(
            exceptions.MigrationFailed,
            'inconsistent',
            'on h1, task state migrating',
        )
        # A bounded wait: 120 s after it was over.
        self.assertLess(self.clock.now, 1000 + 300)

    def test_arrived_in_error(self):
        self.instance.script = ('running', 'completed')

        def broken(look):
            self.instance.status = 'ERROR'

        self.cloud.on_look = broken
        self.fails(exceptions.MigrationFailed, 'the instance is ERROR on h2')


class TimeoutTestCase(base.MoveTestCase):
    def test_running(self):
        self.settings.timing.stall_timeout = 0
        self.instance.script = ('queued', *['running'] * LONG)
        self.fails(
            exceptions.MigrationTimeout, 'aborted after 10 min', 'running'
        )
        self.assertEqual(
            [f'/nova/v2.1/servers/{base.UUID}/migrations/1'], self.aborts
        )
        self.assertEqual(('h1', None), self.place())

    def test_an_abort_that_fails_of_anything_is_asked_for_again(self):
        self.settings.timing.stall_timeout = 0
        self.instance.script = ('running',) * LONG
        real, errors = self.live_migration.abort_migration, [TypeError('null')]

        def abort(*args):
            if errors:
                raise errors.pop()
            return real(*args)

        self.live_migration.abort_migration = abort
        self.fails(exceptions.MigrationTimeout, 'aborted after 10 min')
        self.assertEqual(('h1', None), self.place())

    def test_queued(self):
        self.instance.script = ('accepted', *['queued'] * LONG)
        self.fails(
            exceptions.MigrationTimeout, "aborted after 30 min in Nova's queue"
        )
        self.assertEqual(1, len(self.aborts))
        self.assertEqual(('h1', None), self.place())

    def test_completes_instead(self):
        # Too late to abort: it is watched on, and it arrives.
        self.instance.script = (
            *['post-migrating'] * 15,
            'completed',
        )
        self.assertEqual(monitor.INSTEAD, self.run_move())
        self.assertEqual('h2', self.instance.host)
        self.assertGreater(len(self.aborts), 1)

    def test_never_over(self):
        self.instance.script = ('post-migrating',) * LONG
        self.fails(
            exceptions.MigrationTimeout, 'not over in Nova yet: post-migrating'
        )
        self.assertLess(self.clock.now, 1000 + 1400)

    def test_nova_away_for_good(self):
        self.instance.script = ('running',) * LONG

        def away(look):
            self.cloud.down.add(('GET', '/nova'))
            self.cloud.down.add(('DELETE', '/nova'))

        self.cloud.on_look = away
        self.fails(exceptions.MigrationTimeout, 'not over in Nova yet')


class RefusalTextTestCase(base.MoveTestCase):
    def test_nova_s_words_and_nothing_else(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = NO_VALID_HOST
        error = self.fails(exceptions.PreFlightError)
        self.assertEqual(f'destination refused: {NO_VALID_HOST}', str(error))

    def test_nova_gives_no_reason(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = 'x'
        path = (
            'GET',
            f'{base.NOVA}/servers/{base.UUID}/os-instance-actions/req',
        )

        def away(look):
            if look.status == 'accepted':
                self.cloud.down.add(path)

        self.cloud.on_look = away
        error = self.assertRaises(exceptions.MigrationError, self.run_move)
        self.assertEqual(0, len(self.aborts))
        self.assertIn('Nova gives no reason', str(error))

    def test_disabled_in_between(self):
        """Seen by us as well, but it is Nova that refuses."""
        self.instance.script = ('accepted', 'accepted', 'accepted', 'error')
        self.instance.refusal = NO_VALID_HOST

        def disable(look):
            self.cloud.services['h2'].update(status='disabled')

        self.cloud.on_look = disable
        error = self.fails(exceptions.PreFlightError)
        self.assertEqual(f'destination refused: {NO_VALID_HOST}', str(error))

    def test_cancelled_in_between(self):
        """The cause stays the cause."""
        self.instance.script = ('accepted', 'accepted', 'accepted', 'error')
        self.instance.refusal = NO_VALID_HOST

        def cancel(look):
            self.cancelled = True

        self.cloud.on_look = cancel
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled; the migration ended as error',
        )

    def test_what_is_wrong_with_its_hosts_is_said(self):
        self.instance.script = ('running', 'running', 'failed')

        def down(look):
            self.cloud.services['h1'].update(state='down')

        self.cloud.on_look = down
        self.fails(
            exceptions.MigrationFailed,
            'migration failed: the connection to the host was lost; '
            'nova-compute on source h1 is down',
        )


class ClocksTestCase(testscenarios.TestWithScenarios, base.MoveTestCase):
    """Nova's API and its conductors have clocks that are apart."""

    scenarios = [
        (f'{apart} s', {'apart': apart})
        for apart in (-300, -240, -20, -3, 0, 3, 20, 240, 300)
    ]

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def aborts_at_look(self, number):
        looks = iter(range(1, 1000))

        def look(migration):
            if next(looks) == number:
                at = time.time() + self.apart
                self.cloud.note_abort(base.UUID, moment=at)
                migration.script[1:] = ['cancelled']

        self.cloud.on_look = look

    def is_aborted(self):
        self.fails(
            exceptions.MigrationCancelled, 'aborted in Nova by somebody else'
        )
        self.assertEqual(1, self.requests)

    def test_an_operator_s_abort(self):
        for status in ('queued', 'preparing', 'running'):
            self.cloud.bodies.clear()
            self.instance.script = (status,) * 50
            self.aborts_at_look(3)
            self.is_aborted()

    def stops(self):
        self.instance.script = ('queued', 'queued', 'cancelled')
        self.clock.at(
            self.clock.now + 12,
            lambda: setattr(self.instance, 'script', ('running', 'completed')),
        )

    def test_a_nova_compute_that_was_stopped(self):
        self.stops()
        self.assertEqual('tried 2 times', self.run_move())

    def test_the_same_after_an_abort_of_an_earlier_migration(self):
        at = time.time() + self.apart
        self.cloud.note_abort(base.UUID, moment=at)
        self.stops()
        self.assertEqual('tried 2 times', self.run_move())

    def test_an_earlier_migration_of_another_conductor(self):
        """It is not taken for the one of this request."""
        self.instance.script = ('running', 'completed')
        self.live_migration.live_migrate(base.UUID, 'h2')
        (earlier,) = self.cloud.migrations
        earlier.began = time.time() + self.apart
        self.end(earlier, 'error')
        self.instance.host, self.instance.task_state = 'h1', None
        self.instance.script = ('accepted', 'running', 'completed')
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)


class CancelledOutsideTestCase(base.MoveTestCase):
    def test_by_the_hypervisor_or_nova_s_own_timeout(self):
        """A migration that ran is never tried again for it."""
        self.instance.script = ('running', 'running', 'running', 'cancelled')
        error = self.fails(
            exceptions.MigrationCancelled,
            "aborted without a request to Nova's API",
            'live_migration_completion_timeout',
        )
        self.assertEqual('aborted', error.kwargs['fault'])
        self.assertEqual(1, self.requests)


class SlowSourceTestCase(base.MoveTestCase):
    """The server has arrived; its source has not said so yet."""

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.instance.script = ('running',) * 1000
        room, real = {'VCPU': 1, 'MEMORY_MB': 1024}, self.cloud.allocations

        def allocations():
            found = real()
            migrations = self.cloud.migrations
            if migrations and migrations[0].status == 'running':
                found[base.UUID] = {'h2': room}
                found[migrations[0].uuid] = {'h1': room}
            return found

        self.cloud.allocations = allocations

    def arrives(self, seconds=None, **source):
        """:param seconds: until it is completed; None: it never is"""
        looks = iter(range(1, 100_000))

        def look(migration):
            if next(looks) == 3:
                self.instance.host, self.instance.task_state = 'h2', None
                self.cloud.services['h1'].update(source)
                if seconds is not None:
                    self.clock.at(
                        self.clock.now + seconds, lambda: self.end(migration)
                    )

        self.cloud.on_look = look

    def test_it_is_waited_for(self):
        for seconds in (25, 90, 400):
            with self.subTest(seconds=seconds):
                self.cloud.migrations.clear()
                self.instance.host = 'h1'
                self.arrives(seconds)
                self.assertEqual('', self.run_move())

    def test_however_late_it_is(self):
        """What has arrived is not aborted."""
        self.settings.timing.migration_timeout = 60
        self.arrives(400)
        self.assertEqual('', self.run_move())
        self.assertEqual([], self.aborts)

    def test_it_never_ends(self):
        self.arrives()
        text = self.run_move()
        self.assertIn('Nova left its migration running', text)
        self.assertIn('allocation delete', text)
        self.assertGreater(self.clock.now, 1000 + 600)

    def test_its_source_died(self):
        self.arrives(state='down')
        self.assertIn('Nova left its migration running', self.run_move())
        self.assertLess(self.clock.now, 1000 + 120)


class LostRequestTestCase(base.MoveTestCase):
    """Nova takes a request, and nothing comes of it."""

    def setUp(self):
        super().setUp()
        self.instance.script = ('accepted',) * 1000
        real = self.cloud.answer

        def answer(method, path, query, body):
            found = real(method, path, query, body)
            if path.endswith('/os-migrations'):
                return {'migrations': []}
            if '/os-instance-actions/req' in path:
                found['instanceAction']['events'] = []
            return found

        self.cloud.answer = answer

    def test_nothing_was_aborted(self):
        error = self.fails(
            exceptions.MigrationTimeout,
            'Nova took the request 30 min ago and has made no migration for '
            'it, so there was no migration to abort; the server stays '
            'migrating',
        )
        self.assertEqual('queued_too_long', error.kwargs['fault'])
        self.assertNotIn('aborted', str(error))
        self.assertEqual([], self.aborts)
        self.assertLess(self.clock.now, 1000 + 1900)

    def test_its_plan_is_cancelled(self):
        self.clock.at(1200, lambda: setattr(self, 'cancelled', True))
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled, and Nova has made no migration for its '
            'request, so there was no migration to abort; it may still begin',
        )


class LargeTestCase(base.MoveTestCase):
    """What bounds a migration follows from how much it has to send."""

    GIB = 2**30

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 20
        self.instance.script = ('running',) * 10_000
        self.instance.ram = 1024

    def moves(self, gib, gib_per_second, disk_gib=0):
        began, total = self.clock.now, gib * self.GIB

        def look(migration):
            sent = (self.clock.now - began) * gib_per_second * self.GIB
            disk = min(int(sent), disk_gib * self.GIB)
            done = min(int(sent) - disk, total)
            is_disk = disk < disk_gib * self.GIB
            migration.figures = {
                'memory_total_bytes': 0 if is_disk else total,
                'memory_processed_bytes': done,
                'memory_remaining_bytes': 0 if is_disk else total - done,
                'disk_total_bytes': disk_gib * self.GIB,
                'disk_processed_bytes': disk,
                'disk_remaining_bytes': disk_gib * self.GIB - disk,
            }
            if done == total:
                migration.script[:] = ['running', 'completed']

        self.cloud.on_look = look

    def test_much_memory_that_is_sent_evenly(self):
        self.moves(1024, 0.5)
        self.assertEqual('', self.run_move())
        self.assertEqual([], self.aborts)
        self.assertGreater(self.clock.now, 1000 + 2000)

    def test_large_disks(self):
        self.moves(8, 0.1, disk_gib=200)
        self.assertEqual('', self.run_move())

    def test_one_that_crawls(self):
        self.moves(256, 0.01)
        error = self.fails(
            exceptions.MigrationTimeout,
            'aborted after 1 h 8 min 16 s under way',
        )
        self.assertEqual('too_slow', error.kwargs['fault'])

    def test_a_small_one_that_crawls(self):
        self.moves(8, 0.0005)
        self.fails(exceptions.MigrationTimeout, 'aborted after 10 min')

    def test_size_does_not_matter(self):
        self.settings.timing.migration_timeout_per_gib = 0
        self.moves(1024, 0.5)
        self.fails(exceptions.MigrationTimeout, 'aborted after 10 min')

    def test_one_that_stands_still(self):
        self.moves(1024, 0)
        self.fails(exceptions.MigrationFailed, 'no progress for 5 min')
