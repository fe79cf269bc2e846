# SPDX-License-Identifier: Apache-2.0
"""The flavors of instances: what each asks for where it goes.

A live migration changes none. A move to another cell may: then it is the
new one that needs room and quota.
"""

from collections.abc import Mapping

from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Flavor, Instance, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import CellDrain, needs_of

RESOURCES = ('cores', 'ram')
"""Those of a quota that a larger flavor takes more of."""
NO_LIMIT = 2**62


def changed(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> Flavor | None:
    """The flavor that it gets; None if it keeps its own, or none is known."""
    drain = cell_drain.of(settings)
    if drain is None or not is_changed(instance, drain):
        return None
    return needs_of(snapshot).flavors.get(
        drain.new_flavor(instance.flavor) or ''
    )


def is_changed(instance: Instance, drain: CellDrain) -> bool:
    """Whether it gets another flavor than the one that it has."""
    return drain.new_flavor(instance.flavor) not in (None, instance.flavor)


def demand(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> dict[str, int]:
    """What it asks Placement for at its destination, by resource class."""
    new = changed(instance, snapshot, settings)
    if new is None:
        return instance.demand
    return new.demand(instance.is_volume_backed)


def more_quota(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> dict[str, int]:
    """What it takes of its project's quota beyond what it has, by resource.

    Nova looks at quota for a larger flavor only.
    """
    new = changed(instance, snapshot, settings)
    if new is None:
        return {}
    more = {
        'cores': new.vcpus - instance.vcpus,
        'ram': new.memory_mb - instance.memory_mb,
    }
    return {name: value for name, value in more.items() if value > 0}


def quota_reasons(
    need: Mapping[str, int], quota: Mapping[str, int]
) -> list[Reason]:
    """Why a project may not use so much more.

    :param quota: what it may still use, by resource; absent: no limit
    """
    reasons = []
    for name in RESOURCES:
        more, free = need.get(name, 0), max(quota.get(name, NO_LIMIT), 0)
        if more > free:
            text = (
                f'its new flavor needs {more} more of the quota {name} of '
                f'its project, {free} are left'
            )
            lacking = more - quota.get(name, NO_LIMIT)
            reasons.append(Reason(text, Code.QUOTA, name, float(lacking)))
    return reasons
