# SPDX-License-Identifier: Apache-2.0
"""Is a server kept where it arrived only if it is whole and wanted there?"""

from kronos.actions.core import watcher_action
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.unit.extensions.cells.actions import base
from tests.unit.extensions.cells.actions import (
    test_confirm_or_revert as endings,
)

CONFIRM, REVERT = endings.CONFIRM, endings.REVERT
BY_OTHERS = (
    'confirmed by somebody else or by resize_confirm_window: no revert is '
    'possible'
)


class ArrivalTestCase(base.CellMoveTestCase):
    """Whole moves; the server arrives at 1035."""

    def taken_back(self, error, fault, *words):
        raised = self.fails(error, *words)
        self.assertIs(fault, faults.of_error(raised))
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())
        self.assertEqual(['migrate', 'revertResize'], self.asked)
        return raised

    def by_hand(self, do):
        """Somebody does it while the action is at its checks."""
        # They wait for Placement meanwhile.
        held = {base.UUID: {'o2': {'VCPU': 1, 'MEMORY_MB': 1}}}
        self.clock.at(1034, lambda: self.cloud.leftovers.update(held))
        self.clock.at(1036, do)
        self.clock.at(1150, self.cloud.leftovers.clear)


class TestChecks(ArrivalTestCase):
    def test_they_pass(self):
        told = self.run_move()
        checks = self.document['checks']
        self.assertGreater(len(checks), 10)
        self.assertEqual({True}, {one['ok'] for one in checks})
        self.assertEqual(
            'old/o1 -> new/n1, off for at most 30 s, '
            f'{len(checks)} checks passed, migration '
            f'{self.cloud.moves[0].uuid}',
            told,
        )
        self.assertEqual('moved', self.document['outcome'])
        self.assertEqual(
            ('o1', 'n1'),
            (self.document['before']['host'], self.document['after']['host']),
        )

    def test_one_does_not(self):
        self.server.volumes = ['v1', 'v2']
        self.server.loses = ('v2',)
        self.taken_back(
            exceptions.MigrationFailed,
            Fault.CELL_CHECK_FAILED,
            'volumes lost: v2; taken back',
        )
        wrong = [one for one in self.document['checks'] if not one['ok']]
        self.assertEqual(['volumes'], [one['name'] for one in wrong])
        self.assertEqual('failed', self.document['outcome'])

    def test_the_old_state_is_proved(self):
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)
        self.fails(exceptions.MigrationFailed)
        old = self.document['old_state']
        self.assertGreater(len(old), 10)
        self.assertEqual({True}, {one['ok'] for one in old})

    def test_the_old_state_is_another_one(self):
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)
        held = {base.UUID: {'n1': {'VCPU': 1, 'MEMORY_MB': 1024}}}
        self.clock.at(1040, lambda: self.cloud.leftovers.update(held))
        raised = self.fails(
            exceptions.MigrationFailed,
            'volumes lost: v1; taken back; not as before: Placement holds for',
        )
        self.assertIs(Fault.CELL_CHECK_FAILED, faults.of_error(raised))

    def test_a_wrong_cell(self):
        """A resize that Nova has left in its own cell."""
        self.resizes()
        self.cloud.services['o1']['status'] = 'disabled'
        self.cloud.services['o2']['status'] = 'disabled'
        self.server.lands = 'o2'
        raised = self.fails(
            exceptions.MigrationFailed,
            'it is in cell old instead of new',
            'taken back',
        )
        self.assertIs(Fault.CELL_CHECK_FAILED, faults.of_error(raised))
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())

    def test_it_is_deleted_meanwhile(self):
        self.by_hand(lambda: self.cloud.delete(base.UUID))
        raised = self.fails(exceptions.StaleTask)
        self.assertIs(Fault.INSTANCE_GONE, faults.of_error(raised))
        self.assertEqual('skipped', self.document['outcome'])


class TestManual(ArrivalTestCase):
    def setUp(self):
        super().setUp()
        self.task.confirm = 'manual'

    def test_it_waits_for_an_operator(self):
        told = self.run_move()
        self.assertEqual(('n1', 'VERIFY_RESIZE', None, 1), self.place())
        self.assertTrue(
            told.startswith(f'"{CONFIRM}", or revert: old/o1 -> new/n1, '),
            told,
        )
        self.assertEqual('waits', self.document['outcome'])
        self.assertEqual(
            [CONFIRM, f'# or: {REVERT}'], self.document['commands']
        )
        self.assertEqual(['migrate'], self.asked)
        self.assertEqual('completed', self.notices.told[-1][0])

    def test_one_that_was_pinned(self):
        """Nova takes a zone only after the end."""
        self.task.unpins = True
        self.server.pinned = 'az-old'
        self.run_move()
        self.assertEqual([None], self.server.pins)
        self.assertEqual(
            f'# when that is over, {endings.pinning("az-new")}',
            self.document['commands'][-1],
        )

    def test_a_failed_check(self):
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)
        self.taken_back(
            exceptions.MigrationFailed, Fault.CELL_CHECK_FAILED, 'taken back'
        )


