# SPDX-License-Identifier: Apache-2.0
"""Is a state only believed where server and migration say the same?"""

from kronos.common import exceptions
from kronos.extensions.cells.actions import progress
from kronos.extensions.cells.actions.context import StartedMove
from kronos.extensions.cells.actions.journal import Journal
from kronos.extensions.cells.actions.progress import Standing
from tests.fakes.two_cells import cold_moves
from tests.unit.extensions.cells.actions import base

U, A, C, R, B = (
    Standing.UNDER_WAY,
    Standing.ARRIVED,
    Standing.CONFIRMED,
    Standing.REVERTED,
    Standing.BROKEN,
)


class ProgressTestCase(base.CellMoveTestCase):
    def setUp(self):
        super().setUp()
        self.evidence = Journal(self.task, self.clock())

    def begin(self, **more):
        """Somebody asks for the move; from now on it is looked at."""
        mark = self.mark(**more)
        mark.request = self.ask_by_hand()
        self.follow(mark)

    def follow(self, mark):
        self.own = mark
        self.progress = progress.CellMoveProgress(
            StartedMove(self.settings, self.context, mark, self.evidence)
        )

    def arrive(self):
        self.begin()
        self.clock.sleep(100)
        self.assertIs(A, self.standing())

    def standing(self):
        return self.progress.look().standing

    def standings(self, number, every=5):
        """So many looks; one for each sight, unless said otherwise."""
        found = []
        for _ in range(number):
            found.append(self.standing())
            self.clock.sleep(every)
        return found

    def stays(self):
        """It is under way for hours."""
        self.assertEqual([U] * 5, self.standings(5, every=2000))

    def until(self, wanted, most=1000):
        """Seconds until the standing is another one than under way."""
        began = self.clock()
        while (found := self.standing()) is U:
            self.clock.sleep(5)
            self.assertLess(self.clock(), began + most, 'for ever')
        self.assertIs(wanted, found)
        return self.clock() - began

    def set(self, migration='', **fields):
        """Nova shows this from now on."""
        self.server.plays = []
        vars(self.server).update(fields)
        if migration:
            self.cloud.moves[-1].status = migration


class TestGoodEnds(ProgressTestCase):
    def test_arrived(self):
        """``finished``, while the server is not there, is not yet it."""
        self.begin()
        self.assertEqual([U] * 7 + [A], self.standings(8))

    def test_arrived_says_the_server_alone(self):
        """Nova shows the migration's row of the source, for ever."""
        self.arrive()
        for status in ('pre-migrating', 'migrating', 'post-migrating'):
            self.set(status)
            self.follow(self.own)
            self.assertEqual([U, U, A, A], self.standings(4, every=3))

    def test_confirmed(self):
        """The migration is ``confirmed`` before the server is."""
        self.arrive()
        self.cell_migration.confirm(base.UUID)
        self.assertEqual([U, U, C], self.standings(3))

    def test_one_that_was_stopped(self):
        self.stop_server()
        self.arrive()
        self.cell_migration.confirm(base.UUID)
        self.assertEqual([U, U, C], self.standings(3))
        self.assertEqual(('n1', 'SHUTOFF', None, 4), self.place())

    def test_reverted(self):
        """The migration flickers, and the server seems to be ACTIVE."""
        self.arrive()
        self.cell_migration.revert(base.UUID)
        self.assertEqual([U, U, U, U, R], self.standings(5))

    def test_deleted(self):
        self.begin()
        self.set('error')
        self.cloud.delete(base.UUID)
        self.assertIs(Standing.GONE, self.standing())

    def test_deleted_while_a_copy_is_on_its_way(self):
        """Nova brings it to life, or gives up without a word."""
        self.begin()
        self.set('post-migrating')
        deleted = self.server
        self.cloud.delete(base.UUID)
        self.assertEqual(120, self.until(Standing.GONE))
        self.follow(self.own)
        self.assertEqual([U] * 3, self.standings(3))
        self.cloud.servers[base.UUID] = deleted
        self.set('finished', status='VERIFY_RESIZE', task_state=None)
        self.assertIs(A, self.standing())
        self.assertTrue(self.evidence.was_being_deleted)

    def test_deleted_and_its_migrations_with_it(self):
        self.begin()
        self.standing()
        self.cloud.delete(base.UUID)
        self.cloud.answers[base.MIGRATIONS] = [404]
        self.assertIs(Standing.GONE, self.standing())

    def test_back_from_a_restarted_compute(self):
        """It has no task, but Nova moves it still."""
        self.begin()
        self.set('migrating', status='ACTIVE')
        self.assertEqual([U] * 3, self.standings(3, every=59))


