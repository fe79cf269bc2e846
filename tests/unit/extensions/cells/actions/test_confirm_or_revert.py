# SPDX-License-Identifier: Apache-2.0
"""Is a move that has arrived confirmed, or taken back, until it is so?"""

from kronos.actions.core import watcher_action
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions.checkpoint import CellMoveStage
from kronos.extensions.cells.actions.confirm_or_revert import ConfirmOrRevert
from kronos.extensions.cells.actions.context import StartedMove
from kronos.extensions.cells.actions.journal import Journal
from kronos.extensions.cells.actions.progress import CellMoveProgress, Standing
from kronos.extensions.cells.actions.repair import CellMoveRepair
from tests.fakes.two_cells import cold_moves
from tests.unit.extensions.cells.actions import base

CONFIRM = f'openstack server resize confirm {base.UUID}'
REVERT = f'openstack server resize revert {base.UUID}'
PUT = ('PUT', base.SERVER)
BECAUSE = faults.error(Fault.CELL_CHECK_FAILED, 'volumes lost: v1')


def pinning(zone):
    return (
        f'with microversion 2.104: PUT /servers/{base.UUID} {{"server": '
        f'{{"pinned_availability_zone": "{zone}"}}}}'
    )


class EndingTestCase(base.CellMoveTestCase):
    """A move that is in VERIFY_RESIZE."""

    def setUp(self):
        super().setUp()
        self.arrive()

    def arrive(self):
        self.own = self.mark()
        self.own.request = self.ask_by_hand()
        self.clock.sleep(100)
        self.evidence = Journal(self.task, self.clock())
        begun = StartedMove(
            self.settings, self.context, self.own, self.evidence
        )
        self.progress = CellMoveProgress(begun)
        self.assertIs(Standing.ARRIVED, self.progress.look().standing)
        self.ending = ConfirmOrRevert(begun, self.progress)
        self.broken = CellMoveRepair(begun)
        self.began = self.clock()

    def passed(self):
        return self.clock() - self.began

    def confirm(self):
        return self.ending.confirm()

    def revert(self):
        return self.ending.revert(BECAUSE)

    def refused(self, do, fault, *words):
        raised = self.assertRaises(exceptions.MigrationError, do)
        self.assertIs(fault, faults.of_error(raised), raised)
        for word in words:
            self.assertIn(word, str(raised))
        self.shown = watcher_action.message_of(raised)
        return raised

    def unpin(self):
        """It was pinned to its old zone, and is not while it moves."""
        self.task.unpins = True


