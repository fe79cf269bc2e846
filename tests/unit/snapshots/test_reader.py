# SPDX-License-Identifier: Apache-2.0
"""Does an audit that is no extension's read no more than others?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Look, Reader
from kronos.snapshots.scopes import Cloud


class TestReader(base.BaseTestCase):
    def test_nothing(self) -> None:
        gathered = CloudInventory(Cloud({}, {}, []), {})
        nobody: Any = None
        reader = Reader()
        reader.recall()
        reader.read(Look(gathered, {}, nobody, nobody, Settings(), print))
        self.assertEqual(CloudInventory(Cloud({}, {}, []), {}), gathered)
