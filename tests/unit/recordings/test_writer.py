# SPDX-License-Identifier: Apache-2.0
"""Is a recording written whole, and always as format 1 is?"""

import json
import math
import os
import pathlib
import stat
from unittest import mock

from kronos.common.exceptions import ArchiveError
from kronos.recordings import load, reader, writer
from tests import places
from tests.builders import recordings
from tests.unit.recordings import test_load


def texts_of(folder: pathlib.Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob('*')
        if path.is_file()
    }


class TestFiles(test_load.ArchiveTestCase):
    def test_examples_again(self) -> None:
        """What was read is written as it was, byte for byte."""
        names = 0
        for path in places.EXAMPLES.glob('*/meta.json'):
            names += 1
            before = texts_of(path.parent)
            after = writer.files(load.read(str(path.parent)))
            # Settings are added as time goes by, and exchanges of two
            # instances were a yes or a no once.
            old = json.loads(before.pop(reader.META))
            new = json.loads(after.pop(reader.META))
            for key in ('settings', 'configured'):
                was, now = old.pop(key) or {}, new.pop(key) or {}
                if was.get('swap_moves') is True:
                    was['swap_moves'] = 'safe'
                self.assertLessEqual(was.items(), now.items())
            with self.subTest(name=path.parent.name):
                self.assertEqual(old, new)
                self.assertEqual(before, after)
        self.assertGreater(names, 5)

    def test_every_recording_again(self) -> None:
        """What came from another format, too."""
        for path in (
            recordings.DAEMONS,
            *places.CLUSTERS.glob('*.json'),
            *(one.parent for one in places.EXAMPLES.glob('*/meta.json')),
        ):
            one = writer.files(load.read(str(path)))
            target = self.folder / 'again'
            load.write(str(target), load.read(str(path)), replace=True)
            with self.subTest(path=path):
                self.assertEqual(one, texts_of(target))
                self.assertEqual(one, writer.files(load.read(str(target))))

    def test_template_of_cooldowns(self) -> None:
        self.write(seeds=recordings.Seeds())
        self.assertEqual(
            {
                'aggregate_cooldowns': {},
                'instance_cooldowns': {},
                'instance_quarantines': {},
            },
            json.loads((self.path / 'cooldowns.json').read_text()),
        )

    def test_files_are_for_people(self) -> None:
        """One row a line, and for nobody else to write."""
        self.write()
        lines = (self.path / 'nova/instances.json').read_text().splitlines()
        self.assertEqual(8 + 2, len(lines))
        for path in self.path.rglob('*'):
            wanted = 0o750 if path.is_dir() else 0o640
            self.assertEqual(wanted, stat.S_IMODE(path.stat().st_mode))


class TestWholeOrNothing(test_load.ArchiveTestCase):
    def refused(self, target: pathlib.Path) -> str:
        before = sorted(self.folder.rglob('*'))
        error = self.assertRaises(
            ArchiveError, load.write, str(target), recordings.small()
        )
        self.assertEqual(before, sorted(self.folder.rglob('*')))
        return str(error)

    def test_what_is_there_stays(self) -> None:
        self.path.mkdir()
        self.write()
        self.assertIn('something already', self.refused(self.path))
        (self.folder / 'file').touch()
        self.refused(self.folder / 'file')
        (self.folder / 'link').symlink_to(self.folder / 'elsewhere')
        self.refused(self.folder / 'link')

    def test_no_place(self) -> None:
        text = self.refused(self.folder / 'none' / 'recording')
        self.assertIn('cannot be written: No such file', text)

    def test_broken_off(self) -> None:
        """What cannot be written leaves nothing behind."""
        one = recordings.small()
        one.gathered.events[0].at = math.nan
        self.assertRaises(ValueError, load.write, str(self.path), one)
        self.assertEqual([], os.listdir(self.folder))

    def test_another_recording(self) -> None:
        """It goes where that is asked for, and comes back after a failure."""
        self.write()
        before = texts_of(self.path)
        other = recordings.small(strategy='kronos_evacuate')
        self.assertIn('replace it with --force', self.refused(self.path))
        with mock.patch('os.fsync', side_effect=OSError(28, 'No space')):
            error = self.assertRaises(
                ArchiveError, load.write, str(self.path), other, replace=True
            )
        self.assertIn('cannot be written: No space', str(error))
        self.assertEqual(before, texts_of(self.path))
        load.write(str(self.path), other, replace=True)
        self.assertEqual(['recording'], os.listdir(self.folder))
        found = load.read(str(self.path))
        self.assertEqual('kronos_evacuate', found.strategy)
