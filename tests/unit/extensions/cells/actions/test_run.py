# SPDX-License-Identifier: Apache-2.0
"""Is a server moved once, by whoever is at it, and is the end told?"""

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions.checkpoint import (
    CellMoveStage,
    PlanStanding,
)
from tests.fakes.small_cloud import cloud as small_cloud
from tests.unit.extensions.cells.actions import base

AWAY = exceptions.TurnUnknown('away', transient=True)
REQUEST = 'req-00000000-0000-0000-0000-000000000001'


class TestMoved(base.CellMoveTestCase):
    def check(self, status, power):
        self.run_move()
        self.assertEqual(('n1', status, None, power), self.place())
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        self.assertEqual(1, len(self.requests))
        self.assertEqual({}, self.cloud.images)
        self.assertEqual({base.UUID}, {*self.cloud.allocations()})

    def test_one_that_runs(self):
        self.check('ACTIVE', 1)
        self.assertEqual(30.0, self.document['downtime_seconds'])

    def test_one_that_is_stopped(self):
        self.stop_server()
        self.check('SHUTOFF', 4)
        self.assertIsNone(self.document['downtime_seconds'])

    def test_resized(self):
        self.resizes()
        self.cloud.services['o1']['status'] = 'disabled'
        self.cloud.services['o2']['status'] = 'disabled'
        self.server.lands = 'n2'
        told = self.run_move()
        self.assertEqual(('n2', 'ACTIVE', None, 1), self.place())
        self.assertEqual('large', self.server.flavor)
        self.assertIn('old/o1 -> new/n2', told)

    def test_pinned(self):
        self.task.unpins = True
        self.server.pinned = 'az-old'
        self.check('ACTIVE', 1)
        self.assertEqual([None, 'az-new'], self.server.pins)

    def test_evidence(self):
        told = self.run_move()
        found = self.document
        self.assertEqual(
            ('moved', told, 1000.0, 1045.0),
            tuple(
                found[name]
                for name in ('outcome', 'message', 'began', 'ended')
            ),
        )
        self.assertEqual(
            {
                'migrate': REQUEST,
                'confirm': 'req-00000000-0000-0000-0000-000000000002',
            },
            found['requests'],
        )
        self.assertEqual(self.cloud.moves[0].uuid, found['migration'])
        self.assertEqual('n1', found['statuses'][-1]['host'])
        self.assertEqual([], found['commands'] + found['mended'])

    def test_notices(self):
        told = self.run_move()
        (started, first), (completed, last) = self.notices.told
        self.assertEqual(('started', 'completed'), (started, completed))
        self.assertEqual({'request_id': REQUEST, 'retry_count': 0}, first)
        self.assertEqual(told, last['remark'])
        record = last['record']
        self.assertEqual(
            (REQUEST, self.cloud.moves[0].uuid, 'confirmed', 45.0),
            (
                record.request_id,
                record.migration_uuid,
                record.status,
                record.total_seconds,
            ),
        )


def refused(server):
    """The mark of a move that Nova refused."""
    return {
        'at': 1.0,
        'status': 'ACTIVE',
        'refused': 'closed',
        'before': {'uuid': server},
    }


