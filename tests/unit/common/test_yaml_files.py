# SPDX-License-Identifier: Apache-2.0
"""Are files of people read within bounds, and is it told what is wrong?"""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.common import yaml_files


class TestText(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = (
            pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'f'
        )

    def reason(self) -> str:
        return str(
            self.assertRaises(
                yaml_files.Unreadable, yaml_files.text_of, str(self.path)
            )
        )

    def test_what_cannot_be_read(self) -> None:
        self.assertEqual(
            'it cannot be read: No such file or directory', self.reason()
        )
        self.path.write_bytes(b'\xff')
        self.assertEqual('it is not UTF-8 text', self.reason())
        os.mkfifo(self.path.with_name('pipe'))
        self.path = self.path.with_name('pipe')
        self.assertEqual(
            'it cannot be read: it is no plain file', self.reason()
        )
        self.path = self.path.with_name('large')
        self.path.write_text('x' * (yaml_files.MAX_BYTES + 1))
        self.assertEqual('it has more than 131072 bytes', self.reason())

    def test_a_text(self) -> None:
        self.path.write_text('a: 1')
        self.assertEqual('a: 1', yaml_files.text_of(str(self.path)))


class TestData(base.BaseTestCase):
    def test_plain_values(self) -> None:
        self.assertEqual({'a': [1, 'b']}, yaml_files.data_of('a: [1, b]'))

    def test_what_is_refused(self) -> None:
        for text, reason in (
            ('a: 1\na: 2', 'line 2: the key a comes twice'),
            ('a: [', 'line 1: expected the node content'),
            ('[' * 60, 'it is nested too deeply'),
            ('- ' * 5000 + 'a', 'it is nested too deeply'),
            ('a: 2026-99-01', 'line 1: month must be in 1..12'),
            ('a: !!python/object:os.system {}', 'could not determine'),
            ('a: 1\nb: !!set {a, b}', 'line 2: could not determine'),
            ('!!omap [a: b]', 'line 1: could not determine'),
            ('!!pairs [a: b]', 'line 1: could not determine'),
            ('!!binary aGFsbG8=', 'line 1: could not determine'),
            ('a: "\\ud800"', 'line 1: an escape is half of'),
            ('{"\\ud800": 1, "\\ud800": 2}', 'line 1: an escape is half of'),
            ('{"\\e": 1, "\\e": 2}', 'the key ? comes twice'),
            ('{[a]: b}', 'line 1: found unhashable key'),
            ('- &a b\n' + '- *a\n' * 101, 'more than 100 aliases'),
        ):
            error = self.assertRaises(
                yaml_files.Unreadable, yaml_files.data_of, text
            )
            self.assertIn(reason, str(error))


class TestWords(base.BaseTestCase):
    def test_a_value(self) -> None:
        for value, words in (
            (True, 'true'),
            ('a', "'a'"),
            ('a' * 99, "'" + 'a' * 59 + '...'),
            (10**99, 'so huge a number'),
            (1.5, '1.5'),
            (None, 'nothing'),
            ([], 'a list'),
            ({}, 'a mapping'),
        ):
            self.assertEqual(words, yaml_files.shown(value))
