# SPDX-License-Identifier: Apache-2.0
"""The movable instances: by a live migration, or to another cell.

Planner and explanation ask here; what may be moved how, the modules beside
this one say.
"""

from collections.abc import Callable

from kronos.engine.eligibility import cell_moves, instances
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Snapshot

Rule = Callable[[Instance], list[Reason]]
"""Says why an instance must stay, all of it, in a fixed order."""


def rule(
    snapshot: Snapshot, settings: Settings, bandwidth: Callable[[], float]
) -> Rule:
    """Who says it, in the plan that is asked for.

    :param bandwidth: MiB per second that a live migration copies
    """
    if settings.cell_drain is not None:
        return cell_moves.CellMoves(snapshot, settings).reasons

    def reasons(instance: Instance) -> list[Reason]:
        found = instances.reasons(instance, settings)
        if instance.dirty_rate:
            found += instances.too_dirty(instance, bandwidth())
        return found

    return reasons
