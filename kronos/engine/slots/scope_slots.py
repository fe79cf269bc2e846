# SPDX-License-Identifier: Apache-2.0
"""The slots of several scopes and flavors, and the flavors not counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors
from kronos.engine.slots.counting import Slots
from kronos.engine.slots.numa_facts import NumaFacts
from kronos.engine.types import Flavor, Snapshot


@dataclass(frozen=True)
class ScopeSlots:
    """The slots by scope, then by flavor."""

    slots: list[Slots]
    refused: dict[str, str]
    """Flavors that are not counted, with the reason."""


def count(
    snapshots: Iterable[Snapshot],
    by_name: Mapping[str, Flavor],
    names: Sequence[str],
    settings: Settings,
    facts: NumaFacts | None = None,
) -> ScopeSlots:
    """Count the slots of flavors in scopes.

    :param by_name: all flavors that are known
    :param names: of those to count, each known; empty: all
    :param facts: about NUMA nodes
    """
    facts = facts or NumaFacts()
    chosen = list(dict.fromkeys(names)) or sorted(by_name)
    refused = {
        name: flavors.why_not(by_name[name], bool(facts.layouts))
        for name in chosen
    }
    countable = [
        flavors.of(by_name[name], settings.check_disk)
        for name in chosen
        if not refused[name]
    ]
    return ScopeSlots(
        [
            counting.count(snapshot, flavor, settings, facts)
            for snapshot in snapshots
            for flavor in countable
        ],
        {name: why for name, why in refused.items() if why},
    )
