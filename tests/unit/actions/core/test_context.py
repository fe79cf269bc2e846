# SPDX-License-Identifier: Apache-2.0
"""Does every kind of move get what all of them need?"""

import dataclasses

from oslotest import base

from kronos.actions.core.context import MoveContext, Patience
from kronos.actions.live.context import MigrationContext
from kronos.extensions.cells.actions.context import CellMoveContext


def fields(kind):
    return {field.name for field in dataclasses.fields(kind)}


class TestMoveContext(base.BaseTestCase):
    def test_each_kind_has_all_of_it(self):
        self.assertLess(fields(Patience), fields(MoveContext))
        for kind in (MigrationContext, CellMoveContext):
            self.assertLess(fields(MoveContext), fields(kind), kind)
