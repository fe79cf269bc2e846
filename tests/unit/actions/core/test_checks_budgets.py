# SPDX-License-Identifier: Apache-2.0
"""Is a move skipped that a disruption budget no longer allows?"""

from kronos.common import exceptions
from tests.unit.actions.live import base


class BudgetsTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.other = self.add_server(7, 'h1')
        self.asked = []
        real = self.cloud.answer

        def answer(method, path, query, told):
            self.asked.append(query)
            return real(method, path, query, told)

        self.cloud.answer = answer

    def skipped(self, *words):
        self.fails(exceptions.StaleTask, *words)
        self.assertFalse(self.slots.held)

    def moves(self):
        self.assertNotIn('not', self.run_move())

    def test_somebody_moved_another_server_of_the_project(self):
        self.settings.budgets.project_budget = '1/600'
        self.end(self.move_by_hand(self.other, 'h3'))
        self.skipped('project_budget 1/600 of its project is used up', '1 in')
        self.settings.budgets.project_budget = '2/600'
        self.moves()

    def test_the_other_server_is_deleted(self):
        self.settings.budgets.project_budget = '1/600'
        self.end(self.move_by_hand(self.other, 'h3'))
        self.cloud.delete(self.other.uuid)
        self.skipped('project_budget 1/600 of its project is used up', '1 in')

    def test_another_move_had_its_turn_first(self):
        """It has asked Nova for nothing yet."""
        self.settings.budgets.project_budget = '1/600'
        self.slots.others = [self.slot(self.other.uuid)]
        self.skipped('0 in 600 s, 1 in started plans')

    def test_what_has_asked_nova_counts_once(self):
        self.settings.budgets.project_budget = '2/600'
        self.slots.others = [self.slot(self.other.uuid)]
        self.end(self.move_by_hand(self.other, 'h3'))
        self.moves()

    def test_a_server_of_another_project(self):
        self.settings.budgets.project_budgets = {'another': '1/600'}
        self.end(self.move_by_hand(self.other, 'h3'))
        self.moves()

    def test_a_member_of_its_group(self):
        self.settings.budgets.group_budget = '1/600'
        self.cloud.groups.append(
            {
                'id': 'g',
                'name': 'g',
                'policy': 'soft-affinity',
                'rules': {},
                'members': [base.UUID, self.other.uuid],
            }
        )
        self.end(self.move_by_hand(self.other, 'h3'))
        self.skipped('group_budget 1/600 of its server group')

    def test_its_own_moves(self):
        self.settings.budgets.instance_budget = '1/600'
        self.end(self.move_by_hand(self.other, 'h3'))
        self.moves()
        self.instance.host = 'h1'
        self.skipped('instance_budget 1/600 of the server')

    def test_at_a_time_it_waits(self):
        self.settings.budgets.project_budget = '1'
        self.settings.limits.out_of_host = 2
        migration = self.move_by_hand(self.other, 'h3')
        self.clock.at(1100, lambda: self.end(migration))
        self.moves()
        self.assertIn('is free again when one of them ends', self.told[0])
        [taken, *_] = [
            when for what, when in self.slots.log if what == 'taken'
        ]
        self.assertLess(taken, 1100)

    def test_an_exempt_phase(self):
        self.settings.budgets.project_budget = '1/600'
        self.end(self.move_by_hand(self.other, 'h3'))
        self.task.phase = 'evacuate'
        self.moves()

    def test_nova_is_asked_for_the_past_only_with_a_budget(self):
        self.moves()
        self.assertFalse(any('changes-since' in query for query in self.asked))
        self.instance.host = 'h1'
        self.settings.budgets.instance_budget = '1/600'
        self.skipped('instance_budget')
        self.assertTrue(any('changes-since' in query for query in self.asked))
