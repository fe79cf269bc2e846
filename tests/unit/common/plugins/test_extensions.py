# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions; one of another package is an example."""

import pathlib
import sys

import fixtures
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.common.plugins import extensions
from kronos.engine.extension import Extension
from kronos.reports.parts import ReportPart


def install(test: base.BaseTestCase, group: str) -> None:
    """Install a package with an extension that is none."""
    site = pathlib.Path(test.useFixture(fixtures.TempDir()).path)
    where = site / 'rack-1.dist-info'
    where.mkdir()
    (where / 'METADATA').write_text('Name: rack\nVersion: 1\n')
    entry = f'[{group}]\nrack = pathlib:Path\n'
    (where / 'entry_points.txt').write_text(entry)
    path = fixtures.MonkeyPatch('sys.path', [str(site), *sys.path])
    test.useFixture(path)


class TestRegistry(base.BaseTestCase):
    def test_each_has_its_name(self) -> None:
        self.assertLessEqual({'cells', 'recovery'}, {*extensions.names()})
        for name in extensions.names():
            self.assertEqual(name, extensions.kind(name, Extension).name)

    def test_unknown(self) -> None:
        found = self.assertRaises(
            ConfigurationError, extensions.kind, 'other', Extension
        )
        self.assertIn('there is no extension "other"', str(found))

    def test_one_that_cannot_be_loaded(self) -> None:
        install(self, extensions.NAMESPACE)
        found = self.assertRaises(
            ConfigurationError, extensions.kind, 'rack', Extension
        )
        self.assertIn(
            'the extension rack of the package rack cannot be loaded: it is '
            'no subclass of kronos.engine.extension.Extension',
            str(found),
        )


class TestParts(base.BaseTestCase):
    def test_own(self) -> None:
        """Each is of an extension that there is."""
        for layer in ('audits', 'commands', 'recordings', 'reports'):
            parts = extensions.parts(layer, object).keys()
            self.assertNotEqual(set(), parts)
            self.assertEqual(set(), parts - {*extensions.names()})

    def test_one_that_cannot_be_loaded(self) -> None:
        install(self, f'{extensions.NAMESPACE}.reports')
        error = self.assertRaises(
            ConfigurationError, extensions.parts, 'reports', ReportPart
        )
        self.assertIn(
            'what an extension adds to reports: rack of the package rack '
            'cannot be loaded',
            str(error),
        )
