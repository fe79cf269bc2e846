# SPDX-License-Identifier: Apache-2.0
"""Every panel of the dashboard has data after a spread, a drain and a boot.

One move of the drain fails. kronos-exporter serves the files of the three
services, and a Prometheus of the scenario reads them.
"""

import pathlib
import subprocess
import sys
import time

import fixtures

from tests import dashboards
from tests.lab import backfilled
from tests.lab.base import layout
from tests.lab.board import picture
from tests.lab.test_spread import pile
from tests.lab.weighing import WeigherTestCase

SERVICES = 'watcher-decision-engine', 'watcher-applier', 'nova-scheduler'
DRAINED = 'cmp2'
OF_SCHEDULER = layout.SCHEDULER / 'metrics.conf'
EXPORTER = 'import sys; from kronos.cmd import scripts; scripts.exporter()'
EMPTY = {
    # All is well with the samples, and with the weigher.
    'Policies without all samples',
    'Faults',
    # A failed move is not tried again, and none is skipped.
    'Retries',
    'Moves skipped',
    # Nothing waits until plans have settled, which test_effect does.
    'Newest measured plan',
    'Duration of the newest measured plan',
    'Plans that cannot be measured',
    'Newest plan that was not started',
}
"""Panels that may have no series here."""


class TestDashboard(WeigherTestCase):
    closed = (DRAINED,)

    def setUp(self):
        super().setUp()
        self.metrics = self.useFixture(fixtures.TempDir()).path
        self.addCleanup(self.restore)
        group = (
            f'[kronos_metrics]\ndirectory = {self.metrics}\n'
            'interval = 1\nper_host = true\n'
        )
        OF_SCHEDULER.write_text(group)
        with layout.KRONOS.open('a') as file:
            file.write(group)
        for name in SERVICES[:2]:
            self.lab.restart(name)
        self.schedule(with_weigher=True)

    def restore(self):
        OF_SCHEDULER.unlink(missing_ok=True)
        layout.KRONOS.unlink(missing_ok=True)
        for name in SERVICES:
            self.lab.restart(name)

    def test_each_panel(self):
        listen = f'127.0.0.1:{backfilled.free_port()}'
        with subprocess.Popen(
            [sys.executable, '-c', EXPORTER]
            + ['--directory', self.metrics, '--listen', listen]
        ) as exporter:
            try:
                with backfilled.serve(target=listen) as url:
                    self.work()
                    self.wait(
                        lambda: self.empty(url) <= EMPTY,
                        'all panels to have series',
                    )
            except AssertionError:
                print(*sorted(pathlib.Path(self.metrics).iterdir()))
                raise
            finally:
                exporter.terminate()

    def work(self):
        """Spread a pile, empty a host with a move that fails, boot."""
        self.boot([*pile('cmp1', 6), *pile(DRAINED, 2)])
        _, plan, _ = self.audited('aggregates=alpha max_migrations=4')
        self.carried_out(plan)
        self.openstack(f'compute service set --disable {DRAINED} nova-compute')
        _, plan, actions = self.drain()
        self.cloud.set_migrations({min(self.moved(actions)): {'fail': 'pre'}})
        self.start(plan)
        self.executed(plan)
        self.drain()
        self.new(['new-1'])

    def drain(self):
        return self.audited('aggregates=alpha', strategy='kronos_evacuate')

    def empty(self, url):
        """Titles of the panels without any series, as they are now."""
        return {
            panel.title
            for panel in dashboards.panels(dashboards.read())
            if panel.queries
            and not any(
                picture.ask(
                    url,
                    'query',
                    query=dashboards.filled(query.expression, 'alpha', '1h'),
                    time=time.time(),
                )
                for query in panel.queries
            )
        }
