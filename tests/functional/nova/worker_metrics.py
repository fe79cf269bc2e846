# SPDX-License-Identifier: Apache-2.0
"""Workers of nova-scheduler that are killed, and the metrics they leave."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
from oslotest import base
from prometheus_client import parser

PROGRAM = pathlib.Path(__file__).with_name('three_workers.py')
WORKERS = 3
WEIGHINGS = 5
"""Of each worker."""
PATIENCE_SECONDS = 120
MOST_SLOTS = 4
OPTIONS = """
[kronos]
policies_file = {top}/none.yaml
[kronos_prometheus]
url = http://127.0.0.1:9
max_retries = 0
[kronos_metrics]
directory = {top}
interval = 1
"""


class WorkersTestCase(base.BaseTestCase):
    """Three workers of a real launcher of Nova, which replaces them."""

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        options = self.top / 'nova.conf'
        options.write_text(OPTIONS.format(top=self.top))
        self.launcher = subprocess.Popen(
            [
                *(sys.executable, '-W', 'ignore', str(PROGRAM)),
                *(str(options), str(WEIGHINGS)),
            ],
            env={**os.environ, 'OS_NOVA_DISABLE_EVENTLET_PATCHING': '1'},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(self.end)
        self.workers = [self.started() for _ in range(WORKERS)]
        self.weighings = WORKERS * WEIGHINGS

    def started(self):
        """The process id of the next worker that has weighed."""
        return int(self.launcher.stdout.readline())

    def end(self):
        self.launcher.terminate()
        self.launcher.wait(PATIENCE_SECONDS)
        self.launcher.stdout.close()

    def samples(self):
        """The value of each series in all files.

        No series may be in two, nor a worker have a slot beyond the others'.
        """
        paths = sorted(self.top.glob('kronos-*.prom'))
        self.assertLessEqual(len(paths), MOST_SLOTS)
        values = {}
        for path in paths:
            for family in parser.text_string_to_metric_families(
                path.read_text()
            ):
                for sample in family.samples:
                    series = sample.name, *sorted(sample.labels.items())
                    self.assertNotIn(series, values)
                    values[series] = sample.value
        return values

    def written(self):
        return sum(
            value
            for (name, *_), value in self.samples().items()
            if name == 'kronos_weighings_total'
        )

    def wait_until_written(self):
        """Wait for the sum of all weighings; the limit ends a hanging test."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.written() != self.weighings:
            if time.monotonic() > deadline:
                self.fail(f'{self.written()} instead of {self.weighings}')
            time.sleep(0.1)

    def replaced(self):
        """Kill two workers, and wait for those that Nova starts instead."""
        victims, self.workers = self.workers[:2], self.workers[2:]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        for _ in victims:
            self.workers.append(self.started())
            self.weighings += WEIGHINGS

    def assert_killed_workers_lose_nothing(self, rounds):
        self.wait_until_written()
        for _ in range(rounds):
            self.replaced()
            self.wait_until_written()
        self.end()
        self.assertEqual([], [*self.top.glob('*.prom')])
