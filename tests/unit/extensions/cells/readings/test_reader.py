# SPDX-License-Identifier: Apache-2.0
"""When does a cell drain read what it needs?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings
from kronos.extensions.cells.readings.reader import CellReader
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Look
from kronos.snapshots.scopes import Cloud


def unknown() -> list[Any]:
    raise ConfigurationError('the database does not tell')


class TestReader(base.BaseTestCase):
    def test_other_audits(self) -> None:
        """Nobody is asked for them."""
        gathered = CloudInventory(Cloud({}, {}, []), {})
        nobody: Any = None
        CellReader(begun=unknown).read(
            Look(gathered, {}, nobody, nobody, Settings(), print)
        )
        self.assertEqual({}, gathered.beside)

    def test_moves_come_first(self) -> None:
        """An audit that does not know them must not look on."""
        reader = CellReader(begun=unknown)
        self.assertRaises(ConfigurationError, reader.recall)