class TestTurn(base.CellMoveTestCase):
    def begin(self):
        self.run_of().begin()

    def slot(self, **more):
        told = {
            'action': 'other',
            'plan': 'plan',
            'scope': 'old -> new',
            'instance': 'other',
            'source': 'o2',
            'destination': 'n2',
            'since': 900.0,
            'is_held': True,
            'cell': 'old',
            **more,
        }
        return slots.Slot(**told)

    def test_at_once(self):
        self.begin()
        self.assertTrue(self.slots.held)
        self.assertEqual([], self.requests)

    def test_not_before_its_time(self):
        self.settings.not_before = 1100.0
        self.begin()
        self.assertEqual([('taken', 1100.0)], self.slots.log)

    def test_the_first_of_its_plan_goes_alone(self):
        self.slots.others = [self.slot()]
        mark = {'at': 900.0, 'status': 'ACTIVE'}
        self.others = [mark]
        self.clock.at(1050, lambda: mark.update(request='req-9'))
        self.begin()
        self.assertEqual(
            'waits: the first move of the plan has to be taken by Nova',
            self.told[0],
        )
        self.assertEqual([('taken', 1050.0)], self.slots.log)

    def test_nova_refuses_all_of_the_plan(self):
        self.others = [refused('a'), refused('b')]
        raised = self.fails(exceptions.StaleTask, 'closed', run=self.begin)
        self.assertIs(Fault.PLAN_REFUSED, faults.of_error(raised))
        self.assertEqual([], self.slots.log)

    def test_nova_refuses_one_of_the_plan(self):
        """That may be due to that server, whatever its actions."""
        self.others = [refused('a'), refused('a')]
        self.begin()
        self.assertTrue(self.slots.held)

    def test_it_refuses_while_this_one_gets_its_turn(self):
        """The other was answered after the look at the plan."""
        self.slots.others = []
        told = [
            PlanStanding(False),
            PlanStanding(False, 'closed', frozenset(['a', 'b'])),
        ]
        self.context.plan = lambda: told.pop(0)
        self.fails(exceptions.StaleTask, 'closed', run=self.begin)
        self.assertEqual(
            ['taken', 'released'], [what for what, _at in self.slots.log]
        )
        self.assertEqual([], self.requests)

    def test_the_plan_is_not_known_for_a_moment(self):
        errors = [AWAY]
        real = self.context.plan

        def plan():
            if errors:
                raise errors.pop()
            return real()

        self.context.plan = plan
        self.begin()
        self.assertTrue(self.slots.held)

    def test_a_preflight_that_fails_gives_the_turn_back(self):
        self.server.locked = True
        raised = self.fails(exceptions.PreFlightError, run=self.begin)
        self.assertIs(Fault.INSTANCE_LOCKED, faults.of_error(raised))
        self.assertFalse(self.slots.held)
        self.assertEqual([('failed', 0, True)], self.events())
        self.assertEqual([], self.kept)

    def test_no_turn_in_time(self):
        self.slots.others = [self.slot(source='o1', plan='another')]
        self.fails(
            exceptions.StaleTask,
            'no turn within 30 min: 1 under way at o1, of at most 1',
            run=self.begin,
        )
        self.assertEqual([], self.events())

    def test_it_has_moved_by_itself(self):
        self.server.host = 'n1'
        raised = self.fails(exceptions.StaleTask, run=self.begin)
        self.assertIs(Fault.INSTANCE_ELSEWHERE, faults.of_error(raised))


class TestRefused(base.CellMoveTestCase):
    """At once; nothing is tried again."""

    def refused(self, fault):
        raised = self.fails(exceptions.PreFlightError)
        self.assertIs(fault, faults.of_error(raised))
        self.assertEqual(1, len(self.requests))
        self.assertEqual('failed', self.document['outcome'])
        self.assertEqual([('failed', 0, True)], self.events())
        self.assertFalse(self.slots.held)
        return self.notices.told[-1][1]['record']

    def test_closed_policy(self):
        self.cloud.is_open = False
        record = self.refused(Fault.CELL_REFUSED)
        self.assertEqual('', record.request_id)
        # The others of its plan are told.
        standing = PlanStanding.of(self.slots.marks.values())
        self.assertEqual({base.UUID}, standing.servers)
        self.assertFalse(standing.is_refused)

    def test_closed_policy_of_a_second_server(self):
        self.cloud.is_open = False
        self.others = [refused('other')]
        self.refused(Fault.CELL_CLOSED)

    def test_quota(self):
        self.resizes()
        self.cloud.services['o1']['status'] = 'disabled'
        self.cloud.services['o2']['status'] = 'disabled'
        self.cloud.quota = 'Quota exceeded for cores'
        self.refused(Fault.QUOTA_EXCEEDED)


