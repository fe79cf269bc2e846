# SPDX-License-Identifier: Apache-2.0
"""What becomes of a migration whose guest writes as fast as it is copied?"""

import sys

from kronos.actions.live import force_complete
from kronos.actions.live.force_complete import AtStall
from kronos.actions.live.passes import Passes
from kronos.clients.nova import rows
from kronos.common import exceptions
from tests import places
from tests.unit.actions.live import base, test_progress

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import passes  # noqa: E402

MIB = 2**20
SERVER = f'{base.NOVA}/servers/{base.UUID}'
SPEED = 40 * MIB
"""Bytes that are sent in a second."""
PASSING = (401, 408, 429)
"""Statuses of the client's fault after which Nova may take the same."""


class WritingGuestTestCase(test_progress.FollowTestCase):
    """A guest of 1 GiB that writes to a quarter of it, again and again."""

    writes = 1.0
    memory = 1024 * MIB
    disk = 0

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 2
        self.instance.script = ('running',)
        self.copy = passes.Copy(self.memory, self.disk, self.writes)
        self.began = self.clock.now
        self.forced = None
        self.look(self.tell)

    def tell(self, migration, number):
        """Nova's figures at this moment."""
        sent = int((self.clock.now - self.began) * SPEED)
        left = None
        if migration.forced:
            self.forced = self.forced or (sent, self.left(migration))
            left = self.forced[1] - (sent - self.forced[0])
        found = self.copy.figures(sent, left)
        migration.figures = {f'{k}_bytes': v for k, v in found.items()}
        is_over = self.writes < 1 and sent >= self.copy.total
        if is_over or (left is not None and left <= 0):
            migration.script[:] = ['running', 'completed']

    def crawl(self, migration, number):
        """The network gets slow as soon as it is forced."""
        if not migration.forced:
            self.tell(migration, number)

    def left(self, migration):
        return migration.figures['memory_remaining_bytes']


class AbortTestCase(WritingGuestTestCase):
    def test_passes_in_vain(self):
        error = self.fails(
            exceptions.MigrationFailed,
            'aborted: it does not converge (pass ',
            ', 40.0 MiB/s sent, ',
            ' MiB/s written): 3 more passes did not reduce the remaining '
            'memory (running, ',
            'of 1.0 GiB memory)',
        )
        self.assertEqual('migration_stalled', error.kwargs['fault'])
        self.assertEqual(('h1', None), self.place())
        self.assertEqual(1, len(self.aborts))
        self.assertLess(self.clock.now - self.began, 80)

    def test_turned_off(self):
        self.settings.timing.stall_passes = 0
        self.settings.timing.migration_timeout = 200
        self.fails(exceptions.MigrationTimeout, 'aborted after 3 min 20 s')

    def test_while_disks_are_copied_no_pass_counts(self):
        self.copy = passes.Copy(self.memory, 8 * self.memory, self.writes)
        self.fails(exceptions.MigrationFailed, 'it does not converge')
        self.assertGreater(self.clock.now - self.began, 8 * 1024 / 40)


class ConvergingTestCase(WritingGuestTestCase):
    """Each pass takes a little less than the one before."""

    writes = 0.9

    def test_it_is_slow_and_not_stalled(self):
        self.assertEqual('', self.run_move())

    def test_looks_that_are_longer_than_passes(self):
        self.settings.timing.poll_interval = 15
        self.assertEqual('', self.run_move())


class ForceTestCase(WritingGuestTestCase):
    def setUp(self):
        super().setUp()
        self.settings.at_stall = AtStall.FORCE
        self.settings.max_pause_seconds = 10
        self.path = f'{SERVER}/migrations/1/action'

    def test_a_pause_that_is_short(self):
        self.assertIn('completed by a pause of its guest', self.run_move())
        self.assertEqual([], self.aborts)
        self.assertEqual('h2', self.instance.host)

    def test_one_that_is_too_long(self):
        """A quarter of the guest takes 6.4 seconds."""
        self.settings.max_pause_seconds = 5
        self.fails(
            exceptions.MigrationFailed,
            'not forced: its guest would be paused for 6 s '
            '(max_pause_seconds: 5)',
        )
        self.assertFalse(self.cloud.migrations[-1].forced)

    def test_one_that_becomes_too_long(self):
        self.look(self.crawl)
        self.fails(
            exceptions.MigrationFailed,
            'aborted: its guest was paused for 10 s (running, ',
        )
        self.assertEqual(1, len(self.aborts))

    def test_nova_refuses(self):
        self.answer(403)
        self.fails(
            exceptions.MigrationFailed, 'does not converge', 'not forced: '
        )

    def test_an_answer_that_is_lost(self):
        """Nova may have paused the guest, so it is not left to itself."""
        self.look(self.crawl)
        self.cloud.lost['POST', self.path] = [504]
        self.fails(
            exceptions.MigrationFailed, 'aborted: its guest was paused for'
        )

    def test_a_request_that_is_lost(self):
        """Its guest runs on, so Nova is asked again."""
        self.answer(202)
        self.assertIn('completed by a pause of its guest', self.run_move())
        self.assertEqual(2, self.asked)

    def test_all_requests_are_lost(self):
        self.answer(202, 504, 202)
        self.fails(
            exceptions.MigrationFailed,
            'aborted: Nova was asked 3 times to complete it by force, and its '
            'guest runs on at h1 (running, ',
        )
        self.assertEqual(3, self.asked)
        self.assertEqual(('h1', None), self.place())

    def test_a_second_request_is_refused(self):
        self.answer(202, 403)
        self.fails(
            exceptions.MigrationFailed,
            'and its guest runs on at h1; not forced again: ',
            'HTTP 403',
        )

    def test_a_guest_of_which_nobody_knows(self):
        """It may be paused, so it is taken back; more is not said."""
        self.look(self.crawl)
        self.cloud.down.add(('GET', f'{SERVER}/diagnostics'))
        error = self.fails(
            exceptions.MigrationFailed,
            'aborted: Nova was asked 10 s ago to complete it by force, and it '
            'is not over; whether its guest is paused is not known (running, ',
        )
        self.assertNotIn('was paused', str(error))
        self.assertLess(self.clock.now - self.began, 90)

    def answer(self, *statuses):
        self.cloud.answers['POST', self.path] = list(statuses)

    @property
    def asked(self):
        return self.cloud.calls.count(('POST', self.path))


