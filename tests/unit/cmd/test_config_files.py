# SPDX-License-Identifier: Apache-2.0
"""Are the configuration files read that a service would read?"""

import argparse
import os
import pathlib

import fixtures
from oslotest import base

from kronos.cmd import config_files
from kronos.common import exceptions


class FilesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def file(self, name: str, text: str = '') -> str:
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)


class TestPaths(FilesTestCase):
    def test_files_and_directories(self) -> None:
        one, folder = self.file('a.conf'), str(self.top)
        result = config_files.paths([one, folder])
        self.assertEqual(([one], [folder]), (result.files, result.folders))

    def test_what_stands_beside_a_file(self) -> None:
        """``FILE.d``, and what a service reads besides; once each."""
        one = self.file('nova.conf')
        for folder in ('nova.conf.d', 'nova-scheduler.conf.d'):
            (self.top / folder).mkdir()
        result = config_files.paths([one, one], ['nova-scheduler.conf.d'])
        self.assertEqual(
            ['nova.conf.d', 'nova-scheduler.conf.d'],
            [os.path.basename(folder) for folder in result.folders],
        )

    def test_the_order_of_reading(self) -> None:
        one = self.file('kronos.conf')
        later = [self.file(f'more/{name}.conf') for name in 'ba']
        self.file('more/c.txt')
        paths = config_files.Paths([one], [str(self.top / 'more')])
        self.assertEqual([one, *sorted(later)], paths.all_files)
        self.assertTrue(paths)
        self.assertFalse(config_files.Paths())

    def test_an_argument_that_cannot_be_read(self) -> None:
        one = self.file('a.conf')
        self.assertEqual(one, config_files.existing(one))
        self.assertEqual(str(self.top), config_files.existing(str(self.top)))
        error = self.assertRaises(
            argparse.ArgumentTypeError, config_files.existing, f'{one}.not'
        )
        self.assertIn('No such file', str(error))

    def test_pipes(self) -> None:
        """Reading one would wait for ever, but for one that is open."""
        pipe = str(self.top / 'more.conf')
        os.mkfifo(pipe)
        error = self.assertRaises(
            argparse.ArgumentTypeError, config_files.existing, pipe
        )
        self.assertIn('it is no plain file', str(error))
        for where in (
            config_files.Paths([pipe]),
            config_files.Paths([], [str(self.top)]),
        ):
            wrong = self.assertRaises(
                exceptions.ConfigurationError, config_files.load, where
            )
            self.assertIn(f'{pipe}: it is no plain file', str(wrong))
        ends = os.pipe()
        for end in ends:
            self.addCleanup(os.close, end)
        opened = f'/dev/fd/{ends[0]}'
        self.assertEqual(opened, config_files.existing(opened))
        for path in ('/dev/null', self.file('a.conf')):
            self.assertEqual(path, config_files.existing(path))


class TestLoad(FilesTestCase):
    def load(self, text: str) -> object:
        one = self.file('kronos.conf', text)
        return config_files.load(config_files.Paths([one]))

    def fails(self, text: str) -> str:
        return str(
            self.assertRaises(exceptions.ConfigurationError, self.load, text)
        )

    def test_options(self) -> None:
        conf = self.load('[kronos]\ncooldown = 7\n')
        self.assertEqual(7, conf.kronos.cooldown)  # type: ignore

    def test_directories_come_after_files(self) -> None:
        one = self.file('kronos.conf', '[kronos]\ncooldown = 7\n')
        self.file('more/a.conf', '[kronos]\ncooldown = 8\n')
        conf = config_files.load(
            config_files.Paths([one], [str(self.top / 'more')])
        )
        self.assertEqual(8, conf.kronos.cooldown)

    def test_a_line_that_is_none(self) -> None:
        """Its place is told, and nothing of it: it may be a password."""
        text = self.fails('[kronos]\nsecret words\n')
        self.assertIn('kronos.conf, line 2 is not in the format', text)
        self.assertNotIn('secret', text)

    def test_another_encoding(self) -> None:
        one = self.top / 'kronos.conf'
        one.write_bytes(b'[kronos]\n# \xff\xfe\n')
        error = self.assertRaises(
            exceptions.ConfigurationError,
            config_files.load,
            config_files.Paths([str(one)]),
        )
        self.assertIn('not UTF-8 text', str(error))