class TestTries(base.CellMoveTestCase):
    """Until Nova has taken the request it may be made again."""

    def test_nova_is_busy(self):
        self.cloud.answers[base.ACTION] = [429]
        self.run_move()
        self.assertEqual(2, len(self.requests))
        self.assertEqual(
            [
                ('failed', 0, False),
                ('started', 1, None),
                ('completed', 1, None),
            ],
            self.events(),
        )
        self.assertEqual(
            ['taken', 'released', 'taken'],
            [what for what, _at in self.slots.log],
        )
        self.assertEqual(1030.0, self.document['began'])

    def test_nova_stays_busy(self):
        self.cloud.answers[base.ACTION] = [429] * 9
        self.fails(exceptions.NovaClientError, 'tried 4 times')
        self.assertEqual(4, len(self.requests))
        self.assertEqual(('failed', 3, True), self.events()[-1])
        self.assertEqual('failed', self.document['outcome'])

    def lose(self):
        """The request arrived, and Nova does not tell for a while."""
        self.settings.timing.queue_timeout = 20
        self.settings.retry_backoff = 5
        self.cloud.lost[base.ACTION] = [small_cloud.RESET]
        path = f'{base.SERVER}/os-instance-actions'
        self.cloud.answers[('GET', path)] = [None] + [503] * 8

    def test_a_request_that_is_found_late(self):
        """It is followed, and not refused since the server is busy now."""
        self.lose()
        self.run_move()
        self.assertEqual(1, len(self.requests))
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        self.assertEqual(
            [
                ('failed', 0, False),
                ('started', 1, None),
                ('completed', 1, None),
            ],
            self.events(),
        )
        # As it was before it moved.
        self.assertEqual(
            ('ACTIVE', 'o1', 1000.0),
            (
                self.document['before']['status'],
                self.document['before']['host'],
                self.document['began'],
            ),
        )
        self.assertEqual(REQUEST, self.slots.marks['']['request'])

    def test_a_request_that_is_found_late_and_cancelled(self):
        self.lose()
        self.clock.at(1021, self.cancel)
        self.fails(exceptions.MigrationCancelled, 'taken back')
        self.assertEqual(['migrate', 'revertResize'], self.asked)
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())

    def test_a_request_that_is_found_late_and_waits_and_is_cancelled(self):
        """It is taken back, whoever holds its hosts meanwhile."""
        self.lose()
        other, mark = TestTurn.slot(self, source='o1'), self.slots.mark

        def note(key, value, must_go_on=True):
            mark(key, value, must_go_on)
            if value['request'] and not self.slots.others:
                self.slots.others = [other]
                self.clock.at(self.clock() + 1, self.cancel)

        self.slots.mark = note
        self.fails(exceptions.MigrationCancelled, 'taken back')
        self.assertEqual(['migrate', 'revertResize'], self.asked)

    def test_the_mark_cannot_be_written(self):
        self.slots.mark_errors = [AWAY]
        self.run_move()
        self.assertEqual(1, len(self.requests))

    def test_what_nova_has_taken_is_not_tried_again(self):
        """It is one of the servers that rest, not one in a loop."""
        self.server.breaks = 'finish'
        self.fails(exceptions.MigrationFailed)
        self.assertEqual(1, len(self.requests))
        self.assertEqual(
            [('started', 0, None), ('failed', 0, True)], self.events()
        )

    def test_cancelled_between_two_tries(self):
        self.cloud.answers[base.ACTION] = [429]
        self.clock.at(1010, self.cancel)
        self.fails(exceptions.MigrationCancelled)
        self.assertEqual(1, len(self.requests))
        self.assertEqual('failed', self.document['outcome'])

    def test_the_server_changes_between_two_tries(self):
        self.cloud.answers[base.ACTION] = [429]
        self.clock.at(1010, lambda: vars(self.server).update(locked=True))
        self.fails(exceptions.PreFlightError, 'locked')
        self.assertEqual(1, len(self.requests))


