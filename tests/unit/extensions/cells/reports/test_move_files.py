# SPDX-License-Identifier: Apache-2.0
"""Is a move's evidence written whole, bounded, and never at its expense?"""

import datetime
import json
import os
import pathlib
import stat
from typing import Any

import fixtures
from oslotest import base

from kronos.extensions.cells.reports import move_files

UUID = '0d1e3f4a-0000-4000-8000-000000000001'
DOCUMENT = {'outcome': 'moved', 'told': 'o1 -> n1'}
NOW = datetime.datetime(2026, 3, 1, 13, 30, 0, 250, tzinfo=datetime.UTC)
NAME = f'kronos-cell-move-20260301T133000.000250Z-{UUID}.json'


class TestWrite(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def write(self, reports: int = 9, **fields: Any) -> str | None:
        return move_files.write(
            self.folder, DOCUMENT | fields, UUID, reports, NOW
        )

    def touch(self, name: str) -> str:
        pathlib.Path(self.folder, name).touch()
        return name

    def older(self, count: int) -> list[str]:
        """So many of a minute before, the oldest first."""
        return [
            self.touch(f'kronos-cell-move-20260301T132900.{n:06d}Z-x.json')
            for n in range(count)
        ]

    def test_name_content_and_mode(self) -> None:
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.assertEqual(f'{self.folder}/{NAME}', self.write())
        self.assertEqual([NAME], self.names())
        file = pathlib.Path(self.folder, NAME)
        self.assertEqual(DOCUMENT, json.loads(file.read_text()))
        self.assertEqual(0o640, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual('', self.log.output)

    def test_names_are_in_utc(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        move_files.write(self.folder, DOCUMENT, UUID, 9, NOW.astimezone(zone))
        self.assertEqual([NAME], self.names())

    def test_the_oldest_go(self) -> None:
        """As many moves stay for each report as a plan may have."""
        older = self.older(2 * move_files.MOVES + 1)
        self.write(reports=2)
        self.assertEqual([*older[2:], NAME], self.names())

    def test_files_of_others_stay(self) -> None:
        others = [
            '.kronos-cell-move-notes.txt',
            'kronos-cell-move-20200101T000000.000000Z-x.html',
            'kronos-cell-move-mine.json',
            f'kronos-report-20200101T000000.000000Z-{UUID}.json',
        ]
        for name in others:
            self.touch(name)
        older = self.older(move_files.MOVES)
        self.write(reports=1)
        self.assertEqual(sorted([*others, *older[1:], NAME]), self.names())

    def test_what_a_killed_applier_left_goes_after_a_day(self) -> None:
        names = [
            self.touch(f'.kronos-cell-move-{name}.tmp')
            for name in ('ab_1cd2e', 'abcdefgh')
        ]
        for name, hours in zip(names, (25, 23), strict=True):
            then = (NOW - datetime.timedelta(hours=hours)).timestamp()
            os.utime(f'{self.folder}/{name}', (then, then))
        self.write()
        self.assertEqual([names[1], NAME], self.names())

    def test_no_such_directory(self) -> None:
        missing = f'{self.folder}/missing'
        self.assertIsNone(move_files.write(missing, DOCUMENT, UUID, 9, NOW))
        for words in (
            f'evidence of action {UUID} cannot be kept',
            f'report_dir {missing}',
            'No such file or directory',
        ):
            self.assertIn(words, self.log.output)

    def test_what_cannot_be_written_leaves_nothing(self) -> None:
        """A name that is taken by a directory cannot be replaced."""
        os.mkdir(f'{self.folder}/{NAME}')
        self.assertIsNone(self.write())
        self.assertEqual([NAME], self.names())
        self.assertIn('cannot be kept', self.log.output)

    def test_what_is_no_json_leaves_nothing(self) -> None:
        for value in (float('nan'), object()):
            self.assertIsNone(self.write(told=value))
            self.assertEqual([], self.names())
        self.assertEqual(2, self.log.output.count('cannot be kept'))

    def test_it_is_kept_although_older_ones_cannot_be_deleted(self) -> None:
        """What is written is not called lost."""
        os.mkdir(
            f'{self.folder}/kronos-cell-move-20200101T000000.000000Z-x.json'
        )
        self.older(move_files.MOVES)
        path = str(self.write(reports=1))
        self.assertEqual(DOCUMENT, json.loads(pathlib.Path(path).read_text()))
        self.assertIn(
            f'Old evidence in report_dir {self.folder} cannot be deleted',
            self.log.output,
        )
        self.assertNotIn('cannot be kept', self.log.output)
