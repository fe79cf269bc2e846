# SPDX-License-Identifier: Apache-2.0
"""The movable instances: by a live migration, or to another cell.

Planner and explanation ask here; what may be moved how, the modules beside
this one say.
"""

from kronos.engine.eligibility import cell_moves, instances
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Snapshot


def reasons(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> list[Reason]:
    """Why an instance must stay in the plan that is asked for, all of it."""
    if settings.cell_drain is not None:
        return cell_moves.reasons(instance, snapshot, settings)
    return instances.reasons(instance, settings)


def why_not(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> Reason | None:
    """The first of them; None if it may be moved."""
    return next(iter(reasons(instance, snapshot, settings)), None)