class StatusTestCase(base.MoveTestCase):
    """Each status, of a request that was done all the same, or was not."""

    def setUp(self):
        super().setUp()
        self.path = 'POST', f'{SERVER}/migrations/1/action'
        self.begin()

    def begin(self):
        """A migration whose guest runs on until it is forced."""
        self.instance.host, self.instance.task_state = 'h1', None
        self.instance.script = ('running',) * 99
        self.instance.guest = 'running'
        self.cloud.migrations.clear()
        self.cloud.calls.clear()
        self.live_migration.live_migrate(base.UUID, 'h2')
        [self.migration] = self.cloud.migrations
        self.migration.id = 1
        self.seen = rows.MigrationStatus(base.UUID, 'running', id=1)
        context = self.run_of()._context
        self.force = force_complete.ForceComplete(
            context, self.settings.task, AtStall.POST_COPY, 10.0
        )

    def why(self):
        """What is said when its guest runs on for as long as it may."""
        self.clock.now += 10
        return self.force.why_give_up(self.seen, Passes())

    @property
    def asked(self):
        return self.cloud.calls.count(self.path)

    def test_not_done(self):
        for status in range(300, 600):
            self.begin()
            self.cloud.answers[self.path] = [status]
            text = self.force.ask(self.seen, Passes())
            is_refused = 400 <= status < 500 and status not in PASSING
            if is_refused:
                self.assertIn('not forced: ', text, status)
                self.assertIn(f'HTTP {status}', text)
                self.assertEqual(
                    (False, ''), (self.force.is_asked, self.why())
                )
            else:
                self.assertEqual('', text, status)
                self.assertEqual('', self.why(), status)
                self.assertTrue(self.migration.forced, status)
            self.assertEqual(1 if is_refused else 2, self.asked, status)

    def test_done_and_lost(self):
        """It is seen to, and not asked for again: the guest is paused."""
        for status in range(300, 600):
            if 400 <= status < 500 and status not in PASSING:
                # So Nova answers what it does not do.
                continue
            self.begin()
            self.cloud.lost[self.path] = [status]
            self.assertEqual('', self.force.ask(self.seen, Passes()), status)
            self.assertTrue(self.migration.forced, status)
            self.assertIn('its guest was paused for 10 s', self.why())
            self.assertEqual(1, self.asked, status)

    def test_for_ever(self):
        """It ends after as many requests as may be sent."""
        for status in (302, 401, 408, 429, 500, 503, 599):
            self.begin()
            self.cloud.answers[self.path] = [status] * 99
            self.force.ask(self.seen, Passes())
            texts = [self.why() for _ in range(force_complete.MOST_REQUESTS)]
            self.assertEqual(['', ''], texts[:2], status)
            self.assertIn('asked 3 times', texts[2])
            self.assertEqual(3, self.asked, status)


class PostCopyTestCase(WritingGuestTestCase):
    def setUp(self):
        super().setUp()
        self.settings.at_stall = AtStall.POST_COPY
        self.settings.max_pause_seconds = 0

    def test_the_source_permits_it(self):
        self.cloud.permits_post_copy = True
        self.look(self.crawl)
        self.assertIn('completed by post-copy', self.run_move())
        self.assertEqual([], self.aborts)

    def test_it_does_not(self):
        self.look(self.crawl)
        self.fails(
            exceptions.MigrationFailed,
            'aborted: its guest was paused for 3 s, for h1 does not permit '
            'post-copy (live_migration_permit_post_copy in its nova.conf)',
        )
        self.assertEqual(('h1', None), self.place())

    def test_a_request_that_is_lost(self):
        """Its guest runs on, so it is not blamed on the source."""
        self.cloud.permits_post_copy = True
        self.cloud.answers['POST', f'{SERVER}/migrations/1/action'] = [202]
        self.assertIn('completed by post-copy', self.run_move())
        self.assertEqual([], self.aborts)

    def test_what_is_cancelled_meanwhile_arrives(self):
        """Nova cannot abort what runs at its destination."""
        self.cloud.permits_post_copy = True

        def cancel(migration, number):
            self.crawl(migration, number)
            self.cancelled = migration.status == 'running (post-copy)'

        self.look(cancel)
        self.assertIn('completed instead of cancelled', self.run_move())