class TestConfirm(EndingTestCase):
    def test_all_is_well(self):
        self.assertEqual('', self.confirm())
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        self.assertEqual(10, self.passed())

    def test_the_stage_is_marked_before(self):
        self.confirm()
        mark, _asked = self.slots.written[-1]
        self.assertEqual('confirming', mark['stage'])

    def test_a_lost_answer(self):
        """Nova is at it; asked again it would say 400."""
        self.cloud.lost[base.ACTION] = [502]
        self.assertEqual('', self.confirm())
        self.assertEqual(['migrate', 'confirmResize'], self.asked)

    def test_nova_takes_long(self):
        """It is not asked again while it is at it."""
        self.server.stubborn = ('confirmResize',)

        def late():
            self.cloud.play(self.server, cold_moves.CONFIRM)

        self.clock.at(self.began + 1, lambda: self.see('confirming'))
        self.clock.at(self.began + 500, late)
        self.assertEqual('', self.confirm())
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        self.assertEqual(510, self.passed())

    def see(self, migration):
        self.cloud.moves[-1].status = migration

    def test_the_source_is_down_for_a_while(self):
        """It is asked again, every two minutes."""
        self.cloud.services['o1']['state'] = 'down'
        self.clock.at(
            self.began + 300,
            lambda: self.cloud.services['o1'].update(state='up'),
        )
        self.assertEqual('', self.confirm())
        self.assertEqual(360 + 10, self.passed())

    def test_the_source_stays_down(self):
        self.cloud.services['o1']['state'] = 'down'
        self.refused(
            self.confirm,
            Fault.CELL_NOT_CONFIRMED,
            'all checks passed, but not confirmed within 10 min: '
            f'"{CONFIRM}"; Nova: POST',
            'HTTP 409: Service is unavailable at this time.',
        )
        self.assertIn(CONFIRM, self.shown)
        self.assertEqual(600, self.passed())
        self.assertEqual([CONFIRM], self.evidence.commands)
        self.assertEqual(('n1', 'VERIFY_RESIZE', None, 1), self.place())

    def test_its_cell_is_down(self):
        self.cloud.answers[base.ACTION] = [500] * 3
        self.assertEqual('', self.confirm())
        self.assertEqual(360 + 10, self.passed())

    def test_somebody_reverts_it(self):
        self.cloud.services['o1']['state'] = 'down'
        self.clock.at(
            self.began + 10, lambda: self.cell_migration.revert(base.UUID)
        )
        self.refused(
            self.confirm, Fault.ABORTED, 'somebody else reverted it in Nova'
        )

    def test_somebody_else_s_move_is_left_to_them(self):
        """They have reverted ours, and look at one of their own."""
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(100)
        self.cell_migration.migrate(base.UUID, 'n2')
        self.clock.sleep(100)
        self.nova.get_instance(base.UUID)
        self.assertEqual('VERIFY_RESIZE', self.server.status)
        before = self.asked
        for do in (self.confirm, self.revert):
            self.assertRaises(exceptions.MigrationError, do)
        self.assertEqual(before, self.asked)
        self.assertEqual(('n2', 'VERIFY_RESIZE', None, 1), self.place())

    def test_a_202_that_is_not_carried_out(self):
        """It is asked again after a while."""
        self.server.stubborn = ('confirmResize',)
        self.clock.at(
            self.began + 60, lambda: setattr(self.server, 'stubborn', ())
        )
        self.assertEqual('', self.confirm())
        self.assertEqual(
            ['migrate', 'confirmResize', 'confirmResize'], self.asked
        )
        self.assertEqual(120 + 10, self.passed())

    def test_somebody_confirms_it(self):
        self.cell_migration.confirm(base.UUID)
        self.assertEqual('', self.confirm())

    def test_it_is_deleted(self):
        """It was neither moved nor did it fail."""
        self.clock.at(self.began + 5, lambda: self.cloud.delete(base.UUID))
        self.refused(self.confirm, Fault.INSTANCE_GONE)

    def test_it_is_deleted_when_it_was_confirmed(self):
        """As Nova does with one that is deleted in VERIFY_RESIZE."""
        self.cloud.moves[-1].before = ('SHUTOFF', 4)
        self.clock.at(self.began + 15, lambda: self.cloud.delete(base.UUID))
        self.refused(self.confirm, Fault.INSTANCE_GONE)


class TestConfirmed(EndingTestCase):
    """What is not in order all the same."""

    def test_another_status(self):
        self.cloud.moves[-1].before = ('SHUTOFF', 4)
        self.assertEqual('it is SHUTOFF, and was ACTIVE', self.confirm())
        self.assertEqual(10 + 120, self.passed())

    def test_nova_does_not_answer(self):
        self.server.plays = []
        self.cloud.down.add(('GET', base.SERVER))
        told = self.ending.of_confirmed()
        self.assertTrue(told.startswith('Nova does not answer: '), told)

    def test_room_that_is_left(self):
        uuid = self.cloud.moves[0].uuid
        self.cloud.leftovers = {uuid: {'o1': {'VCPU': 1, 'MEMORY_MB': 1}}}
        self.assertEqual(
            'Placement still has allocations for its migration on '
            'o1.example.org: "openstack resource provider allocation delete '
            f'{uuid}" releases them',
            self.confirm(),
        )
        self.assertEqual(10 + 30, self.passed())

    def test_room_that_is_given_back_late(self):
        uuid = self.cloud.moves[0].uuid
        self.cloud.leftovers = {uuid: {'o1': {'VCPU': 1, 'MEMORY_MB': 1}}}
        self.clock.at(self.began + 30, self.cloud.leftovers.clear)
        self.assertEqual('', self.confirm())
        self.assertEqual(30, self.passed())

    def test_placement_is_away(self):
        self.cloud.down.add(('GET', '/placement'))
        told = self.confirm()
        self.assertTrue(
            told.startswith('its allocations are not known: Placement: '), told
        )


