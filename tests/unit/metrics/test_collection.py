# SPDX-License-Identifier: Apache-2.0
"""The files of all processes make one page; bad ones are left out, named."""

import os
import pathlib

import fixtures
from oslotest import base
from prometheus_client import parser

from kronos.metrics import exposition
from kronos.metrics.collection import STALE_SECONDS, Collection
from kronos.metrics.store import Store


class CollectionTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.now = 1e9

    def add(self, slot, age=0.0, text=None):
        store = Store()
        store.count('kronos_weighings_total', 2, result='scored')
        store.observe('kronos_weighing_seconds', 0.5)
        own = exposition.text_of(store, ('scheduler', str(slot))).decode()
        path = self.top / f'kronos-scheduler-{slot}.prom'
        path.write_text(own if text is None else text)
        os.utime(path, (self.now - age, self.now - age))
        return path

    def samples(self):
        text = Collection(str(self.top), lambda: self.now).text().decode()
        self.assertEqual(1, text.count('# TYPE kronos_exporter_files'))
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples
        }

    def assert_ignored(self, name, reason):
        samples = self.samples()
        labels = sorted([name, reason])
        key = 'kronos_exporter_ignored_file', *labels
        self.assertEqual(1.0, samples[key])
        self.assertEqual(1.0, samples['kronos_exporter_files', reason])
        self.assertEqual(1.0, samples['kronos_exporter_files', 'good'])

    def test_all_good(self) -> None:
        for slot in range(3):
            self.add(slot)
        samples = self.samples()
        for slot in '012':
            key = 'kronos_weighings_total', slot, 'scheduler', 'scored'
            self.assertEqual(2.0, samples[tuple([key[0], *sorted(key[1:])])])
        self.assertEqual(3.0, samples['kronos_exporter_files', 'good'])

    def test_of_a_dead_process(self) -> None:
        self.add(0, age=STALE_SECONDS)
        path = self.add(1, age=STALE_SECONDS + 1)
        self.assert_ignored(path.name, 'stale')

    def test_broken(self) -> None:
        self.add(0)
        good = self.add(1).read_text()
        for text in (
            'nonsense {\n',
            good + 'node_load1 3\n',
            good + 'kronos_exporter_files{state="good"} 3\n',
            # The same series twice, in one file or in two.
            good + 'kronos_weighings_total{result="scored",'
            'service="scheduler",slot="1"} 2\n',
            (self.top / 'kronos-scheduler-0.prom').read_text(),
            '# TYPE kronos_weighings gauge\nkronos_weighings_total 3\n'
            '# TYPE kronos_weighing_seconds gauge\n'
            'kronos_weighing_seconds 3\n',
        ):
            path = self.add(1, text=text)
            self.assert_ignored(path.name, 'broken')

    def test_a_link_or_no_file(self) -> None:
        self.add(0)
        path = self.top / 'kronos-scheduler-1.prom'
        path.symlink_to(self.top / 'kronos-scheduler-0.prom')
        self.now = path.lstat().st_mtime
        self.add(0)
        self.assert_ignored(path.name, 'broken')
        path.unlink()
        path.mkdir()
        self.assert_ignored(path.name, 'broken')

    def test_others_files_are_not_looked_at(self) -> None:
        self.add(0)
        for name in ('node.prom', 'kronos-x-0.lock', 'kronos-"}-0.prom'):
            (self.top / name).write_text('nonsense {\n')
        self.assertEqual(
            0.0, self.samples()['kronos_exporter_files', 'broken']
        )

    def test_no_directory(self) -> None:
        self.assertRaises(OSError, Collection('/nowhere').text)
