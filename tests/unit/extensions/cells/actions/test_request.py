# SPDX-License-Identifier: Apache-2.0
"""Is Nova asked exactly once, with the mark before it?"""

import copy

import testscenarios
from keystoneauth1 import noauth

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions import request
from kronos.extensions.cells.actions.checkpoint import (
    CellMoveStage,
    PlanStanding,
)
from tests.fakes.small_cloud import cloud as small_cloud
from tests.unit.extensions.cells.actions import base

REQUEST = 'req-00000000-0000-0000-0000-000000000001'
ACTIONS = ('GET', f'{base.SERVER}/os-instance-actions')
PUT = ('PUT', base.SERVER)
CLOSED = (
    'Nova does not know n1, which os-services lists, for this server: a port '
    'of it has a resource request, or the policy '
    'compute:servers:resize:cross_cell is closed'
)


class RequestTestCase(base.CellMoveTestCase):
    def setUp(self):
        super().setUp()
        self.request = request.CellMoveRequest(self.settings, self.context)

    def send(self):
        self.own = self.mark()
        return self.request.send(self.own)

    def refused(self, error, fault, *words):
        raised = self.fails(error, *words, run=self.send)
        self.assertIs(fault, faults.of_error(raised))
        return raised

    def pin(self):
        self.task.unpins = True
        self.server.pinned = 'az-old'


class TestAsked(RequestTestCase):
    def test_migrate(self):
        self.assertEqual(REQUEST, self.send())
        self.assertEqual([{'migrate': {'host': 'n1'}}], self.requests)

    def test_resize(self):
        """No host is told: Nova takes none."""
        self.resizes()
        self.assertEqual(REQUEST, self.send())
        self.assertEqual([{'resize': {'flavorRef': '2'}}], self.requests)

    def test_the_mark_goes_before_it(self):
        self.send()
        [(before, none), (after, once)] = self.slots.written
        self.assertEqual((0, 1), (none, once))
        self.assertEqual(('', REQUEST), (before['request'], after['request']))
        self.assertEqual(
            (1000.0, 'ACTIVE', base.UUID, CellMoveStage.ASKED),
            (
                before['at'],
                before['status'],
                before['before']['uuid'],
                before['stage'],
            ),
        )

    def test_earlier_moves_are_kept_in_mind(self):
        self.ask_by_hand()
        self.clock.sleep(100)
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(100)
        self.send()
        earlier = self.cloud.moves[0].uuid
        self.assertEqual([earlier], self.slots.written[0][0]['known'])

    def test_no_mark_no_request(self):
        for error in (
            exceptions.TurnUnknown('away'),
            faults.error(Fault.GIVEN_UP, 'its plan is CANCELLED'),
        ):
            self.slots.mark_errors = [error]
            self.fails(type(error), run=self.send)
            self.assertEqual([], self.requests)

    def test_a_mark_that_fails_afterwards(self):
        """The move goes on."""
        self.slots.mark_errors = [None, exceptions.TurnUnknown('away')]
        self.assertEqual(REQUEST, self.send())
        self.assertEqual('', self.slots.marks['']['request'])

    def test_nova_is_away_before(self):
        self.cloud.down.add(ACTIONS)
        self.fails(exceptions.NovaClientError, run=self.send)
        self.assertEqual(([], []), (self.requests, self.slots.written))


