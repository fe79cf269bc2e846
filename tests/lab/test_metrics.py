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


WRITER = """
import os, sys
from oslo_log import log as logging
from oslo_config import cfg
from kronos.metrics import exposition, files
from kronos.metrics.store import Store
import prometheus_client.parser, importlib.metadata
files._version()
conf = cfg.ConfigOpts()
logging.register_options(conf)
logging.setup(conf, 'kronos')
logging.getLogger(None).logger.handlers[0].setStream(sys.stdout)
exposition.text_of(Store(), ())
os.setuid({user})
file = files.MetricsFile('{top}', 'applier', Store())
for _ in range(3):
    file.write()
"""
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

    def outage(self, top, user=0):
        """Write three times, by a user; what the log then has."""
        script = WRITER.format(top=top, user=user)
        done = subprocess.run(
            [sys.executable, '-c', script],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(1, done.stdout.count('cannot be written'))
        return done.stdout

    def test_full_disk(self) -> None:
        top = self.useFixture(fixtures.TempDir()).path
        mount = ['mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', top]
        subprocess.run(mount, check=True)
        self.addCleanup(subprocess.run, ['umount', top], check=True)
        pathlib.Path(top, 'full').write_bytes(b'x' * 4096)
        self.assertIn('No space left on device', self.outage(top))
        # The half of one that could not be written is not left there.
        names = {path.name for path in pathlib.Path(top).iterdir()}
        self.assertEqual({'full', 'kronos-applier-0.lock'}, names)

    def test_directory_of_another_user(self) -> None:
        top = self.useFixture(fixtures.TempDir()).path
        for path in pathlib.Path(top).parents[:-1]:
            if not path.samefile('/tmp'):  # noqa: S108
                path.chmod(0o755)
        pathlib.Path(top).chmod(0o755)
        self.assertIn('Permission denied', self.outage(top, 65534))

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
