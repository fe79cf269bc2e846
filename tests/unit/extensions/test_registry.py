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
        site = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        where = site / 'rack-1.dist-info'
        where.mkdir()
        (where / 'METADATA').write_text('Name: rack\nVersion: 1\n')
        entry = f'[{registry.NAMESPACE}]\nrack = pathlib:Path\n'
        (where / 'entry_points.txt').write_text(entry)
        path = fixtures.MonkeyPatch('sys.path', [str(site), *sys.path])
        self.useFixture(path)
        found = self.assertRaises(ConfigurationError, registry.make, 'rack')
        self.assertIn(
            'the extension rack of the package rack cannot be loaded: it is '
            'no subclass of kronos.engine.extension.Extension',
            str(found),
        )
