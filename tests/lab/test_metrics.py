# SPDX-License-Identifier: Apache-2.0
"""The metrics of the services, judged by who will read them.

By Prometheus' promtool and by systemd: nothing of the lab has to run.
"""

import pathlib
import subprocess
import sys

import fixtures
from oslotest import base

from kronos.metrics import catalogue, exposition
from kronos.metrics.metric import Kind, Source
from kronos.metrics.store import Gauge, Store
from tests import places

UNIT = places.TOP / 'deploy' / 'metrics' / 'kronos-exporter.service'
MOST_EXPOSED = 15
"""Tenths of systemd's own level: 0 is safe, 100 is not."""


SHOWN = [row for row in catalogue.METRICS if row.source != Source.EXPORTER]


def everything():
    """A store in which each metric of a service has a series."""
    store = Store(per_host=True)
    for row in SHOWN:
        labels = dict.fromkeys(row.labels, 'a "name" \\ of λ')
        if row.kind is Kind.COUNTER:
            store.count(row.name, **labels)
        elif row.kind is Kind.HISTOGRAM:
            store.observe(row.name, 0.5, **labels)
        else:
            store.show(row.name, [Gauge(row.name, 1, labels)])
    return store


class MetricsTestCase(base.BaseTestCase):
    def assert_good(self, text: bytes) -> None:
        done = subprocess.run(
            ['promtool', 'check', 'metrics'],
            input=text,
            capture_output=True,
            timeout=60,
        )
        self.assertEqual((0, b''), (done.returncode, done.stderr))

    def test_what_a_service_writes(self) -> None:
        text = exposition.text_of(everything(), ('scheduler', '0'))
        for row in SHOWN:
            self.assertIn(f'# HELP {row.name} '.encode(), text)
        self.assert_good(text)

    def test_what_the_exporter_serves(self) -> None:
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for slot in '01':
            (top / f'kronos-scheduler-{slot}.prom').write_bytes(
                exposition.text_of(everything(), ('scheduler', slot))
            )
        (top / 'kronos-scheduler-2.prom').write_text('nonsense {\n')
        words = [sys.executable, '-m', 'kronos.cmd.exporter', '--once']
        text = subprocess.run(
            [*words, '--directory', str(top)],
            check=True,
            capture_output=True,
            timeout=60,
        ).stdout
        self.assertIn(b'kronos_exporter_files{state="broken"} 1.0', text)
        self.assert_good(text)

    def test_unit(self) -> None:
        done = subprocess.run(
            [
                'systemd-analyze',
                'security',
                '--offline=true',
                f'--threshold={MOST_EXPOSED}',
                str(UNIT),
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(0, done.returncode, done.stdout)
