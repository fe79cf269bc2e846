# SPDX-License-Identifier: Apache-2.0
"""Are changed rules read again, and do the last good ones hold?"""

import logging
import os
import pathlib

import fixtures
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.monitor.rules import file
from kronos.monitor.rules.file import WatchedRules

GOOD = 'rules: [{name: %s, action: send}]'


class FileTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'event_rules.yaml'
        self.path.write_text(GOOD % 'first')

    def watched(self) -> WatchedRules:
        return WatchedRules(str(self.path), ['hook'])

    def names(self, held: WatchedRules) -> list[str]:
        held.refresh()
        return [rule.name for rule in held.rules]


class TestRefresh(FileTestCase):
    def test_changed(self) -> None:
        held = self.watched()
        self.assertEqual(['first'], self.names(held))
        self.path.write_text(GOOD % 'another')
        self.assertEqual(['another'], self.names(held))
        self.assertTrue(held.is_valid)

    def test_broken_and_mended(self) -> None:
        held = self.watched()
        self.path.write_text('rules: 7')
        self.assertEqual(['first'], self.names(held))
        self.assertFalse(held.is_valid)
        self.assertIn('must be a list of 1 to 1000 rules', self.log.output)
        self.assertEqual(['first'], self.names(held))
        self.assertEqual(1, self.log.output.count('must be a list'))
        self.path.write_text(GOOD % 'mended')
        self.assertEqual(['mended'], self.names(held))
        self.assertTrue(held.is_valid)

    def test_never_valid_unless_it_was_read(self) -> None:
        held = self.watched()
        for number, text in enumerate(
            (
                'rules: !!set {a, b}',
                'rules: !!omap [a: b]',
                'rules: "\\ud800"',
                'rules: [{1: 2}]',
                'rules: &a [*a]',
                '[' * 99_999,
                'a: {' * 20_000,
                '\0',
            )
        ):
            self.path.write_text(text + ' ' * number)
            self.assertEqual(['first'], self.names(held))
            self.assertFalse(held.is_valid, text)
        self.path.unlink()
        os.mkfifo(self.path)
        self.assertEqual(['first'], self.names(held))
        self.assertFalse(held.is_valid)
        self.assertIn('it is no plain file', self.log.output)

    def test_gone(self) -> None:
        held = self.watched()
        self.path.unlink()
        self.assertEqual(['first'], self.names(held))
        self.assertFalse(held.is_valid)
        self.assertIn('it is gone', self.log.output)


class TestStart(FileTestCase):
    def test_broken(self) -> None:
        self.path.write_text('rules: 7')
        self.assertRaises(ConfigurationError, self.watched)

    def test_none(self) -> None:
        self.path.unlink()
        error = self.assertRaises(ConfigurationError, self.watched)
        self.assertIn('it cannot be read: No such file', str(error))

    def test_none_at_the_default_path(self) -> None:
        self.path.unlink()
        self.useFixture(
            fixtures.MonkeyPatch(
                f'{file.__name__}.DEFAULT_PATH', str(self.path)
            )
        )
        held = self.watched()
        self.assertEqual(
            ['ended', 'stands-still', 'degraded'], self.names(held)
        )
        self.assertEqual('the default rules', held.place)
        self.path.write_text(GOOD % 'own')
        self.assertEqual(['own'], self.names(held))
