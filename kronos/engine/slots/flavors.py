# SPDX-License-Identifier: Apache-2.0
"""The flavors that slots are counted of: what a server of each requires.

What Placement and Nova would require of a host for a new server of a flavor,
as far as a snapshot shows it. A flavor that requires more is refused: a count
that leaves something out would promise too much.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kronos.engine.slots import numa_flavors
from kronos.engine.slots.numa_nodes import NumaDemand
from kronos.engine.types import Flavor, Instance

AMOUNT = re.compile(r'resources:([A-Z0-9_]+)')
NUMA = (
    'hw:numa_',
    'hw:cpu_policy=dedicated',
    'hw:cpu_policy=mixed',
    'hw:cpu_dedicated_mask',
    'hw:cpu_realtime',
    'hw:mem_page_size',
    'hw:pmem',
    'hw:cpu_thread_policy',
    'hw:emulator_threads_policy',
    'trait:HW_CPU_HYPERTHREADING',
    'resources:PCPU',
)
"""Extra specs, or their beginnings, that give a server a NUMA topology."""
DEVICES = (
    'pci_passthrough:',
    'accel:',
    'resources:VGPU',
    'resources:PGPU',
    'hw:pci_',
    'hw:vif_',
)
ELSEWHERE = re.compile(
    r'aggregate_instance_extra_specs:|capabilities:|group_policy'
    r'|(resources|trait|in_tree|member_of)[0-9_]'
)
HARMLESS = ('hw:vif_multiqueue_enabled',)
NODES = (
    'gives servers a NUMA topology, and Nova does not show what is free on '
    'the NUMA nodes of a host'
)


@dataclass(frozen=True)
class SlotFlavor:
    """What one more server of a flavor requires of a host."""

    name: str
    demand: Mapping[str, int]
    """By resource class, those of which it requires something."""
    required: frozenset[str] = frozenset()
    """Traits of the host."""
    forbidden: frozenset[str] = frozenset()
    numa: NumaDemand | None = None
    """What it requires of NUMA nodes; None: it has no NUMA topology."""


def of_cloud(
    instances: Iterable[Instance], beside: Iterable[object] = ()
) -> dict[str, Flavor]:
    """The flavors that are known, by name.

    :param instances: a flavor has the size of the servers that have it
    :param beside: what extensions keep beside a snapshot; one that read the
        flavors of the cloud has them as ``flavors``
    """
    flavors: dict[str, Flavor] = {}
    for instance in instances:
        if instance.flavor and instance.flavor not in flavors:
            flavors[instance.flavor] = Flavor(
                instance.flavor,
                instance.flavor,
                instance.vcpus,
                instance.memory_mb,
                instance.root_gb,
                instance.ephemeral_gb,
                instance.swap_mb,
                instance.extra_specs,
            )
    for each in beside:
        flavors |= getattr(each, 'flavors', None) or {}
    return flavors


def why_not(flavor: Flavor, knows_nodes: bool = False) -> str:
    """Why slots of a flavor are not counted; '' if they are.

    :param knows_nodes: whether the NUMA nodes of any host are known
    """
    for key, value in sorted(flavor.extra_specs.items()):
        spec = f'{key}={value}'
        if key in HARMLESS:
            continue
        if spec.startswith(NUMA):
            if not knows_nodes:
                return f'its extra spec {spec} {NODES}'
            if reason := numa_flavors.why_not(flavor, spec):
                return reason
            continue
        if spec.startswith(DEVICES):
            return (
                f'its extra spec {spec} requires a device, and Kronos does '
                'not know which hosts have one free'
            )
        if ELSEWHERE.match(spec):
            return (
                f'its extra spec {spec} selects hosts by what Kronos does not '
                'read'
            )
    if not any(demand(flavor).values()):
        return 'it requires no resources'
    return ''


def numa(extra_specs: Mapping[str, str]) -> str:
    """The first extra spec that gives a server a NUMA topology; '' if none."""
    specs = (f'{key}={value}' for key, value in sorted(extra_specs.items()))
    return next((spec for spec in specs if spec.startswith(NUMA)), '')


def nearest(
    flavor: Flavor, by_name: Mapping[str, Flavor], knows_nodes: bool = False
) -> Flavor | None:
    """The flavor nearest in size whose slots are counted; None: no such one.

    One that is as large comes before all that are smaller.

    :param knows_nodes: as of :func:`why_not`
    """
    counted = [
        each for each in by_name.values() if not why_not(each, knows_nodes)
    ]

    def rank(each: Flavor) -> tuple[bool, int, int, str]:
        vcpus = each.vcpus - flavor.vcpus
        memory_mb = each.memory_mb - flavor.memory_mb
        is_smaller = min(vcpus, memory_mb) < 0
        return is_smaller, abs(vcpus), abs(memory_mb), each.name

    return min(counted, key=rank, default=None)


def demand(flavor: Flavor, counts_disk: bool = True) -> dict[str, int]:
    """What a server requires, by resource class, without zeros."""
    amounts = flavor.demand(is_volume_backed=False)
    for key, value in flavor.extra_specs.items():
        match = AMOUNT.fullmatch(key)
        if match and value.isdecimal():
            amounts[match[1]] = int(value)
    if numa_flavors.is_pinned(flavor.extra_specs):
        amounts['PCPU'] = amounts.pop('VCPU', 0)
    if not counts_disk:
        amounts.pop('DISK_GB', None)
    return {name: amount for name, amount in amounts.items() if amount}


def of(flavor: Flavor, counts_disk: bool = True) -> SlotFlavor:
    """What slots of a flavor require.

    :param counts_disk: ``check_disk``
    """
    traits: dict[str, set[str]] = {'required': set(), 'forbidden': set()}
    for key, value in flavor.extra_specs.items():
        if key.startswith('trait:') and value in traits:
            traits[value].add(key.removeprefix('trait:'))
    return SlotFlavor(
        flavor.name,
        demand(flavor, counts_disk),
        frozenset(traits['required']),
        frozenset(traits['forbidden']),
        numa_flavors.demand(flavor) if numa(flavor.extra_specs) else None,
    )
