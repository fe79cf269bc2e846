# SPDX-License-Identifier: Apache-2.0
"""The README's first command does what it promises."""

import subprocess

from testtools import content

from tests.lab import base


class TestDemo(base.LabTestCase):
    def test_it_passes_and_shows_what_happened(self):
        done = subprocess.run(
            [base.TOP / 'tools' / 'lab', 'demo'],
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
        for words in ('Scores before', 'Scores after', 'The demo passed'):
            self.assertIn(words, done.stdout)
