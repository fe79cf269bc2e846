# SPDX-License-Identifier: Apache-2.0
"""Debian's node_exporter beside the files of the three services.

It answers with HTTP status 200 whatever it drops; only its own metric and its
log say so. Nothing of the lab has to run.
"""

import pathlib
import shutil
import subprocess
import urllib.request

import fixtures
import tenacity
from oslotest import base

from kronos.metrics import exposition, files
from kronos.metrics.metric import Source
from tests.lab import backfilled, test_metrics

PROGRAM = 'prometheus-node-exporter'
SERVICES = (Source.DECISION_ENGINE, Source.APPLIER, Source.SCHEDULER)
PROCESSES = 3
"""Of each service."""
SCRAPES = 10
COMPLAINTS = 'was collected before', 'help'


class NodeExporter(fixtures.Fixture):
    """One with the textfile collector alone, on a free port."""

    def __init__(self, directory: pathlib.Path) -> None:
        super().__init__()
        self._directory = directory

    def _setUp(self) -> None:
        folder = self.useFixture(fixtures.TempDir()).path
        self._log = pathlib.Path(folder, 'log')
        address = f'127.0.0.1:{backfilled.free_port()}'
        with self._log.open('w') as log:
            self._process = subprocess.Popen(
                [
                    PROGRAM,
                    '--collector.disable-defaults',
                    '--collector.textfile',
                    f'--collector.textfile.directory={self._directory}',
                    f'--web.listen-address={address}',
                ],
                stderr=log,
            )
        self.addCleanup(self._end)
        self._url = f'http://{address}/metrics'

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait()

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type(OSError),
        stop=tenacity.stop_after_delay(60),
        wait=tenacity.wait_fixed(0.1),
        reraise=True,
    )
    def scrape(self) -> str:
        with urllib.request.urlopen(self._url, timeout=60) as answer:
            content: bytes = answer.read()
            return content.decode()

    def log(self) -> str:
        return self._log.read_text()


class NodeExporterTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        if not shutil.which(PROGRAM):
            self.skipTest(f'{PROGRAM} is not installed')
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.exporter = self.useFixture(NodeExporter(self.top))
        self.files = []
        for service in SERVICES:
            for _ in range(PROCESSES):
                store = test_metrics.everything()
                file = files.MetricsFile(str(self.top), service.value, store)
                self.addCleanup(file.close)
                self.files.append(file)

    def write(self) -> None:
        for file in self.files:
            file.write()

    def test_all_is_collected(self) -> None:
        for _ in range(SCRAPES):
            self.write()
            page = self.exporter.scrape()
            self.assertIn('\nnode_textfile_scrape_error 0\n', page)
        log = self.exporter.log()
        for complaint in COMPLAINTS:
            self.assertNotIn(complaint, log)
        for file in self.files:
            self.assertIn(f'mtime_seconds{{file="{file.path}"}}', page)
        ours = [
            line
            for line in page.splitlines()
            if line.removeprefix('# HELP ')
            .removeprefix('# TYPE ')
            .startswith('kronos_')
        ]
        for row in test_metrics.SHOWN:
            number = sum(line.startswith(f'{row.name}') for line in ours)
            self.assertLessEqual(len(self.files), number, row.name)
        done = subprocess.run(
            ['promtool', 'check', 'metrics'],
            input='\n'.join([*ours, '']),
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual((0, ''), (done.returncode, done.stderr))

    def test_complaints_are_seen(self) -> None:
        """Of a file whose help differs, and of one with the same series."""
        self.write()
        store = test_metrics.everything()
        text = exposition.text_of(store, (SERVICES[0].value, '0')).decode()
        (self.top / 'other.prom').write_text(text)
        changed = text.replace(
            '# HELP kronos_build_info 1', '# HELP kronos_build_info One'
        )
        (self.top / 'changed.prom').write_text(
            changed.replace('slot="0"', 'slot="9"')
        )
        page = self.exporter.scrape()
        self.assertIn('was collected before', page + self.exporter.log())
