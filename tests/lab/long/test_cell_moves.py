# SPDX-License-Identifier: Apache-2.0
"""Moves to another cell that something interrupts: each is asked for once."""

import json
from typing import Any, ClassVar

from tests.lab import appliers, cell_moves, cells
from tests.lab.cell_moves import NAME, RESIZE, VERIFY

CONDUCTOR = 'nova-conductor'


class TestCancelled(cell_moves.CellMovesTestCase):
    def test_arrived(self):
        self.check_taken_back(VERIFY)

    def test_confirmed(self):
        self.check_completed()


class TestKilled(cell_moves.CellMovesTestCase):
    def test_under_way(self):
        self.check_finished(RESIZE)

    def test_confirmed(self):
        self.check_left_alone()


class TestConductor(cell_moves.CellMovesTestCase):
    def test_killed(self):
        """Nobody goes on with the move; Kronos says how to mend it."""
        plan = self.begun(RESIZE, cell_move_timeout=20)
        self.killed(CONDUCTOR)
        self.lab.start(CONDUCTOR)
        self.free()
        row = self.ended(plan, 'FAILED')
        self.assert_told(row, 'FAILED', '[cell_stuck]')
        self.assert_asked()
        self.assertEqual('RESIZE', self.state(NAME)[0])
        self.assertIn(
            f'openstack server reboot --hard {self.uuids[NAME]}',
            self.commands(),
        )

    def commands(self) -> list[str]:
        """What the evidence gives an administrator to do."""
        [file] = self.reports.glob('kronos-cell-move-*.json')
        return list(json.loads(file.read_text())['commands'])


class TestAppliers(cells.CellsTestCase, appliers.TwoAppliersTestCase):
    """Two appliers, with two plans at the same time."""

    options: ClassVar[dict[str, Any]] = cells.CellsTestCase.options

    def test_share_the_cell(self):
        """Of each host its own servers; the limits hold for both."""
        placed = {f'{h}-{n}': h for h in cells.OLD_HOSTS for n in range(3)}
        self.boot_here(placed)
        plans = [self.drained(f'hosts={h}')[1] for h in cells.OLD_HOSTS]
        self.carry_out_both(plans)
        self.assert_once(*placed)
        self.assertLessEqual(self.most_at_a_time(placed), 2)
        for host in cells.OLD_HOSTS:
            here = [name for name, at in placed.items() if at == host]
            self.assertEqual(1, self.most_at_a_time(here), host)

    def test_the_same_servers(self):
        """Two plans move them all; each is moved by one of them."""
        placed = {f'vm-{n}': cells.OLD_HOSTS[n % 2] for n in range(4)}
        self.boot_here(placed)
        plans = [self.drained('', '--force')[1] for _ in range(2)]
        for plan in plans:
            self.assertEqual(set(placed), set(self.moves(plan)))
        self.carry_out_both(plans, 'SUCCEEDED', 'SKIPPED')
        self.assert_once(*placed)

    def carry_out_both(
        self, plans: list[dict[str, Any]], *states: str
    ) -> None:
        for plan in plans:
            self.start(plan)
        for plan in plans:
            self.executed(plan)
            for row in self.moves(plan).values():
                self.assertIn(
                    row['state'],
                    states or ('SUCCEEDED',),
                    row['status_message'],
                )
        where = self.cloud.placement()
        self.assertLessEqual(set(where.values()), set(cells.NEW_HOSTS))
        self.assert_here(where)
