# SPDX-License-Identifier: Apache-2.0
"""The commands that the documentation shows for a cloud run in the lab."""

import pathlib
import re

import fixtures

from tests import documented
from tests.lab import base

AGGREGATES = {'gpu': 'alpha', 'hpc': 'beta'}
"""The documentation's, and those of the lab."""
OF_REAL_HOSTS = re.compile(r'\bbusy-1\b')
"""Commands about a guest that simulated hosts cannot have."""
OF_AN_EXAMPLE = re.compile(r'\boptimize kronos (plan show|explain|run) ')
"""Commands about a plan and a server that only the page has, or that ask a
question; the unit tests of the page run them."""
OF_A_WINDOW = re.compile(r'\bkronos:(window|freeze)=')
"""What would close the aggregates of the lab to other scenarios."""
OF_TWO_CELLS = re.compile(r'^cells\.rst |\bold1\b|\bcell2\b|\bweb-1\b')
"""What needs cells that this lab has not."""
TEMPLATE = 'optimize audittemplate create '


def of_the_lab(text: str) -> str:
    """What the documentation shows, with the lab's aggregates."""
    for name, ours in AGGREGATES.items():
        text = re.sub(rf'\b{name}\b', ours, text)
    return text


class TestDocumented(base.LabTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, text in documented.samples().items():
            (self.folder / name).write_text(of_the_lab(text))

    def prepared(self, words):
        """A command with the path of the file that it names."""
        words = of_the_lab(words)
        for name in documented.samples():
            words = words.replace(f' {name}', f' {self.folder / name}')
        if words.startswith(TEMPLATE):
            # Its name could not be taken again if a later command fails.
            name = words.removeprefix(TEMPLATE).split()[0]
            self.addCleanup(
                self.run_client, f'optimize audittemplate delete {name}'
            )
        return words

    def test_openstack_commands(self):
        """With the lab's aggregates instead of the example's."""
        ran = 0
        once = {
            command: where
            for where, command in documented.commands()
            if where != documented.TUTORIAL
        }
        for command, where in once.items():
            program, _, rest = command.partition(' ')
            if program != 'openstack' or OF_REAL_HOSTS.search(rest):
                continue
            if OF_TWO_CELLS.search(f'{where} {command}'):
                continue
            if OF_AN_EXAMPLE.search(command) or OF_A_WINDOW.search(command):
                continue
            if documented.why_not_run(command):
                continue
            done = self.run_client(self.prepared(rest))
            self.assertEqual(
                0, done.returncode, f'{where}: {command}\n{done.stderr}'
            )
            ran += 1
        self.assertGreater(ran, 3)
