# SPDX-License-Identifier: Apache-2.0
"""What the documentation has its readers do works in the lab."""

import os
import subprocess

from testtools import content

from tests import documented
from tests.lab import base

GUIDE = base.TOP / 'doc' / 'source' / 'extending'
END = './tools/lab wipe'
"""The last command of the tutorial: other scenarios want the lab."""
SERVERS = [f'tutorial-{number}' for number in range(1, 7)]


class TestTutorial(base.LabTestCase):
    def setUp(self) -> None:
        super().setUp()
        # With the lab's own configuration, as a reader has it.
        base.layout.KRONOS.unlink()

    def test_word_by_word(self) -> None:
        """All of its commands, as one script of a reader.

        What installs the commands of Kronos is left out: they are here.
        """
        commands = [
            command
            for where, command in documented.commands()
            if where == documented.TUTORIAL
            and not documented.why_not_run(command)
        ]
        self.assertEqual(END, commands.pop())
        done = subprocess.run(
            ['bash', '-euxo', 'pipefail', '-c', '\n'.join(commands)],
            cwd=base.TOP,
            env={**os.environ, 'KRONOS_LAB': base.layout.NAME},
            capture_output=True,
            text=True,
        )
        told = done.stdout + done.stderr
        self.addDetail('script', content.text_content(told))
        self.assertEqual(0, done.returncode, done.stderr[-2000:])
        where = self.cloud.placement()
        self.assertEqual(SERVERS, sorted(where))
        self.assertGreater(len({*where.values()}), 1)
        self.assertIn('tutorial-1', done.stdout)
        audit = self.openstack('optimize audit show always')
        self.assertEqual('CANCELLED', audit['State'])
        self.assertIn('cools down', done.stdout)


class TestPolicies(base.LabTestCase):
    def test_each_is_judged(self) -> None:
        """With windows that a scenario can wait for."""
        self.boot(base.Wanted(f'g-{n}', 'cmp1', 1.5, 2048) for n in range(4))
        text = (GUIDE / 'policies.yaml').read_text()
        file = base.layout.RUN / 'test-guide.yaml'
        self.addCleanup(file.unlink)
        file.write_text(text.replace('[2m]', f'[{base.WINDOW_SECONDS}s]'))
        self.configure(policies_file=file)
        audit, _, actions = self.audited('aggregates=alpha')
        self.assertNotEqual([], actions)
        self.assertNotIn('not judged', audit['Status Message'])
        told = {one['name'] for one in self.report(audit)['policies']}
        self.assertEqual({'cpu', 'load'}, told)