class TestRefused(RequestTestCase):
    def test_closed_policy(self):
        self.cloud.is_open = False
        self.refused(exceptions.PreFlightError, Fault.CELL_REFUSED, CLOSED)
        self.assertEqual(CLOSED, self.slots.marks['']['refused'])
        self.assertEqual('', self.slots.marks['']['request'])

    def test_closed_policy_of_a_mark_that_cannot_be_written(self):
        self.cloud.is_open = False
        self.slots.mark_errors = [None, exceptions.TurnUnknown('away')]
        self.refused(exceptions.PreFlightError, Fault.CELL_REFUSED, CLOSED)

    def test_closed_policy_of_a_plan_that_is_not_known(self):
        def lost():
            raise exceptions.TurnUnknown('away')

        self.cloud.is_open = False
        self.context.plan = lost
        self.refused(exceptions.PreFlightError, Fault.CELL_REFUSED, CLOSED)

    def test_a_second_server(self):
        self.cloud.is_open = False
        self.others = [
            {
                'at': 1.0,
                'status': 'ACTIVE',
                'refused': 'why',
                'before': {'uuid': 'other'},
            }
        ]
        self.refused(
            exceptions.PreFlightError,
            Fault.CELL_CLOSED,
            'for more than one server',
        )

    def test_an_unknown_flavor(self):
        """Nova has the same words for it; it is the one server's affair."""
        self.resizes()
        self.task.destination_flavor_id = '77'
        self.refused(
            exceptions.PreFlightError,
            Fault.FLAVOR_GONE,
            'Flavor 77 could not be found.',
        )
        self.assertEqual('', self.slots.marks['']['refused'])

    def test_quota(self):
        self.resizes()
        self.cloud.quota = (
            'Quota exceeded for cores: Requested 1, but already used 1 of 1 '
            'cores'
        )
        self.refused(
            exceptions.PreFlightError,
            Fault.QUOTA_EXCEEDED,
            'rejected by Nova: Quota exceeded for cores: Requested 1',
        )

    def test_the_same_flavor(self):
        self.resizes()
        self.task.destination_flavor_id = '1'
        self.refused(
            exceptions.PreFlightError,
            Fault.NOVA_REJECTED,
            'rejected by Nova: HTTP 400: When resizing, instances must change',
        )

    def test_another_status(self):
        self.server.status = 'PAUSED'
        self.refused(
            exceptions.PreFlightError,
            Fault.NOVA_REJECTED,
            'HTTP 409',
            'while it is in vm_state paused',
        )

    def test_its_compute_is_down(self):
        self.cloud.services['o1']['state'] = 'down'
        self.refused(
            exceptions.PreFlightError,
            Fault.NOVA_REJECTED,
            'HTTP 409: Service is unavailable at this time.',
        )

    def test_nobody_else_is_refused_for_it(self):
        """But of what holds for all of them."""
        self.server.status = 'PAUSED'
        self.refused(exceptions.PreFlightError, Fault.NOVA_REJECTED)
        standing = PlanStanding.of(self.slots.marks.values())
        self.assertEqual(PlanStanding(False), standing)

    def test_own_fault(self):
        """Nova has not looked at it; no second look is needed."""
        self.cloud.answers[base.ACTION] = [401]
        error = self.fails(exceptions.NovaClientError, '401', run=self.send)
        self.assertTrue(error.kwargs['transient'])
        self.assertEqual(1000.0, self.clock.now)

    def test_it_was_never_sent(self):
        """The wire itself tries again, and then gives up."""
        self.cloud.answers[base.ACTION] = [small_cloud.REFUSED] * 4
        error = self.fails(exceptions.NovaClientError, run=self.send)
        self.assertIs(False, error.kwargs['sent'])
        self.assertEqual([], self.asked)


class TestLost(testscenarios.TestWithScenarios, RequestTestCase):
    """The request arrived, its answer did not."""

    scenarios = [
        (str(fault), {'fault': fault})
        for fault in (408, 500, 502, 503, 504, small_cloud.RESET, 200)
    ]

    def test_it_is_found(self):
        self.cloud.lost[base.ACTION] = [self.fault]
        self.assertEqual(REQUEST, self.send())
        self.assertEqual(1, len(self.requests))
        self.assertEqual(REQUEST, self.slots.marks['']['request'])

    def test_it_is_found_later(self):
        """With the mark that was written before it."""
        self.settings.timing.queue_timeout = 20
        self.cloud.lost[base.ACTION] = [self.fault]
        self.cloud.answers[ACTIONS] = [None] + [503] * 100
        self.fails(exceptions.NovaClientError, run=self.send)
        self.cloud.answers.clear()
        first = self.own
        self.assertIs(first, self.request.late_checkpoint())
        self.assertEqual(REQUEST, self.slots.marks['']['request'])
        self.assertIsNone(self.request.late_checkpoint())

    def test_it_is_found_by_a_later_try(self):
        """Which asks for nothing, and keeps what the server was."""
        self.settings.timing.queue_timeout = 20
        self.cloud.lost[base.ACTION] = [self.fault]
        self.cloud.answers[ACTIONS] = [None] + [503] * 100
        self.fails(exceptions.NovaClientError, run=self.send)
        first = self.own
        self.cloud.answers.clear()
        self.assertEqual(REQUEST, self.send())
        self.assertEqual(1, len(self.requests))
        self.assertEqual(first, self.own)


class TestEachStatus(RequestTestCase):
    """Of a request that came to nothing, or that Nova began all the same."""

    def setUp(self):
        super().setUp()
        self.before = copy.deepcopy(vars(self.server))

    def begin(self):
        vars(self.server).update(copy.deepcopy(self.before))
        self.cloud.moves.clear()
        self.cloud.bodies.clear()
        self.slots.marks.clear()
        self.request = request.CellMoveRequest(self.settings, self.context)
        self.began = self.clock.now

    def test_not_done(self):
        for status in range(300, 600):
            self.begin()
            self.cloud.answers[base.ACTION] = [status]
            error = self.assertRaises(exceptions.KronosException, self.send)
            self.assertIn(str(status), str(error))
            self.assertEqual([], self.asked, status)
            self.assertEqual('', self.slots.marks['']['request'], status)
            is_sure = 400 <= status < 500 and status != 408
            self.assertEqual(
                0 if is_sure else 3 * 5, self.clock.now - self.began, status
            )
            self.assertIsNone(self.request.late_checkpoint(), status)

    def test_done_and_lost(self):
        for status in range(300, 600):
            if 400 <= status < 500 and status not in (408, 409):
                # So Nova answers what it does not do.
                continue
            self.begin()
            self.cloud.lost[base.ACTION] = [status]
            sent = self.send()
            self.assertEqual([('migrate', sent)], self.server.asked, status)
            self.assertEqual(sent, self.slots.marks['']['request'], status)
            self.assertLessEqual(self.clock.now - self.began, 5, status)

    def test_written_down_a_moment_later(self):
        """Of two that something in between has sent; Nova refuses one."""
        self.cloud.lost[base.ACTION] = [409]
        real, hidden = self.cell_migration.own_requests, [True, True]

        def requests(*args):
            listed = real(*args)
            return [] if listed and hidden and hidden.pop() else listed

        self.cell_migration.own_requests = requests
        self.assertEqual(REQUEST, self.send())
        self.assertEqual([], hidden)


