# SPDX-License-Identifier: Apache-2.0
"""Decision engines one after the other, and the metrics they leave."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
from oslotest import base
from prometheus_client import parser

from tests import places

PROGRAM = 'tests.functional.watcher.engine_restarts'
PATIENCE_SECONDS = 300


class RestartsTestCase(base.BaseTestCase):
    """Each decision engine plans once, and is killed or stopped."""

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        # A killed one leaves its folders behind.
        rest = self.useFixture(fixtures.TempDir()).path
        self.errors = self.useFixture(fixtures.TempDir()).join('stderr')
        with open(self.errors, 'wb') as errors:
            self.parent = self.start(rest, errors)
        self.addCleanup(self.end)
        self.audits = 0
        """Of this engine and of those whose file it has taken over."""

    def start(self, rest, errors):
        return subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', PROGRAM, str(self.top)],
            cwd=places.TOP,
            env={**os.environ, 'TMPDIR': rest},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

    def end(self):
        self.parent.stdin.close()
        self.parent.wait(PATIENCE_SECONDS)
        self.parent.stdout.close()

    def tell(self):
        self.parent.stdin.write('\n')
        self.parent.stdin.flush()

    def answer(self):
        line = self.parent.stdout.readline()
        if not line:
            self.fail(pathlib.Path(self.errors).read_text())
        return line

    def series(self):
        """All that the files hold; no series may be there twice."""
        values = {}
        for path in self.top.glob('*.prom'):
            for family in parser.text_string_to_metric_families(
                path.read_text()
            ):
                for sample in family.samples:
                    key = sample.name, *sorted(sample.labels.items())
                    self.assertNotIn(key, values)
                    values[key] = sample.value
        return values

    def until_written(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            audits = sum(
                value
                for (name, *_), value in self.series().items()
                if name == 'kronos_audits_total'
            )
            if audits == self.audits:
                return
            if time.monotonic() > deadline:
                self.fail(f'{audits} audits instead of {self.audits}')
            time.sleep(0.05)

    def restart(self, is_killed):
        """One more engine, until its end."""
        self.tell()
        child = int(self.answer())
        self.audits += 1
        self.until_written()
        self.assertEqual(
            ['kronos-decision-engine-0.prom'],
            [path.name for path in self.top.glob('*.prom')],
        )
        if is_killed:
            os.kill(child, signal.SIGKILL)
        else:
            self.tell()
        self.assertEqual('ended\n', self.answer())
        if not is_killed:
            self.assertEqual([], [*self.top.glob('*.prom')])
            self.audits = 0

    def assert_restarts(self, rounds):
        """Killed twice, then stopped, and so on."""
        for number in range(rounds):
            self.restart(is_killed=number % 3 < 2)
