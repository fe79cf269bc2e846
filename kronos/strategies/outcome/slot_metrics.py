# SPDX-License-Identifier: Apache-2.0
"""The metrics of slots: how many more servers of watched flavors fit."""

from collections.abc import Collection, Iterator

from oslo_log import log as logging

from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.types import Snapshot
from kronos.metrics.store import Gauge

LOG = logging.getLogger(__name__)


def of_scope(
    snapshot: Snapshot, watched: Collection[str], settings: Settings
) -> Iterator[Gauge]:
    """Those of one scope before its plan.

    :param watched: names of flavors; unknown ones have no series
    """
    if not watched:
        return
    by_name = flavors.of_cloud(
        snapshot.instances.values(), snapshot.beside.values()
    )
    facts = numa_facts.of(snapshot.beside.values())
    knows_nodes = bool(facts.layouts)
    for name in dict.fromkeys(watched):
        flavor, why = by_name.get(name), 'no server has it'
        if flavor is not None:
            why = flavors.why_not(flavor, knows_nodes)
        if flavor is None or why:
            LOG.info(
                'No slots of flavor %s are counted in scope %s: %s',
                name,
                snapshot.scope,
                why,
            )
            continue
        slot_flavor = flavors.of(flavor, settings.check_disk)
        slots = counting.count(snapshot, slot_flavor, settings, facts)
        labels = {'scope': snapshot.scope, 'flavor': name}
        yield Gauge('kronos_slots', slots.total, labels)
        yield Gauge('kronos_pooled_slots', slots.by_sum, labels)
