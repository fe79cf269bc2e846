# SPDX-License-Identifier: Apache-2.0
"""The command ``run`` empties a cell, on a terminal."""

from tests.lab import cells, runs


class TestCellDrain(runs.RunTestCase, cells.CellsTestCase):
    def test_to_the_end(self) -> None:
        self.boot_seen([self.one('vm', cells.OLD_HOSTS[0])])
        parameters = [f'--param {pair}' for pair in cells.ASKED.split()]
        client = self.terminal(
            f'cell-drain {" ".join(parameters)} {runs.WHOLE}', aggregates=''
        )
        client.expect(runs.QUESTION)
        client.type('y\n')
        client.expect('1 of 1 action succeeded')
        self.check_end(client, 0)
        self.assertIn(self.cloud.placement()['vm'], cells.NEW_HOSTS)