class TestInDoubt(RequestTestCase):
    def test_nova_knows_nothing(self):
        """It has to say so three times."""
        self.cloud.answers[base.ACTION] = [small_cloud.RESET]
        self.fails(exceptions.NovaClientError, run=self.send)
        self.assertEqual(1000.0 + 3 * 5, self.clock.now)
        self.assertEqual([], self.asked)
        self.assertIsNone(self.request.late_checkpoint())

    def test_a_busy_server_is_waited_for(self):
        self.cloud.answers[base.ACTION] = [small_cloud.RESET]
        self.server.task_state = 'resize_prep'

        def idle():
            self.server.task_state = None

        self.clock.at(1100, idle)
        self.fails(exceptions.NovaClientError, run=self.send)
        self.assertEqual(1100.0 + 2 * 5, self.clock.now)

    def test_sent_twice_by_something_in_between(self):
        """The second one is refused, since the first is at it."""
        self.cloud.lost[base.ACTION] = [409]
        self.assertEqual(REQUEST, self.send())
        self.assertEqual(1, len(self.requests))

    def test_someone_else_was_faster(self):
        """Theirs was there before."""
        self.ask_by_hand()
        self.refused(
            exceptions.PreFlightError,
            Fault.NOVA_REJECTED,
            'while it is in task_state resize_prep',
        )


class TestWhose(testscenarios.TestWithScenarios, RequestTestCase):
    """A request that is fresh is only taken for ours if it is of our user."""

    scenarios = [
        ('refused', {'fault': 409, 'error': exceptions.PreFlightError}),
        ('lost', {'fault': 503, 'error': exceptions.NovaClientError}),
    ]

    def setUp(self):
        super().setUp()
        self.user = 'kronos'
        auth = noauth.NoAuth()
        auth.get_user_id = lambda session, **more: self.user
        self.nova.api.wire.adapter.session.auth = auth
        self.cloud.lost[base.ACTION] = [self.fault]

    def test_of_somebody_else(self):
        """Who was faster."""
        error = self.fails(self.error, run=self.send)
        self.assertIn(f'HTTP {self.fault}', str(error))
        self.assertIsNone(self.request.late_checkpoint())

    def test_ours(self):
        self.user = 'user'
        self.assertEqual(REQUEST, self.send())

    def test_another_kind(self):
        """A resize of our user's, such as another tool of the operator."""
        self.user = 'user'
        self.resizes()
        self.server.asked.append(('migrate', 'req-0'))
        self.cloud.lost.clear()
        self.cloud.answers[base.ACTION] = [self.fault]
        self.clock.at(
            1005, lambda: self.server.asked.append(('migrate', 'req-9'))
        )
        self.fails(self.error, run=self.send)


class TestZones(RequestTestCase):
    def test_one_without_a_pin(self):
        self.send()
        self.assertEqual([], self.server.pins)

    def test_unpinned(self):
        self.pin()
        self.send()
        self.assertEqual([None], self.server.pins)

    def test_after_the_mark(self):
        self.pin()
        self.slots.mark_errors = [exceptions.TurnUnknown('away')]
        self.fails(exceptions.TurnUnknown, run=self.send)
        self.assertEqual([], self.server.pins)

    def test_pinned_again_after_a_refusal(self):
        self.pin()
        self.cloud.is_open = False
        self.refused(exceptions.PreFlightError, Fault.CELL_REFUSED)
        self.assertEqual([None, 'az-old'], self.server.pins)

    def test_a_pin_that_cannot_be_given_back(self):
        self.pin()
        self.cloud.is_open = False
        self.cloud.answers[PUT] = [None, 500]
        raised = self.refused(
            exceptions.PreFlightError,
            Fault.CELL_REFUSED,
            'it is not pinned to az-old any more: Nova: PUT',
        )
        self.assertFalse(raised.kwargs['transient'])

    def test_an_unpinning_in_doubt(self):
        """It is pinned again, whatever came of it."""
        self.pin()
        self.cloud.lost[PUT] = [502]
        self.fails(exceptions.NovaClientError, run=self.send)
        self.assertEqual([None, 'az-old'], self.server.pins)
        self.assertEqual([], self.requests)
