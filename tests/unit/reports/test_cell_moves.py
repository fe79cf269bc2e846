# SPDX-License-Identifier: Apache-2.0
"""Is the evidence of moves kept, bounded, and never at a move's expense?"""

import datetime
import json
import os
import pathlib
import stat
from typing import Any

import fixtures
from oslotest import base

from kronos.reports import cell_moves

UUID = '0d1e3f4a-0000-4000-8000-000000000001'
DOCUMENT = {'format': 'cell_move/1', 'outcome': 'moved'}
NOW = datetime.datetime(2026, 3, 1, 13, 30, 0, 250, tzinfo=datetime.UTC)


class CellMovesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = self.useFixture(fixtures.TempDir()).path

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def write(
        self, reports: int = 9, after: int = 0, **fields: Any
    ) -> str | None:
        return cell_moves.write(
            self.folder,
            DOCUMENT | fields,
            UUID,
            reports,
            NOW + datetime.timedelta(seconds=after),
        )

    def test_name_content_and_mode(self) -> None:
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        path = self.write()
        name = f'kronos-cell-move-20260301T133000.000250Z-{UUID}.json'
        self.assertEqual(f'{self.folder}/{name}', path)
        self.assertEqual([name], self.names())
        file = pathlib.Path(self.folder, name)
        self.assertEqual(DOCUMENT, json.loads(file.read_text()))
        self.assertEqual(0o640, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual('', self.log.output)

    def test_names_are_in_utc(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        cell_moves.write(self.folder, DOCUMENT, UUID, 9, NOW.astimezone(zone))
        self.assertIn('T133000', self.names()[0])

    def test_the_oldest_go(self) -> None:
        """As many stay as there may be moves in the reports that are kept."""
        self.useFixture(fixtures.MockPatchObject(cell_moves, 'MOVES', 2))
        paths = [self.write(reports=1, after=n) for n in (3, 0, 1, 2)]
        kept = [os.path.basename(str(paths[at])) for at in (3, 0)]
        self.assertEqual(kept, self.names())

    def test_other_files_stay(self) -> None:
        """Those of reports are counted by themselves."""
        self.useFixture(fixtures.MockPatchObject(cell_moves, 'MOVES', 1))
        other = f'kronos-report-20200301T133000.000250Z-{UUID}.json'
        pathlib.Path(self.folder, other).touch()
        for after in range(3):
            self.write(reports=1, after=after)
        self.assertEqual(2, len(self.names()))
        self.assertIn(other, self.names())

    def test_a_folder_that_is_not_there(self) -> None:
        """The move is what matters."""
        self.folder += '/gone'
        self.assertIsNone(self.write())
        self.assertIn(f'evidence of action {UUID}', self.log.output)
        self.assertIn(self.folder, self.log.output)

    def test_what_is_no_json(self) -> None:
        for value in (float('nan'), object()):
            self.assertIsNone(self.write(value=value))
            self.assertEqual([], self.names())
        self.assertIn('cannot be kept', self.log.output)
