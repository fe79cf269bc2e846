# SPDX-License-Identifier: Apache-2.0
"""The hold of room for watched flavors, in the weights of hosts.

A new server that takes the last room for a large one costs a slot. As long as
other hosts have room for it, it goes there.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oslo_log import log as logging

from kronos.common.units import dates
from kronos.engine.slots import flavors
from kronos.engine.types import Flavor

LOG = logging.getLogger(__name__)

RESOURCES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
"""What nova-scheduler shows of a host, in this order."""
Amounts = tuple[float, ...]
"""By resource, as ``RESOURCES``."""


class SeenHost(NamedTuple):
    """A host at the last look, and what a new server may take there."""

    vcpus_used: float
    free_ram_mb: float
    vcpus: float
    """That do not cost a slot, and so the next two."""
    memory_mb: float
    disk_gb: float
    free: Amounts = ()
    slots: tuple[float, ...] = ()
    """By size."""


NEW = SeenHost(-1.0, 0.0, 0.0, 0.0, 0.0)
"""It is like no host."""


@dataclass(frozen=True)
class SlotHold:
    """What a slot is worth, and which servers the slots are for."""

    weight: float
    """Of one slot; 1: as much as the greatest difference in load."""
    sizes: tuple[Amounts, ...]
    """What a server of each watched flavor requires."""
    _seen: dict[str, SeenHost] = field(
        default_factory=dict, repr=False, compare=False
    )
    """By name. Few hosts change from request to request. The next refresh
    begins anew, so a change of disks or ratios alone is seen then."""

    def weighed(
        self, weights: Sequence[float], states: Sequence[Any], spec: Any
    ) -> list[float]:
        """The weights, less by the slots that a new server would cost.

        One may be below 0: the order of hosts that all cost a slot stays.

        :param states: Nova's ``HostState``, one for each weight
        :param spec: Nova's ``RequestSpec``
        """
        demand = _demand(spec)
        vcpus, ram, disk = demand
        weighed, hosts = [*weights], self._seen
        # This runs for each host in each request.
        for place, state in enumerate(states):
            seen = hosts.get(state.host, NEW)
            used, free, most_vcpus, most_ram, most_disk, _, _ = seen
            if used != state.vcpus_used or free != state.free_ram_mb:
                seen = hosts[state.host] = self._look(state)
                _, _, most_vcpus, most_ram, most_disk, _, _ = seen
            if vcpus > most_vcpus or ram > most_ram or disk > most_disk:
                weighed[place] -= self.weight * self._cost(seen, demand)
        return weighed

    def _look(self, state: Any) -> SeenHost:
        free = _free(state)
        slots = [_slots(free, size) for size in self.sizes]
        most = [math.inf] * len(RESOURCES)
        for number, size in zip(slots, self.sizes, strict=True):
            for place, required in enumerate(size):
                if number and required:
                    rest = free[place] - number * required
                    most[place] = min(most[place], rest)
        used, free_ram = state.vcpus_used, state.free_ram_mb
        vcpus, ram, disk = most
        return SeenHost(used, free_ram, vcpus, ram, disk, free, tuple(slots))

    def _cost(self, seen: SeenHost, demand: Amounts) -> float:
        """The slots of a host that a server of this size takes."""
        after = [*map(float.__sub__, seen.free, demand)]
        return sum(
            slots - _slots(after, size)
            for slots, size in zip(seen.slots, self.sizes, strict=True)
            if slots
        )


class HoldReader:
    """The hold by the options of nova-scheduler; the cache's thread reads it.

    :param conf: options of nova-scheduler
    :param flavor: reads a flavor by its name; None: there is none
    :param clock: Unix seconds
    """

    def __init__(
        self,
        conf: Any,
        flavor: Callable[[str], Flavor | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._conf, self._flavor, self._clock = conf, flavor, clock
        self._last: SlotHold | None = None
        self._logged = ''

    def read(self) -> SlotHold | None:
        """The hold of now; None: there is none, or its time is over.

        If the flavors cannot be read, the last one remains.
        """
        kronos = self._conf.kronos
        if not kronos.slot_weight:
            return None
        if not kronos.watched_flavors:
            self._log('slot_weight has no effect: watched_flavors is empty')
            return None
        if over := self._why_over(kronos.hold_until):
            self._log(f'room is no longer held: hold_until {over}')
            return None
        try:
            self._last = self._hold()
        # Whatever Nova's database raises.
        except Exception as error:
            self._log(f'no flavor can be read: {type(error).__name__}')
        return self._last

    def _why_over(self, until: str) -> str:
        """Nothing checks the options when nova-scheduler starts."""
        if not until:
            return ''
        if fault := dates.fault(until):
            return f'= {fault}'
        return f'is {until}' if self._clock() >= dates.seconds(until) else ''

    def _hold(self) -> SlotHold | None:
        kronos = self._conf.kronos
        sizes, texts = [], []
        for name in dict.fromkeys(kronos.watched_flavors):
            flavor = self._flavor(name)
            why = why_not(flavor, kronos.check_disk)
            if flavor is None or why:
                texts.append(f'no room is held for flavor {name}: {why}')
                continue
            texts.append(f'room is held for flavor {name}')
            amounts = flavors.demand(flavor, kronos.check_disk)
            sizes.append(tuple(float(amounts.get(r, 0)) for r in RESOURCES))
        until = f' until {kronos.hold_until}' if kronos.hold_until else ''
        self._log('; '.join(texts) + until)
        return SlotHold(kronos.slot_weight, tuple(sizes)) if sizes else None

    def _log(self, text: str) -> None:
        if text != self._logged:
            self._logged = text
            LOG.info('The weigher of Kronos: %s', text)


def why_not(flavor: Flavor | None, counts_disk: bool) -> str:
    """Why no room is held for a flavor; '' if it is."""
    if flavor is None:
        return 'there is no such flavor'
    if why := flavors.why_not(flavor):
        return why
    others = {*flavors.demand(flavor, counts_disk)} - {*RESOURCES}
    if others:
        return (
            f'it requires {min(others)}, and nova-scheduler does not show '
            'its weighers how much of it a host has free'
        )
    return ''


def _demand(spec: Any) -> Amounts:
    """What the new server requires, without its extra specs."""
    flavor = spec.flavor
    root = 0 if getattr(spec, 'is_bfv', False) else flavor.root_gb
    disk = root + flavor.ephemeral_gb + flavor.swap / 1024
    return float(flavor.vcpus), float(flavor.memory_mb), float(disk)


def _free(state: Any) -> Amounts:
    """What a host has free, with its allocation ratios."""
    ram, disk = state.total_usable_ram_mb, state.total_usable_disk_gb
    # No ratio is known until the first report of nova-compute.
    ram_more = ((state.ram_allocation_ratio or 1.0) - 1.0) * ram
    disk_more = ((state.disk_allocation_ratio or 1.0) - 1.0) * disk
    vcpus = state.vcpus_total * (state.cpu_allocation_ratio or 1.0)
    return (
        float(vcpus - state.vcpus_used),
        float(state.free_ram_mb + ram_more),
        float(state.free_disk_mb / 1024 + disk_more),
    )


def _slots(free: Sequence[float], size: Amounts) -> float:
    """How many servers of a size fit."""
    slots = math.inf
    for has, required in zip(free, size, strict=True):
        if required and has < slots * required:
            slots = has // required
    return max(slots, 0.0)
