# SPDX-License-Identifier: Apache-2.0
"""The file of a process is whole, readable, and gone at its end."""

import os
import pathlib
import shutil
import stat

import fixtures
from oslo_log import log as logging
from oslotest import base

from kronos.metrics import exposition, files
from kronos.metrics.store import Store


class FilesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.file = self.made()

    def made(self):
        self.store = Store()
        file = files.MetricsFile(
            str(self.top), 'applier', self.store, lambda: 1e9
        )
        self.addCleanup(file.close)
        return file

    def texts(self):
        return {
            path.name: path.read_text() for path in self.top.glob('*.prom')
        }

    def test_readable_whatever_the_umask(self) -> None:
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.file.write()
        mode = stat.S_IMODE(self.file.path.stat().st_mode)
        self.assertEqual(0o644, mode)

    def test_what_every_process_shows(self) -> None:
        self.file.write()
        [(name, text)] = self.texts().items()
        self.assertEqual('kronos-applier-0.prom', name)
        self.assertIn('kronos_build_info{service="applier",slot="0"', text)
        self.assertIn('written_timestamp_seconds{service="applier"', text)

    def test_a_clean_stop_removes_it(self) -> None:
        self.file.write()
        self.file.close()
        self.assertEqual({}, self.texts())

    def test_the_successor_of_a_killed_one_goes_on(self) -> None:
        self.store.count('kronos_metrics_write_errors_total', 3)
        self.file.write()
        (self.top / '.kronos-applier-0-x.tmp').touch()
        self.file.leave()
        self.file = self.made()
        self.store.count('kronos_metrics_write_errors_total')
        self.file.write()
        [text] = self.texts().values()
        self.assertIn('write_errors_total{service="applier",slot="0"} 4', text)
        self.assertEqual([], list(self.top.glob('.*')))

    def test_one_that_cannot_be_read_is_written_over(self) -> None:
        (self.top / 'kronos-applier-0.prom').write_text('nonsense {\n')
        self.file.write()
        [text] = self.texts().values()
        self.assertNotIn('nonsense', text)
        self.assertNotIn('cannot be written', self.log.output)

    def refused(self, reason):
        """What lies where the file is to be is written over, not read."""
        self.file.write()
        [text] = self.texts().values()
        self.assertIn('kronos_build_info', text)
        self.assertNotIn('kronos_metrics_write_errors_total', text)
        self.assertIn(f'is not continued: {reason}', self.log.output)
        self.assertTrue(stat.S_ISREG(self.file.path.lstat().st_mode))

    def test_a_pipe_is_not_waited_for(self) -> None:
        os.mkfifo(self.top / 'kronos-applier-0.prom')
        self.refused('it is no plain file')

    def test_a_link_is_not_followed(self) -> None:
        self.store.count('kronos_metrics_write_errors_total', 3)
        other = self.top / 'other'
        other.write_bytes(exposition.text_of(self.store, ('applier', '0')))
        self.file = self.made()
        (self.top / 'kronos-applier-0.prom').symlink_to(other)
        self.refused('Too many levels of symbolic links')

    def test_one_without_an_end_is_not_read(self) -> None:
        with open(self.top / 'kronos-applier-0.prom', 'wb') as file:
            file.truncate(exposition.MOST_BYTES + 1)
        self.refused('ValueError')

    def test_a_pipe_instead_of_a_lock(self) -> None:
        os.mkfifo(self.top / 'kronos-applier-0.lock')
        self.file.write()
        self.assertEqual(['kronos-applier-0.prom'], [*self.texts()])

    def outage(self, end, begin):
        self.file.write()
        end()
        for _ in range(3):
            self.file.write()
        self.assertEqual(1, self.log.output.count('cannot be written'))
        begin()
        self.file.write()
        self.file.write()
        self.assertEqual(1, self.log.output.count('are written to'))
        [text] = self.texts().values()
        self.assertIn('write_errors_total{service="applier",slot="0"} 3', text)

    def test_directory_removed(self) -> None:
        self.outage(lambda: shutil.rmtree(self.top), self.top.mkdir)
        self.assertIn('No such file or directory', self.log.output)

    def test_directory_replaced_by_a_file(self) -> None:
        def end() -> None:
            shutil.rmtree(self.top)
            self.top.touch()

        def begin() -> None:
            self.top.unlink()
            self.top.mkdir()

        self.outage(end, begin)
        self.assertIn('Not a directory', self.log.output)

    def test_files_of_workers_that_ended(self) -> None:
        (self.top / 'kronos-applier-7.prom').touch()
        (self.top / 'kronos-scheduler-7.prom').touch()
        (self.top / 'kronos-applier-x.prom').touch()
        self.file.write()
        files.clear(str(self.top), 'applier')
        self.assertEqual(
            {
                'kronos-applier-0.prom',
                'kronos-applier-x.prom',
                'kronos-scheduler-7.prom',
            },
            self.texts().keys(),
        )
