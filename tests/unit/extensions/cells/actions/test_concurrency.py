# SPDX-License-Identifier: Apache-2.0
"""Do only so many servers leave a cell at a time, one per host?"""

from kronos.actions.core import slots
from kronos.extensions.cells.actions import concurrency
from kronos.extensions.cells.actions.checkpoint import PlanStanding
from tests.fakes.two_cells.cold_moves import ColdServer, Move
from tests.unit.extensions.cells.actions import base

ACCEPTED, NOTHING = PlanStanding(True), PlanStanding(False)


class ConcurrencyTestCase(base.CellMoveTestCase):
    def setUp(self):
        super().setUp()
        self.concurrency = concurrency.CellConcurrency(
            self.settings, self.context, 'plan'
        )

    def why(self, *others, standing=ACCEPTED):
        self.concurrency.look(standing)
        return self.concurrency.why_wait(list(others))

    @staticmethod
    def slot(instance='other', **more):
        """Of a move out of the same cell, of another plan."""
        told = {
            'action': f'action of {instance}',
            'plan': 'another',
            'scope': 'old -> new',
            'instance': instance,
            'source': 'o8',
            'destination': 'n8',
            'since': 900.0,
            'is_held': True,
            'cell': 'old',
            **more,
        }
        return slots.Slot(**told)

    def move_of_others(self, source, destination, kind='migration', **more):
        """One that Nova tells of."""
        number = len(self.cloud.moves) + 1
        uuid = f'00000000-0000-0000-0000-{number:012d}'
        server = ColdServer(uuid, source, f'more{number}')
        server.task_state = 'resize_migrating'
        self.cloud.servers[uuid] = server
        move = Move(
            number=number,
            kind=kind,
            server=server,
            source=source,
            destination=destination,
            status='migrating',
            request='',
            began=self.clock(),
            updated=self.clock(),
            is_told=True,
        )
        vars(move).update(more)
        self.cloud.moves.append(move)
        return move


class TestCell(ConcurrencyTestCase):
    def test_nobody(self):
        self.assertEqual('', self.why())

    def test_as_many_as_may(self):
        two = self.slot('1'), self.slot('2', source='o9', destination='n9')
        self.assertEqual('', self.why(two[0]))
        self.assertEqual(
            '2 under way out of cell old, of at most 2', self.why(*two)
        )

    def test_the_option(self):
        self.settings.max_out_of_cell = 1
        self.assertEqual(
            '1 under way out of cell old, of at most 1', self.why(self.slot())
        )

    def test_those_whose_turn_is_over(self):
        self.settings.max_out_of_cell = 1
        self.assertEqual('', self.why(self.slot(is_held=False)))

    def test_other_cells(self):
        self.settings.max_out_of_cell = 1
        self.assertEqual('', self.why(self.slot(cell='older')))

    def test_moves_inside_a_cell(self):
        """They have limits of their own."""
        self.settings.max_out_of_cell = 1
        self.assertEqual('', self.why(self.slot(cell='')))


class TestHosts(ConcurrencyTestCase):
    """A cold move copies a whole disk."""

    def test_of_actions(self):
        for host in ('o1', 'n1'):
            told = f'1 under way at {host}, of at most 1'
            for end in ('source', 'destination'):
                for cell in ('older', ''):
                    slot = self.slot(cell=cell, **{end: host})
                    self.assertEqual(told, self.why(slot))

    def test_of_others(self):
        self.move_of_others('o2', 'n1', 'resize')
        self.assertEqual('1 under way at n1, of at most 1', self.why())

    def test_a_live_migration(self):
        self.move_of_others('o1', 'o2', 'live-migration', status='running')
        self.assertEqual('1 under way at o1, of at most 1', self.why())

    def test_other_hosts(self):
        self.move_of_others('o2', 'n2')
        self.assertEqual('', self.why())

    def test_one_that_waits_for_its_confirmation(self):
        """It copies nothing any more."""
        self.move_of_others('o1', 'n1', status='finished')
        self.assertEqual('', self.why())

    def test_the_own_move(self):
        """Which an applier that died has begun."""
        self.ask_by_hand()
        self.assertEqual('', self.why())

    def test_one_that_nova_has_left(self):
        """Its nova-compute was killed; the server has no task."""
        move = self.move_of_others('o1', 'n2', updated=900.0)
        move.server.task_state = None
        self.assertEqual('', self.why())


class TestFirst(ConcurrencyTestCase):
    """What Nova refuses for all, it is asked for once."""

    def first(self, **more):
        return self.slot(plan='plan', **more)

    def test_nobody_before(self):
        self.assertEqual('', self.why(standing=NOTHING))

    def test_one_is_being_asked_for(self):
        self.assertEqual(
            'the first move of the plan has to be taken by Nova',
            self.why(self.first(), standing=NOTHING),
        )

    def test_it_was_taken(self):
        self.assertEqual('', self.why(self.first()))

    def test_it_was_given_back(self):
        """Refused for a reason of its own; the next one is the first."""
        self.assertEqual(
            '', self.why(self.first(is_held=False), standing=NOTHING)
        )

    def test_another_plan(self):
        self.assertEqual('', self.why(self.slot(), standing=NOTHING))

    def test_other_actions_of_the_plan(self):
        slot = self.first(cell='')
        self.assertEqual('', self.why(slot, standing=NOTHING))
