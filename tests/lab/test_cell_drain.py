# SPDX-License-Identifier: Apache-2.0
"""Plans that empty a cell: refused, cancelled, or left by their applier."""

from tests.lab import cell_moves, cells
from tests.lab.cell_moves import RESIZE, VERIFY

from labkit.cells import policy  # isort: skip

SERVERS = 12


class TestRefused(cells.CellsTestCase):
    def test_closed_policy(self):
        """Nova is asked for two servers, not for each."""
        placed = {f'vm-{at}': cells.OLD_HOSTS[at % 2] for at in range(SERVERS)}
        self.boot_here(placed)
        policy.write(is_open=False)
        _, plan, _ = self.drained(f'max_migrations={SERVERS}')
        self.assertEqual(set(placed), set(self.moves(plan)))
        self.start(plan)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        rows = self.moves(plan)
        refused = [n for n, row in rows.items() if row['state'] == 'FAILED']
        self.assertEqual(2, len(refused), rows)
        self.assert_once(*refused)
        told = ' '.join(rows[name]['status_message'] for name in refused)
        self.assertIn('[cell_refused]', told)
        self.assertIn('[cell_closed]', told)
        for name in placed.keys() - {*refused}:
            message = rows[name]['status_message']
            self.assertEqual('SKIPPED', rows[name]['state'], message)
            self.assertIn('[plan_refused]', message)
        self.assert_here(placed)


class TestCancelled(cell_moves.CellMovesTestCase):
    def test_under_way(self):
        self.check_taken_back(RESIZE)


class TestKilled(cell_moves.CellMovesTestCase):
    def test_arrived(self):
        self.check_finished(VERIFY)
