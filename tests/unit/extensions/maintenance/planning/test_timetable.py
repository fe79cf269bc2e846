# SPDX-License-Identifier: Apache-2.0
"""When does what of a run end?"""

from oslotest import base

from kronos.extensions.maintenance.maintenance import RunView
from kronos.extensions.maintenance.planning.timetable import Plan, Timetable


class TestTimetable(base.BaseTestCase):
    def table(self, plans: int = 1, turn: float = 60.0) -> Timetable:
        view = RunView(turn_seconds=turn, plans_at_once=plans, concurrent=2)
        return Timetable(view, 100.0, {})

    def test_a_host(self) -> None:
        """Emptied for 90 s, handed over 60 s later, done 100 s after that."""
        table = self.table()
        table.carry_out(Plan(closing=[1], seconds={1: 90.0}), 0.0)
        self.assertEqual(1, table.closed)
        self.assertFalse(table.may_plan(149.0))
        self.assertEqual(180.0, table.next_audit(0.0))
        self.assertTrue(table.may_plan(180.0))
        self.assertEqual([], table.done(240.0))
        self.assertEqual(300.0, table.next_audit(180.0))
        self.assertEqual([1], table.done(300.0))
        table.carry_out(Plan(opening=table.done(300.0)), 300.0)
        self.assertEqual({1: 305.0}, table.ends)
        self.assertEqual([], table.opened(300.0))
        self.assertEqual([1], table.opened(360.0))
        self.assertEqual(0, table.closed)
        self.assertIsNone(table.next_audit(360.0))

    def test_plans_side_by_side(self) -> None:
        table = self.table(plans=2)
        table.carry_out(Plan(closing=[1], seconds={1: 90.0}), 0.0)
        self.assertTrue(table.may_plan(60.0))
        table.carry_out(Plan(closing=[2], seconds={2: 90.0}), 60.0)
        self.assertFalse(table.may_plan(120.0))
        self.assertTrue(table.may_plan(180.0))

    def test_moves_wait_for_each_other(self) -> None:
        """Of three hosts two are emptied at a time."""
        table = self.table()
        hosts = [1, 2, 3]
        table.carry_out(Plan([], hosts, dict.fromkeys(hosts, 50.0)), 0.0)
        self.assertEqual([1, 2], table.done(210.0))
        self.assertEqual(hosts, table.done(260.0))

    def test_a_host_that_is_filled(self) -> None:
        table = self.table()
        plan = Plan([], [1], {1: 50.0}, filled={2})
        table.carry_out(plan, 0.0)
        self.assertFalse(table.is_filled(2, 49.0))
        self.assertTrue(table.is_filled(2, 50.0))
        self.assertTrue(table.is_filled(3, 0.0))
