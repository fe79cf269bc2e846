# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions; one of another package is an example."""

import pathlib
import sys

import fixtures
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.extension import PLAIN
from kronos.extensions import registry
from kronos.extensions.cells.cell_drain import CellDrain
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
    def test_none(self) -> None:
        self.assertIs(PLAIN, registry.make(''))

    def test_own(self) -> None:
        """Each under its name, with what was asked."""
        asked = CellDrain('old', ['new'])
        for name in registry.OWN:
            found = registry.make(name, asked)
            self.assertEqual((name, asked), (found.name, found.asked))

    def test_unknown(self) -> None:
        found = self.assertRaises(ConfigurationError, registry.make, 'other')
        self.assertIn('there is no extension "other"', str(found))

    def test_one_that_cannot_be_loaded(self) -> None:
        install(self, registry.NAMESPACE)
        found = self.assertRaises(ConfigurationError, registry.make, 'rack')
        self.assertIn(
            'the extension rack of the package rack cannot be loaded: it is '
            'no subclass of kronos.engine.extension.Extension',
            str(found),
        )


class TestParts(base.BaseTestCase):
    def test_own(self) -> None:
        """Each is of an extension that there is."""
        for layer, own in registry.OWN_PARTS.items():
            self.assertLessEqual(own.keys(), registry.OWN.keys())
            self.assertLessEqual(
                own.keys(), registry.parts(layer, object).keys()
            )

    def test_one_that_cannot_be_loaded(self) -> None:
        install(self, f'{registry.NAMESPACE}.reports')
        error = self.assertRaises(
            ConfigurationError, registry.parts, 'reports', ReportPart
        )
        self.assertIn(
            'what an extension adds to reports: rack of the package rack '
            'cannot be loaded',
            str(error),
        )
