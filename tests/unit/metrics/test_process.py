# SPDX-License-Identifier: Apache-2.0
"""A process has its own metrics, or none at all."""

import pathlib
import subprocess
import sys
import types

import fixtures
from oslotest import base

from kronos.metrics import process
from kronos.metrics.metric import Source

GROUP = {'interval': 15.0, 'per_host': False, 'scope_ttl': 3600.0}

OFF = """
import sys, threading, types
from kronos.metrics import process
from kronos.metrics.metric import Source
group = types.SimpleNamespace(directory=None)
store = process.begin(Source.SCHEDULER, group)
store.count('kronos_weighings_total', result='scored')
assert not store.is_on
assert 'prometheus_client' not in sys.modules
assert threading.active_count() == 1
"""


class ProcessTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(process.end)

    def group(self, directory):
        return types.SimpleNamespace(directory=directory, **GROUP)

    def test_off(self) -> None:
        """Nothing is imported, and no thread is started."""
        subprocess.run([sys.executable, '-c', OFF], check=True)

    def test_prepared(self) -> None:
        """A parent of workers counts, and writes nothing."""
        group = self.group(str(self.top))
        store = process.prepare(Source.SCHEDULER, group)
        self.assertTrue(store.is_on)
        self.assertIs(store, process.of_process())
        self.assertIs(store, process.prepare(Source.SCHEDULER, group))
        self.assertEqual([], list(self.top.iterdir()))

    def test_a_parent_that_ends_clears_up_after_its_workers(self) -> None:
        (self.top / 'kronos-scheduler-1.prom').touch()
        process.prepare(Source.SCHEDULER, self.group(str(self.top)))
        process.end()
        self.assertEqual([], list(self.top.glob('*.prom')))
        self.assertFalse(process.of_process().is_on)
