# SPDX-License-Identifier: Apache-2.0
"""The cell constraint: no live migration crosses cells."""

from operator import attrgetter
from typing import Self

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, KeyedConstraint
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class SameCell(KeyedConstraint[str, str]):
    """Where cells are known, an instance stays in its own.

    :param instance_keys: [V], the cells where the instances are: no move
        changes them
    :param host_keys: [H], the cells; '' where one is not known
    """

    codes = frozenset({Code.CELL_CROSSED})
    subject = attrgetter('cells')

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        cells = inputs.cells
        if not cells:
            return None
        return cls([cells[host] for host in inputs.host_of.tolist()], cells)

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """Both hosts are in one cell."""
        hosts = case.snapshot.hosts
        ends = [hosts[pair.destination], hosts[pair.source]]
        cell = next((host.cell for host in ends if host.cell), 'one')
        for host in ends:
            case = edits.with_host(case, host.name, cell=cell)
        return case

    @staticmethod
    def why(key: str, other: str) -> Reason | None:
        if key and key == other:
            return None
        return Reason(
            f'the host is in cell {other or "unknown"}, not '
            f'{key or "unknown"}, and no live migration crosses cells',
            Code.CELL_CROSSED,
        )
