# SPDX-License-Identifier: Apache-2.0
"""Does a move to another cell wait as its action would have it wait?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.actions.core.context import Patience
from kronos.common import exceptions
from kronos.extensions.cells.actions.context import CellMoveContext

PATIENCE = {one.name for one in dataclasses.fields(Patience)}


def context_of(patience: Patience) -> CellMoveContext:
    """As the action makes it; whom the move asks is not asked here."""
    others: dict[str, Any] = {
        one.name: None
        for one in dataclasses.fields(CellMoveContext)
        if one.name not in PATIENCE
    }
    return CellMoveContext(**vars(patience), **others)


class TestCellMoveContext(base.BaseTestCase):
    def test_all_of_the_patience_is_in_it(self) -> None:
        given: dict[str, Any] = {name: lambda *args: None for name in PATIENCE}
        context = context_of(Patience(**given))
        for name, value in given.items():
            self.assertIs(value, getattr(context, name), name)

    def test_it_notices_that_its_plan_was_cancelled(self) -> None:
        cancelled = [False, True]
        context = context_of(
            Patience(is_cancelled=lambda: cancelled.pop(0), tell=str)
        )
        context.stop_if_cancelled()
        self.assertRaises(
            exceptions.MigrationCancelled, context.stop_if_cancelled
        )
