# SPDX-License-Identifier: Apache-2.0
"""Are recordings of audits kept whole, so many, and so long?"""

import datetime
import os
import pathlib
import shutil

import fixtures
from oslotest import base

from kronos.recordings import load, store
from tests.builders import recordings

NOW = datetime.datetime(2026, 3, 9, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


class TestKeeping(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def keep(
        self, now: datetime.datetime = NOW, count: int = 9, days: int = 30
    ) -> str | None:
        return store.keep(
            str(self.folder),
            recordings.small(),
            'an-audit',
            store.Bounds(count, days),
            now,
        )

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def test_kept(self) -> None:
        path = self.keep()
        assert path is not None
        self.assertEqual(
            ['kronos-recording-20260309T120000.000000Z-an-audit'],
            self.names(),
        )
        self.assertEqual('kronos_spread', load.read(path).strategy)

    def test_bounded_by_count(self) -> None:
        paths = [self.keep(NOW + hour * HOUR, 2) for hour in range(4)]
        self.assertEqual(
            [os.path.basename(path or '') for path in paths[2:]],
            self.names(),
        )

    def test_bounded_by_age(self) -> None:
        self.keep(NOW)
        last = self.keep(NOW + 25 * HOUR, days=1)
        self.assertEqual([os.path.basename(last or '')], self.names())

    def test_others_stay(self) -> None:
        """What is not ours by its name and kind is never deleted."""
        name = 'kronos-recording-20200101T000000.000000Z-x'
        (self.folder / name).symlink_to('/')
        (self.folder / f'{name}-file').touch()
        (self.folder / 'mine').mkdir()
        self.keep(days=1)
        self.assertLessEqual({name, f'{name}-file', 'mine'}, {*self.names()})

    def test_what_was_left_unfinished(self) -> None:
        old, young = (self.folder / f'.kronos-recording-{n}' for n in 'ab')
        old.mkdir()
        young.mkdir()
        for path, age in ((old, 25 * HOUR), (young, HOUR)):
            moment = (NOW - age).timestamp()
            os.utime(path, (moment, moment))
        self.keep()
        self.assertFalse(old.exists())
        self.assertTrue(young.exists())

    def test_nowhere_to_write(self) -> None:
        shutil.rmtree(self.folder)
        self.assertIsNone(self.keep())
        self.assertIn('recording of audit an-audit is lost', self.log.output)
        self.folder.mkdir()

    def test_names_of_audits(self) -> None:
        path = store.keep(
            str(self.folder),
            recordings.small(),
            '../../x',
            store.Bounds(1, 1),
            NOW,
        )
        self.assertEqual([os.path.basename(path or '')], self.names())
