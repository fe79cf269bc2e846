# SPDX-License-Identifier: Apache-2.0
"""The target-cell constraint: what leaves its cell goes to a target cell."""

from typing import Self

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, KeyedConstraint
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput
from kronos.extensions.cells import cell_drain


class TargetCell(KeyedConstraint[str, bool]):
    """What leaves the cell that is emptied goes to a target cell.

    :param instance_keys: [V], the cells where the instances are
    :param host_keys: [H], whether the host is in a target cell
    """

    codes = frozenset({Code.CELL_SOURCE})

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        drain = cell_drain.of(inputs.settings)
        if drain is None:
            return None
        cells = [host.cell for host in inputs.hosts]
        return cls(
            [cells[host] for host in inputs.host_of.tolist()],
            [cell in drain.targets for cell in cells],
        )

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """The host is in the first of them."""
        drain = cell_drain.of(case.settings)
        if drain is None:
            return case
        return edits.with_host(case, pair.destination, cell=drain.targets[0])

    @staticmethod
    def why(key: str, other: bool) -> Reason | None:
        if other:
            return None
        return Reason('the host is in no target cell', Code.CELL_SOURCE)