class TestRevert(EndingTestCase):
    def test_all_is_well(self):
        self.assertEqual('', self.revert())
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())
        self.assertEqual(['migrate', 'revertResize'], self.asked)
        self.assertIs(CellMoveStage.REVERTING, self.own.stage)
        self.assertEqual(20, self.passed())

    def test_one_that_was_stopped(self):
        self.cloud.moves[-1].before = ('SHUTOFF', 4)
        self.own.status = 'SHUTOFF'
        self.assertEqual('', self.revert())
        self.assertEqual(('o1', 'SHUTOFF', None, 4), self.place())

    def test_a_lost_answer(self):
        self.cloud.lost[base.ACTION] = [502]
        self.assertEqual('', self.revert())
        self.assertEqual(['migrate', 'revertResize'], self.asked)

    def test_refused_for_a_while(self):
        self.cloud.answers[base.ACTION] = [409, 409]
        self.assertEqual('', self.revert())
        self.assertEqual(240 + 20, self.passed())

    def test_refused_for_ever(self):
        self.settings.timing.revert_timeout = 300
        self.cloud.answers[base.ACTION] = [409] * 100
        self.refused(
            self.revert,
            Fault.CELL_NOT_REVERTED,
            f'not taken back within 5 min: "{REVERT}"; volumes lost: v1; '
            'Nova: POST',
        )
        self.assertIn(REVERT, self.shown)
        self.assertEqual([REVERT], self.evidence.commands)
        self.assertEqual(300, self.passed())

    def test_somebody_has_confirmed_it(self):
        self.cell_migration.confirm(base.UUID)
        self.refused(
            self.revert,
            Fault.CELL_NOT_REVERTED,
            'somebody else confirmed it, so it cannot be taken back: volumes '
            'lost: v1',
        )

    def test_it_is_deleted(self):
        self.clock.at(self.began + 10, lambda: self.cloud.delete(base.UUID))
        self.refused(self.revert, Fault.INSTANCE_GONE)

    def test_it_fails(self):
        self.server.breaks = 'revert'
        self.assertEqual(
            '; the way back failed; Nova left it in ERROR; mended by '
            '"openstack server reboot --hard"',
            self.revert(),
        )


class TestZones(EndingTestCase):
    """A server that was pinned is pinned again, whatever the end."""

    def test_one_that_was_not(self):
        self.confirm()
        self.assertEqual([], self.server.pins)

    def test_confirmed(self):
        self.unpin()
        self.assertEqual('', self.confirm())
        self.assertEqual(['az-new'], self.server.pins)

    def test_in_the_zone_where_it_is(self):
        """Nova chooses the host of a resize."""
        self.unpin()
        self.task.destination_zone = 'az-forecast'
        self.assertEqual('', self.confirm())
        self.assertEqual(['az-new'], self.server.pins)

    def test_where_it_is_is_not_known(self):
        self.unpin()
        self.cloud.down.add(('GET', '/nova/v2.1/os-services'))
        self.task.destination_zone = 'az-planned'
        self.assertEqual('', self.confirm())
        self.assertEqual(['az-planned'], self.server.pins)

    def test_reverted(self):
        self.unpin()
        self.assertEqual('', self.revert())
        self.assertEqual(['az-old'], self.server.pins)

    def test_reverted_by_somebody_else(self):
        self.unpin()
        self.cell_migration.revert(base.UUID)
        self.refused(self.confirm, Fault.ABORTED)
        self.assertEqual(['az-old'], self.server.pins)

    def test_confirmed_by_somebody_else(self):
        self.unpin()
        self.cell_migration.confirm(base.UUID)
        self.refused(self.revert, Fault.CELL_NOT_REVERTED)
        self.assertEqual(['az-new'], self.server.pins)

    def test_half_confirmed(self):
        self.unpin()
        self.server.breaks = 'confirm'
        self.refused(self.confirm, Fault.CELL_COPY_LEFT)
        self.assertEqual(['az-new'], self.server.pins)

    def test_the_way_back_failed(self):
        self.unpin()
        self.server.breaks = 'revert'
        self.revert()
        self.assertEqual(['az-old'], self.server.pins)

    def test_refused(self):
        """It is told, and how to do it."""
        self.unpin()
        self.cloud.answers[PUT] = [409, 409]
        self.assertIn('it is not pinned to az-new: Nova: PUT', self.confirm())
        self.assertEqual([f'# {pinning("az-new")}'], self.evidence.commands)

    def test_refused_after_a_revert(self):
        self.unpin()
        self.cloud.answers[PUT] = [409]
        told = self.revert()
        self.assertTrue(
            told.startswith('; it is not pinned to az-old: Nova: PUT'), told
        )

    def test_not_confirmed(self):
        """Whoever confirms it later pins it."""
        self.unpin()
        self.cloud.services['o1']['state'] = 'down'
        self.refused(self.confirm, Fault.CELL_NOT_CONFIRMED)
        self.assertEqual([], self.server.pins)
        self.assertEqual(
            [CONFIRM, f'# when that is over, {pinning("az-new")}'],
            self.evidence.commands,
        )

    def test_not_reverted(self):
        self.unpin()
        self.settings.timing.revert_timeout = 10
        self.cloud.answers[base.ACTION] = [409] * 100
        self.refused(self.revert, Fault.CELL_NOT_REVERTED)
        self.assertEqual(
            [REVERT, f'# when that is over, {pinning("az-old")}'],
            self.evidence.commands,
        )