class TestTogether(ProgressTestCase):
    """States of one that the other does not have."""

    def check(self, wanted, migration, **fields):
        self.begin()
        self.set(migration, **fields)
        self.assertIs(wanted, self.standing())

    def test_agreed(self):
        self.check(A, 'finished', status='VERIFY_RESIZE', task_state=None)

    def test_finished_alone(self):
        self.check(U, 'finished', status='ACTIVE', task_state=None)

    def test_a_task_is_not_over(self):
        """Such as ``deleting``."""
        self.check(
            U, 'finished', status='VERIFY_RESIZE', task_state='deleting'
        )

    def test_confirmed_alone(self):
        self.check(U, 'confirmed', status='VERIFY_RESIZE', task_state=None)

    def test_reverted_on_the_destination(self):
        self.check(U, 'reverted', status='ACTIVE', task_state=None, host='n1')


class TestBrokenEnds(ProgressTestCase):
    """When what does not fit together is believed to stay."""

    def breaks(self, where):
        self.server.breaks = where
        self.begin()

    def test_refused_by_the_scheduler(self):
        self.breaks('scheduler')
        self.assertEqual(5 + 5, self.until(B))

    def test_a_task_for_ever(self):
        """Nova ends the migration before it has cleaned up."""
        self.breaks('prep')
        self.assertEqual(5 + 120, self.until(B))

    def test_in_error(self):
        self.breaks('finish')
        self.assertEqual(30 + 5, self.until(B))

    def test_in_error_while_the_migration_goes_on(self):
        self.begin()
        self.set('migrating', status='ERROR', task_state=None)
        self.assertEqual(120, self.until(B))

    def test_a_source_that_was_restarted(self):
        self.breaks('restart')
        self.assertEqual(25 + 5, self.until(B))

    def test_no_conductor_any_more(self):
        """It looks as if it went on, for ever."""
        self.breaks('conductor')
        self.stays()

    def test_powered_off(self):
        self.breaks('snapshot')
        self.assertEqual(20 + 5, self.until(B))

    def test_a_confirmation_that_takes_long(self):
        """Nova says that it is at it."""
        self.arrive()
        self.set('confirming')
        self.stays()

    def test_a_failed_confirmation(self):
        self.arrive()
        self.server.breaks = 'confirm'
        self.cell_migration.confirm(base.UUID)
        self.assertEqual(5 + 5, self.until(B))

    def test_a_failed_revert(self):
        self.arrive()
        self.server.breaks = 'revert'
        self.cell_migration.revert(base.UUID)
        self.assertEqual(10 + 5, self.until(B))

    def test_signs_that_change(self):
        """What happens still is waited for."""
        self.begin()
        for status in ('ERROR', 'ACTIVE') * 3:
            self.set('migrating', status=status, task_state=None)
            self.assertIs(U, self.standing())
            self.clock.sleep(110)
            self.assertIs(U, self.standing())

    def test_nothing_came_of_the_request(self):
        """It failed before there was a migration."""
        self.begin()
        self.set(status='ACTIVE', task_state=None)
        self.cloud.moves = []
        self.cloud.failures[self.own.request] = 'no'
        self.assertEqual(5, self.until(B))

    def test_nothing_is_known_of_the_request(self):
        """An API worker that is slow may be at it still."""
        self.begin()
        self.set(status='ACTIVE', task_state=None)
        self.cloud.moves = []
        self.own.request = ''
        self.assertEqual(120, self.until(B))


