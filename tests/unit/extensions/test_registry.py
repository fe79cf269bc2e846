# SPDX-License-Identifier: Apache-2.0
"""The registry of extensions; one of another package is an example."""

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
