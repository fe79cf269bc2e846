# SPDX-License-Identifier: Apache-2.0
"""The flavors of instances: what each asks for where it goes.

A live migration changes none. A move to another cell may: then it is the
new one that needs room and quota.
"""

from kronos.engine.cell_drain import CellDrain
from kronos.engine.settings import Settings
from kronos.engine.types import Flavor, Instance, Snapshot


def changed(
    instance: Instance, snapshot: Snapshot, settings: Settings
) -> Flavor | None:
    """The flavor that it gets; None if it keeps its own, or none is known."""
    drain = settings.cell_drain
    if drain is None or not is_changed(instance, drain):
        return None
    return snapshot.flavors.get(drain.new_flavor(instance.flavor) or '')


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
