# SPDX-License-Identifier: Apache-2.0
"""The exporter serves the files of a directory, and nothing else."""

import pathlib
import subprocess
import sys
from urllib import error, request

import fixtures
from oslotest import base

from kronos.cmd import exporter
from kronos.metrics import exposition
from kronos.metrics.store import Store
from tests import commands


class ExporterTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        store = Store()
        store.count('kronos_weighings_total', 2, result='scored')
        (self.top / 'kronos-scheduler-0.prom').write_bytes(
            exposition.text_of(store, ('scheduler', '0'))
        )

    def run_it(self, *arguments):
        words = ['--directory', str(self.top), *arguments]
        return commands.run(exporter.main, words)

    def test_once(self) -> None:
        status, text, errors = self.run_it('--once')
        self.assertEqual((0, ''), (status, errors))
        self.assertIn('service="scheduler",slot="0"} 2.0\n', text)
        self.assertIn('kronos_exporter_files{state="good"} 1.0', text)

    def test_no_directory(self) -> None:
        self.top = self.top / 'gone'
        status, text, errors = self.run_it('--once')
        self.assertEqual((1, ''), (status, text))
        self.assertIn(f'{self.top}: No such file or directory', errors)

    def test_bad_arguments(self) -> None:
        for words, text in (
            (['--listen', '9878'], "'9878' is not ADDRESS:PORT"),
            (['--listen', 'h:99999'], 'is not ADDRESS:PORT'),
            (['--key', 'x'], '--key and --client-ca need --cert'),
        ):
            status, _, errors = self.run_it(*words)
            self.assertEqual(2, status)
            self.assertIn(text, errors)

    def test_bad_certificate(self) -> None:
        status, _, errors = self.run_it(
            '--listen', '127.0.0.1:0', '--cert', '/nowhere.pem'
        )
        self.assertEqual(1, status)
        self.assertIn('/nowhere.pem: No such file or directory', errors)

    def test_addresses(self) -> None:
        self.assertEqual(('::1', 80), exporter._endpoint('[::1]:80'))
        self.assertEqual(('h', 0), exporter._endpoint('h:0'))

    def test_it_serves_until_sigterm(self) -> None:
        words = [sys.executable, '-m', 'kronos.cmd.exporter']
        words += ['--directory', str(self.top), '--listen', '127.0.0.1:0']
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                line = server.stdout.readline()
                url = f'http://127.0.0.1:{int(line.split()[-1])}'
                with request.urlopen(f'{url}/metrics') as answer:
                    self.assertIn(b'scored', answer.read())
                    kind = answer.headers['Content-Type']
                    self.assertIn('version=0.0.4', kind)
                failed = self.assertRaises(
                    error.HTTPError, request.urlopen, f'{url}/etc/passwd'
                )
                self.assertEqual(404, failed.code)
                failed = self.assertRaises(
                    error.HTTPError, request.urlopen, f'{url}/metrics', b'x'
                )
                self.assertEqual(405, failed.code)
            finally:
                server.terminate()
        self.assertEqual(0, server.returncode)