class TestCancelled(ArrivalTestCase):
    def test_before_the_request(self):
        self.cancelled = True
        self.fails(exceptions.MigrationCancelled, run=self.run_of().begin)
        self.assertEqual([], self.requests)

    def test_between_the_turn_and_the_request(self):
        move = self.run_of()
        move.begin()
        self.cancel()
        self.fails(
            exceptions.MigrationCancelled,
            'its plan was cancelled',
            run=move.carry_out,
        )
        self.assertEqual([], self.requests)
        self.assertEqual([], self.slots.written)
        self.assertFalse(self.slots.held)

    def test_after_the_request(self):
        """Nova cannot abort it, so it is waited for, and taken back."""
        self.clock.at(1010, self.cancel)
        self.taken_back(
            exceptions.MigrationCancelled,
            Fault.PLAN_CANCELLED,
            'its plan was cancelled; taken back',
        )
        # Nobody waits for checks then.
        self.assertEqual([], self.document['checks'])
        self.assertEqual(1035.0 + 20, self.clock.now)

    def test_during_the_checks(self):
        """Whatever they say."""
        self.by_hand(self.cancel)
        self.taken_back(exceptions.MigrationCancelled, Fault.PLAN_CANCELLED)

    def test_after_the_confirmation(self):
        self.clock.at(1040, self.cancel)
        told = self.run_move()
        self.assertIn(', migration ', told)
        self.assertTrue(told.endswith('; completed instead of cancelled'))
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_it_was_not_moved_after_all(self):
        """What Nova gave up is told as such."""
        self.server.breaks = 'scheduler'
        self.clock.at(1005, self.cancel)
        self.fails(exceptions.PreFlightError, 'No valid host was found')


class TestOthers(ArrivalTestCase):
    """Somebody else ends the move."""

    def confirm(self):
        self.cell_migration.confirm(base.UUID)

    def at_once(self, do):
        """As soon as it has arrived, between two looks."""
        self.settings.timing.poll_interval = 50
        self.clock.at(1050, do)

    def test_confirmed(self):
        self.at_once(self.confirm)
        told = self.run_move()
        self.assertTrue(told.endswith(f'; {BY_OTHERS}'), told)
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        # Those of a move of which nothing is held on the source any more.
        self.assertGreater(len(self.document['checks']), 10)

    def test_confirmed_during_the_checks(self):
        """Nothing is held on the source any more: no reason to fail."""
        self.by_hand(self.confirm)
        told = self.run_move()
        self.assertTrue(told.endswith(f'; {BY_OTHERS}'), told)
        self.assertEqual(['migrate', 'confirmResize'], self.asked)

    def test_half_confirmed_during_the_checks(self):
        self.server.breaks = 'confirm'
        self.by_hand(self.confirm)
        raised = self.fails(
            exceptions.MigrationFailed, 'a copy of it is left in old'
        )
        self.assertIs(Fault.CELL_COPY_LEFT, faults.of_error(raised))

    def test_reverted_during_the_checks(self):
        self.by_hand(lambda: self.cell_migration.revert(base.UUID))
        self.fails(exceptions.MigrationFailed, 'taken back')
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())

    def test_confirmed_and_not_whole(self):
        """Nobody can take it back."""
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)
        self.at_once(self.confirm)
        raised = self.fails(
            exceptions.MigrationFailed, f'{BY_OTHERS}; volumes lost: v1'
        )
        self.assertIs(Fault.CELL_CHECK_FAILED, faults.of_error(raised))
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_confirmed_and_cancelled(self):
        self.at_once(lambda: (self.confirm(), self.cancel()))
        self.assertIn(BY_OTHERS, self.run_move())

    def test_half_confirmed(self):
        """Their confirmation failed; the server is in its new cell."""
        self.server.breaks = 'confirm'
        self.at_once(self.confirm)
        raised = self.fails(
            exceptions.MigrationFailed,
            'Nova left it in ERROR; mended by "openstack server reboot '
            '--hard"; it is in new, but a copy of it is left in old',
        )
        self.assertIs(Fault.CELL_COPY_LEFT, faults.of_error(raised))

    def test_reverted(self):
        self.at_once(lambda: self.cell_migration.revert(base.UUID))
        raised = self.fails(
            exceptions.MigrationCancelled, 'somebody else reverted it in Nova'
        )
        self.assertIs(Fault.ABORTED, faults.of_error(raised))
        self.assertEqual(['migrate', 'revertResize'], self.asked)

    def test_deleted(self):
        self.clock.at(1010, lambda: self.cloud.delete(base.UUID))
        raised = self.fails(
            exceptions.StaleTask, 'the instance was deleted while it moved'
        )
        self.assertIs(Fault.INSTANCE_GONE, faults.of_error(raised))
        self.assertTrue(
            watcher_action.message_of(raised).startswith('KRONOS:StaleTask: ')
        )
        self.assertEqual('skipped', self.document['outcome'])
        self.assertEqual('deleted', self.document['statuses'][-1]['status'])

    def test_given_up_and_pinned_again(self):
        self.task.unpins = True
        self.server.pinned = 'az-old'
        self.server.breaks = 'finish'
        self.fails(exceptions.MigrationFailed)
        self.assertEqual([None, 'az-old'], self.server.pins)

    def test_endless_and_not_pinned_again(self):
        self.task.unpins = True
        self.server.pinned = 'az-old'
        self.server.breaks = 'conductor'
        self.settings.timing.move_timeout = 50
        self.fails(exceptions.MigrationTimeout)
        self.assertEqual([None], self.server.pins)
        self.assertIn(
            f'# when that is over, {endings.pinning("az-old")}',
            self.document['commands'],
        )