class TestDeliveredTwice(base.CellMoveTestCase):
    def test_another_one_has_done_it(self):
        self.slots.entries = [
            slots.DeliveryState.TAKEN,
            slots.DeliveryState.OVER,
        ]
        self.assertEqual('', self.run_move())
        self.assertEqual(([], []), (self.requests, self.kept))

    def test_one_that_was_given_up_for_dead(self):
        """It waits for the other, and asks for nothing."""
        self.slots.mark_errors = [slots.Replaced('another one')]
        self.slots.entries = [
            slots.DeliveryState.FREE,
            slots.DeliveryState.TAKEN,
            slots.DeliveryState.OVER,
        ]
        self.assertEqual('', self.run_move())
        self.assertEqual([], self.requests)
        self.assertEqual([], self.events())

    def test_the_other_dies_too(self):
        """Its mark counts then."""

        def died():
            mark = self.mark(request=self.ask_by_hand())
            self.slots.marks[''] = mark.document()
            return slots.DeliveryState.FREE

        self.slots.mark_errors = [slots.Replaced('another one')]
        entries = [lambda: slots.DeliveryState.FREE, died]
        self.slots.enter = lambda: entries.pop(0)()
        self.run_move()
        self.assertEqual(1, len(self.requests))
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_replaced_while_it_waits(self):
        self.slots.replaced = [slots.Replaced('another one')]
        self.slots.entries = [
            slots.DeliveryState.FREE,
            slots.DeliveryState.OVER,
        ]
        self.assertEqual('', self.run_move())
        self.assertEqual([], self.requests)


class FinishTestCase(base.CellMoveTestCase):
    # An applier died; the same action is delivered again, or another one
    # finishes what it has begun.

    def begun(self, stage=CellMoveStage.ASKED, after=100, **more):
        """It has asked, and had come so far."""
        self.own = self.mark(stage=stage, **more)
        self.own.request = self.ask_by_hand()
        self.clock.sleep(after)
        self.slots.marks[''] = self.own.document()
        del self.cloud.bodies[:]

    def finished(self):
        told = self.run_move()
        self.assertEqual([], self.requests)
        return told

    def not_finished(self, error, *words):
        raised = self.fails(error, *words)
        self.assertEqual([], self.requests)
        return raised


class TestFinished(FinishTestCase):
    def test_asked(self):
        self.begun(after=10)
        self.finished()
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())
        self.assertEqual(['migrate', 'confirmResize'], self.asked)

    def test_evidence(self):
        """It begins with the request of the one that died."""
        self.begun(after=10)
        self.finished()
        self.assertEqual(1000.0, self.document['began'])
        self.assertEqual(REQUEST, self.document['requests']['migrate'])
        self.assertEqual('o1', self.document['before']['host'])
        self.assertEqual([('completed', 0, None)], self.events())

    def test_arrived(self):
        self.begun()
        self.finished()
        self.assertEqual(['migrate', 'confirmResize'], self.asked)

    def test_arrived_and_not_whole(self):
        self.server.volumes = ['v1']
        self.server.loses = ('v1',)
        self.begun()
        self.not_finished(
            exceptions.MigrationFailed, 'volumes lost: v1; taken back'
        )
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())

    def test_one_that_waits_for_an_operator(self):
        self.task.confirm = 'manual'
        self.begun()
        self.finished()
        self.assertEqual('waits', self.document['outcome'])

    def test_confirming_and_not_begun(self):
        """All is checked once more: hours may have passed."""
        self.begun(CellMoveStage.CONFIRMING)
        self.finished()
        self.assertGreater(len(self.document['checks']), 10)
        self.assertEqual(['migrate', 'confirmResize'], self.asked)

    def test_confirming(self):
        self.begun(CellMoveStage.CONFIRMING)
        self.cell_migration.confirm(base.UUID)
        told = self.finished()
        self.assertNotIn('somebody else', told)
        self.assertEqual(['migrate', 'confirmResize'], self.asked)
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_confirmed(self):
        self.begun(CellMoveStage.CONFIRMING)
        self.cell_migration.confirm(base.UUID)
        self.clock.sleep(100)
        self.assertNotIn('somebody else', self.finished())

    def test_half_confirmed(self):
        self.server.breaks = 'confirm'
        self.begun(CellMoveStage.CONFIRMING)
        self.cell_migration.confirm(base.UUID)
        raised = self.not_finished(
            exceptions.MigrationFailed, 'a copy of it is left in old'
        )
        self.assertIs(Fault.CELL_COPY_LEFT, faults.of_error(raised))

    def test_reverting_and_not_begun(self):
        """Why it was to be taken back is not known any more."""
        self.begun(CellMoveStage.REVERTING)
        raised = self.not_finished(
            exceptions.MigrationCancelled,
            'its last action had begun to revert it; taken back',
        )
        self.assertIs(Fault.ABORTED, faults.of_error(raised))
        self.assertEqual(['migrate', 'revertResize'], self.asked)

    def test_reverting(self):
        self.begun(CellMoveStage.REVERTING)
        self.cell_migration.revert(base.UUID)
        self.not_finished(
            exceptions.MigrationCancelled,
            'taken back, as its last action had begun to',
        )
        self.assertEqual(['migrate', 'revertResize'], self.asked)
        self.assertEqual(('o1', 'ACTIVE', None, 1), self.place())

    def test_broken(self):
        self.server.breaks = 'finish'
        self.begun()
        self.not_finished(
            exceptions.MigrationFailed, 'mended by "openstack server reboot'
        )

    def test_deleted(self):
        self.begun()
        self.cloud.delete(base.UUID)
        raised = self.not_finished(exceptions.StaleTask)
        self.assertIs(Fault.INSTANCE_GONE, faults.of_error(raised))

    def test_cancelled(self):
        """The plan of the one that finishes it; before it is at it."""
        self.begun()
        self.cancelled = True
        self.not_finished(exceptions.MigrationCancelled)
        self.assertEqual(['migrate'], self.asked)

    def test_cancelled_later(self):
        self.begun(after=10)
        self.clock.at(1020, self.cancel)
        self.not_finished(exceptions.MigrationCancelled, 'taken back')
        self.assertEqual(['migrate', 'revertResize'], self.asked)

    def test_others_of_the_plan_are_refused(self):
        """That is no reason to leave a server half way."""
        self.begun()
        self.others = [{'at': 1.0, 'status': 'ACTIVE', 'refused': 'closed'}]
        self.finished()

    def test_nothing_came_of_it(self):
        """It died between the mark and the request."""
        self.slots.marks[''] = self.mark().document()
        self.not_finished(
            exceptions.MigrationFailed, 'Nova gave it up: it gives no reason'
        )
        self.assertEqual(([], 1120.0), (self.asked, self.clock.now))

    def test_its_answer_was_lost_with_it(self):
        self.slots.marks[''] = self.mark().document()
        self.ask_by_hand()
        del self.cloud.bodies[:]
        self.finished()
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())


