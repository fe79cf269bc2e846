# SPDX-License-Identifier: Apache-2.0
"""HiGHS, which solves the programs; scipy has it, and is an extra.

It prints to stdout, where the JSON of a command goes, so that is closed.
"""

from types import ModuleType
from typing import Any

import numpy as np

from kronos.common.processes import standard_output
from kronos.engine.arrays import FloatArray
from kronos.engine.planning.proof import exact_model

INFEASIBLE, OTHER = 2, 4
"""scipy's words for how a program ended."""


def solver() -> ModuleType | None:
    """What solves; None: scipy is not installed."""
    return exact_model.solver()


def whole(
    costs: FloatArray,
    matrix: Any,
    limits: tuple[FloatArray, FloatArray],
    upper: FloatArray,
    options: dict[str, float],
) -> Any:
    """Whole numbers from 0 with the least costs, as scipy's result.

    :param limits: of the rows, the lowest and the highest sums
    :param upper: of the numbers
    :param options: limits of nodes only: with one of time, two runs would
        not have the same plan
    :raises RuntimeError: scipy is not installed
    """
    optimize = _required()
    with standard_output.closed():
        return optimize.milp(
            costs,
            constraints=optimize.LinearConstraint(matrix, *limits),
            integrality=np.ones(len(costs)),
            bounds=optimize.Bounds(0, upper),
            options=options,
        )


def is_infeasible(solution: Any) -> bool:
    """Whether no numbers satisfy the rows, which is proven.

    HiGHS has a word for "infeasible or unbounded"; these numbers are bounded.
    """
    is_either = solution.status == OTHER and 'infeasible' in solution.message
    return solution.x is None and (solution.status == INFEASIBLE or is_either)


def mixed(costs: FloatArray, matrix: Any, limits: FloatArray) -> Any:
    """Numbers from 0, parts allowed, with the least costs.

    :param limits: of the rows, the highest sums
    :raises RuntimeError: scipy is not installed
    """
    optimize = _required()
    with standard_output.closed():
        return optimize.linprog(
            costs, A_ub=matrix, b_ub=limits, bounds=(0, None), method='highs'
        )


def _required() -> ModuleType:
    optimize = solver()
    if optimize is None:
        raise RuntimeError('scipy is not installed')
    return optimize
