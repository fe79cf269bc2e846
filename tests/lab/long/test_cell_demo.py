# SPDX-License-Identifier: Apache-2.0
"""The demo that empties a cell does what it promises."""

import subprocess

from testtools import content

from tests.lab import cells


class TestDemo(cells.CellsTestCase):
    def test_it_passes_and_shows_what_happened(self):
        done = subprocess.run(
            [cells.base.TOP / 'tools' / 'lab', 'demo', '--cells'],
            capture_output=True,
            text=True,
        )
        self.addDetail('demo', content.text_content(done.stdout + done.stderr))
        wrong = [
            line for line in done.stdout.splitlines() if line.startswith('NOT')
        ]
        if done.returncode:
            wrong += done.stderr.splitlines()[-1:]
        self.assertEqual((0, []), (done.returncode, wrong))
        for words in (
            'servers 7 -> 1, 1 stays',
            'left in cell2: 0',
            'The demo passed',
        ):
            self.assertIn(words, done.stdout)