class TestFinishesOther(FinishTestCase):
    """Another action, of a later audit."""

    def begun(self, *given, **more):
        super().begun(*given, **more)
        self.task.finishes = base.OTHER
        self.slots.marks = {base.OTHER: self.slots.marks['']}

    def test_it_moves(self):
        self.begun(after=10)
        self.finished()
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())
        # In its own row, too: so that it can be finished in turn.
        self.assertEqual(REQUEST, self.slots.marks['']['request'])

    def test_it_dies_too(self):
        """It had come further than the first."""
        self.begun()
        own = {**self.slots.marks[base.OTHER], 'stage': 'reverting'}
        self.slots.marks[''] = own
        self.not_finished(exceptions.MigrationCancelled, 'taken back')

    def test_the_other_has_asked_for_nothing(self):
        self.task.finishes = base.OTHER
        raised = self.not_finished(
            exceptions.PreFlightError,
            f'action {base.OTHER}, which it should finish, has requested '
            'nothing from Nova',
        )
        self.assertIs(Fault.BAD_PARAMETERS, faults.of_error(raised))

    def test_the_database_is_away_for_a_moment(self):
        self.begun()
        real, errors = self.slots.mark_of, [AWAY]

        def mark_of(*given):
            if errors:
                raise errors.pop()
            return real(*given)

        self.slots.mark_of = mark_of
        self.finished()
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())


class TestEditedMarks(FinishTestCase):
    """Whoever asks once more would move a server twice."""

    def check(self, **change):
        self.begun()
        self.slots.marks[''] |= change
        raised = self.not_finished(
            exceptions.PreFlightError, '(cell_move) is not valid'
        )
        self.assertIs(Fault.BAD_PARAMETERS, faults.of_error(raised))
        self.assertEqual(['migrate'], self.asked)

    def test_no_time(self):
        self.check(at='now')

    def test_no_server(self):
        self.check(before={})

    def test_a_server_that_makes_no_sense(self):
        self.check(before={'uuid': 7})