class TestOurs(ProgressTestCase):
    """Which of a server's migrations is followed."""

    def listed(self):
        self.standing()
        return self.own.migration

    def test_it_is_kept_in_the_mark(self):
        self.begin()
        ours = self.cloud.moves[0].uuid
        self.assertEqual(ours, self.listed())
        self.assertEqual(ours, self.slots.marks['']['migration'])
        self.assertEqual(ours, self.evidence.migration)

    def test_earlier_ones(self):
        """Also of the minute before: clocks differ."""
        self.arrive()
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(20)
        self.standing()
        known = [self.own.migration]
        self.begin(earlier=known)
        self.assertEqual(self.cloud.moves[1].uuid, self.listed())

    def test_older_ones_that_were_not_listed(self):
        self.arrive()
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(120)
        self.begin()
        self.assertEqual(self.cloud.moves[1].uuid, self.listed())

    def test_one_of_somebody_else_that_came_later(self):
        """Ours was refused before anybody looked."""
        self.server.breaks = 'scheduler'
        self.begin()
        self.clock.sleep(10)
        self.server.breaks = ''
        self.cloud.clock.sleep(1)
        self.ask_by_hand()
        self.assertEqual(self.cloud.moves[0].uuid, self.listed())

    def test_by_its_uuid_and_not_the_newest(self):
        """Somebody has ended ours, and moves the server on."""
        self.arrive()
        self.assertEqual(self.cloud.moves[0].uuid, self.listed())
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(100)
        self.assertIs(R, self.standing())
        self.ask_by_hand()
        self.clock.sleep(100)
        look = self.progress.look()
        self.assertEqual('VERIFY_RESIZE', self.server.status)
        self.assertEqual(self.cloud.moves[0].uuid, look.migration.uuid)
        self.assertIsNot(A, look.standing)

    def test_one_of_somebody_else_alone(self):
        """Nova made no migration of ours."""
        self.begin()
        self.cloud.moves.clear()
        self.server.moves.clear()
        self.set(status='ACTIVE', task_state=None)
        self.cloud.failures[self.own.request] = 'no'
        self.ask_by_hand()
        self.clock.sleep(100)
        self.assertEqual('', self.listed())
        self.assertIsNot(A, self.standing())

    def test_clocks_that_are_apart(self):
        """By five minutes, in either direction."""
        for apart in (-300, 300):
            self.cloud.moves.clear()
            self.server.moves.clear()
            self.begin(asked_at=self.clock() + apart)
            self.assertEqual(self.cloud.moves[0].uuid, self.listed())
            self.set(status='ACTIVE', task_state=None)

    def test_one_that_nova_takes_up_again(self):
        """A conductor died of it, long ago."""
        self.ask_by_hand()
        left = self.cloud.moves[0]
        self.clock.sleep(7000)
        mark = self.mark()
        left.status = 'pre-migrating'
        self.follow(mark)
        self.assertEqual('', self.listed())
        left.updated = self.cloud.clock()
        self.assertEqual(left.uuid, self.listed())

    def test_live_ones(self):
        mark = self.mark()
        self.ask_by_hand()
        self.cloud.moves[0].kind = 'live-migration'
        self.follow(mark)
        self.assertEqual('', self.listed())

    def test_a_clock_that_is_behind(self):
        self.begin(asked_at=self.clock() + 59)
        self.assertEqual(self.cloud.moves[0].uuid, self.listed())

    def test_the_id_changes(self):
        """It is that of the one cell's row or of the other's."""
        self.begin()
        self.assertEqual([U] * 7 + [A], self.standings(8))
        self.assertLess(4, self.cloud.moves[0].looks)

    def test_no_database(self):
        """The migration is followed all the same."""
        self.begin()
        self.slots.mark_errors = [exceptions.TurnUnknown('away')]
        self.assertEqual(self.cloud.moves[0].uuid, self.listed())


class TestUntil(ProgressTestCase):
    def test_somewhere(self):
        self.begin()
        look = self.progress.until(1000)
        self.assertIs(A, look.standing)
        self.assertEqual('VERIFY_RESIZE', look.instance.status)
        self.assertEqual('finished', look.migration.status)
        self.assertEqual(1035.0, self.clock())

    def test_not_in_time(self):
        self.begin()
        self.assertIsNone(self.progress.until(20))
        self.assertEqual(1020.0, self.clock())
        self.assertEqual('RESIZE', self.progress.seen.instance.status)

    def test_a_last_look(self):
        """At the very end, and not a poll before."""
        self.begin()
        self.assertIs(A, self.progress.until(35).standing)

    def test_what_does_not_count(self):
        self.arrive()
        self.assertIsNone(self.progress.until(50, A))

    def test_nova_is_away(self):
        """The move goes on meanwhile."""
        self.begin()
        self.cloud.down.add(base.MIGRATIONS)
        self.clock.at(1030, self.cloud.down.clear)
        self.assertIs(A, self.progress.until(1000).standing)
        self.assertTrue(
            self.told[0].startswith('does not know how it goes: Nova: '),
            self.told,
        )

    def test_nova_stays_away(self):
        self.begin()
        self.cloud.down.add(base.MIGRATIONS)
        self.assertIsNone(self.progress.until(100))
        self.assertIsNone(self.progress.seen)

    def test_it_tells(self):
        self.begin()
        self.progress.until(1000)
        self.assertEqual(
            'is RESIZE (resize_prep), migration pre-migrating', self.told[0]
        )
        self.assertEqual(
            'is RESIZE (resize_migrated), migration finished', self.told[-1]
        )

    def test_evidence(self):
        """Each state once."""
        self.begin()
        self.progress.until(1000)
        self.assertEqual(
            [
                (one.task or '', one.migration)
                # The first two differ in the destination alone.
                for one in cold_moves.MOVE[1:]
            ],
            [(one.task, one.migration) for one in self.evidence.seen],
        )
