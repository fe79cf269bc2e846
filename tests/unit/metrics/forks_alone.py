# SPDX-License-Identifier: Apache-2.0
"""Workers that are killed and replaced share few slots and lose no count."""

import os
import pathlib
import signal
import sys
import types

import fixtures
from oslotest import base
from prometheus_client import parser

from kronos.metrics import process
from kronos.metrics.metric import Source

KILLS = 40
WORKERS = 3
GROUP = {'interval': 1.0, 'per_host': False, 'scope_ttl': 3600.0}


class ForksTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(process.end)
        group = types.SimpleNamespace(directory=str(self.top), **GROUP)
        process.prepare(Source.SCHEDULER, group)
        process.of_process().count('kronos_weighings_total', result='failed')

    def worker(self):
        """Fork one; returns once it has written what it counted."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                store = process.of_process()
                store.count('kronos_weighings_total', result='scored')
                process.start()
                with process._process._lock:
                    process._process.file.write()
                os.write(writing, b'.')
                signal.pause()
            finally:
                os._exit(1)
        os.close(writing)
        self.assertEqual(b'.', os.read(reading, 1))
        os.close(reading)
        return pid

    def test_kills(self) -> None:
        # What a fork inherits of a test runner must not be written twice.
        sys.stdout.flush()
        workers = [self.worker() for _ in range(WORKERS)]
        for number in range(KILLS):
            pid = workers.pop(number % WORKERS)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            workers.append(self.worker())
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        paths = sorted(self.top.glob('*.prom'))
        self.assertEqual(
            [f'kronos-scheduler-{slot}.prom' for slot in range(WORKERS)],
            [path.name for path in paths],
        )
        values: dict[str, float] = {}
        helps: dict[str, str] = {}
        for path in paths:
            for family in parser.text_string_to_metric_families(
                path.read_text()
            ):
                text = helps.setdefault(family.name, family.documentation)
                self.assertEqual(text, family.documentation)
                for sample in family.samples:
                    key = f'{sample.name}{sorted(sample.labels.items())}'
                    self.assertNotIn(key, values)
                    values[key] = sample.value
        total = [
            value
            for key, value in values.items()
            if key.startswith('kronos_weighings_total')
        ]
        # What the parent counted is its own.
        self.assertEqual(KILLS + WORKERS, sum(total))
