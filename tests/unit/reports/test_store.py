# SPDX-License-Identifier: Apache-2.0
"""Are reports written whole, bounded, and never at an audit's expense?"""

import datetime
import json
import os
import pathlib
import stat
from typing import Any

import fixtures
from oslotest import base

from kronos.reports import store

UUID = '0d1e3f4a-0000-4000-8000-000000000001'
DOCUMENT = {'format_version': 1, 'audit': {'uuid': UUID}, 'scopes': []}
NOW = datetime.datetime(2026, 3, 1, 13, 30, 0, 250, tzinfo=datetime.UTC)


class WriteTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def write(
        self, keep: int = 9, after: int = 0, **fields: Any
    ) -> str | None:
        now = NOW + datetime.timedelta(seconds=after)
        return store.write(self.folder, DOCUMENT | fields, keep, now)


class TestWrite(WriteTestCase):
    def test_name_content_and_mode(self) -> None:
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        path = self.write()
        name = f'kronos-report-20260301T133000.000250Z-{UUID}.json'
        self.assertEqual(f'{self.folder}/{name}', path)
        self.assertEqual([name], self.names())
        file = pathlib.Path(self.folder, name)
        self.assertEqual(DOCUMENT, json.loads(file.read_text()))
        self.assertEqual(0o640, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual('', self.log.output)

    def test_names_are_in_utc(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        store.write(self.folder, DOCUMENT, 9, NOW.astimezone(zone))
        self.assertIn('T133000', self.names()[0])

    def test_the_oldest_go(self) -> None:
        paths = [self.write(keep=3, after=n) for n in (3, 0, 1, 2, 4)]
        remaining = [
            os.path.basename(str(paths[index])) for index in (3, 0, 4)
        ]
        self.assertEqual(remaining, self.names())

    def test_pages_go_with_their_reports(self) -> None:
        """report_keep counts reports, whether they have pages or not."""
        for after in (0, 1, 2, 3):
            path = str(self.write(keep=2, after=after))
            if after != 2:
                store.write_page(path, '<!DOCTYPE html>')
        self.assertEqual(
            [
                ('T133002.000250Z', '.json'),
                ('T133003.000250Z', '.html'),
                ('T133003.000250Z', '.json'),
            ],
            [(name[22:37], name[-5:]) for name in self.names()],
        )

    def test_a_page_whose_report_is_gone_counts(self) -> None:
        path = str(self.write())
        store.write_page(path, 'page')
        os.unlink(path)
        self.write(keep=1, after=1)
        self.assertEqual(1, len(self.names()))

    def test_files_of_others_stay(self) -> None:
        others = [
            '.kronos-report-abc.tmp',
            '.kronos-report-notes.txt',
            'kronos-report-20200101T000000.000000Z-x.htm',
            'kronos-report-20200101T000000.000000Z-x.json.bak',
            'kronos-report-mine.html',
            'kronos-report-mine.json',
            'notes.txt',
        ]
        for name in others:
            pathlib.Path(self.folder, name).write_text('mine')
        for n in range(3):
            self.write(keep=1, after=n)
        self.assertEqual(others, [n for n in self.names() if n in others])
        self.assertEqual(len(others) + 1, len(self.names()))

    def test_no_such_directory(self) -> None:
        missing = f'{self.folder}/missing'
        self.assertIsNone(store.write(missing, DOCUMENT, 9, NOW))
        self.assertIn(f'report_dir {missing}', self.log.output)
        self.assertIn('No such file or directory', self.log.output)
        self.assertIn(UUID, self.log.output)

    def test_a_file_in_place_of_the_directory(self) -> None:
        path = f'{self.folder}/file'
        pathlib.Path(path).touch()
        self.assertIsNone(store.write(path, DOCUMENT, 9, NOW))
        self.assertIn('Not a directory', self.log.output)

    def test_what_cannot_be_written_leaves_nothing(self) -> None:
        """A name that is taken by a directory cannot be replaced."""
        path = str(self.write())
        os.unlink(path)
        os.mkdir(path)
        self.assertIsNone(self.write())
        self.assertEqual([os.path.basename(path)], self.names())
        self.assertIn('could not be written to report_dir', self.log.output)

    def test_what_is_no_json_leaves_nothing(self) -> None:
        self.assertIsNone(self.write(scopes=[float('nan')]))
        self.assertEqual([], self.names())
        self.assertIn('could not be written to report_dir', self.log.output)

    def test_it_is_kept_although_older_ones_cannot_be_deleted(self) -> None:
        """What is written is not called lost."""
        blocker = 'kronos-report-20200101T000000.000000Z-x.json'
        os.mkdir(f'{self.folder}/{blocker}')
        path = str(self.write(keep=1))
        self.assertEqual(DOCUMENT, json.loads(pathlib.Path(path).read_text()))
        self.assertIn(
            f'Old reports in report_dir {self.folder} could not be deleted',
            self.log.output,
        )
        self.assertNotIn('could not be written', self.log.output)

    def test_what_a_killed_engine_left_goes_after_a_day(self) -> None:
        """Younger ones may be written just now; others' files stay."""
        names = ('.kronos-report-ab_1cd2e.tmp', '.kronos-report-abcdefgh.tmp')
        ages = (25, 23)
        others = ('.kronos-report-mine.tmp', 'kronos-report-ab_1cd2e.tmp')
        for name, hours in (*zip(names, ages, strict=True), (others[0], 99)):
            path = pathlib.Path(self.folder, name)
            path.write_text('half')
            then = (NOW - datetime.timedelta(hours=hours)).timestamp()
            os.utime(path, (then, then))
        path = str(self.write())
        self.assertEqual(
            sorted([names[1], others[0], os.path.basename(path)]), self.names()
        )


class TestWritePage(WriteTestCase):
    def test_beside_the_report(self) -> None:
        path = str(self.write())
        beside = str(store.write_page(path, '<!DOCTYPE html>\n\u00e9'))
        self.assertEqual(path.replace('.json', '.html'), beside)
        file = pathlib.Path(beside)
        self.assertEqual('<!DOCTYPE html>\n\u00e9\n', file.read_text())
        self.assertEqual(0o640, stat.S_IMODE(file.stat().st_mode))

    def test_what_is_no_text_leaves_nothing(self) -> None:
        path = str(self.write())
        self.assertIsNone(store.write_page(path, '\ud800'))
        self.assertEqual([os.path.basename(path)], self.names())
        self.assertIn('The page of report', self.log.output)

    def test_the_directory_is_gone(self) -> None:
        missing = f'{self.folder}/missing/kronos-report.json'
        self.assertIsNone(store.write_page(missing, 'page'))
        self.assertIn('No such file or directory', self.log.output)
