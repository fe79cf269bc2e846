# SPDX-License-Identifier: Apache-2.0
"""The NUMA topology that a flavor gives its servers, as far as it is simple.

Supported are one or more equal nodes, with shared or dedicated CPUs.
"""

from collections.abc import Mapping

from kronos.engine.slots.numa_nodes import NumaDemand
from kronos.engine.types import Flavor

NODES, POLICY = 'hw:numa_nodes', 'hw:cpu_policy'
THREADS = 'hw:cpu_thread_policy'
DEDICATED = 'dedicated'
HARMLESS = {THREADS: 'prefer'}
"""Extra specs with the value that says what Nova does anyway."""
MOST_NODES = 16


def is_pinned(extra_specs: Mapping[str, str]) -> bool:
    """Whether each CPU of its servers has a CPU of the host for itself."""
    return extra_specs.get(POLICY) == DEDICATED


def why_not(flavor: Flavor, spec: str) -> str:
    """Why slots per node are not counted of a flavor; '' if they are.

    :param spec: one of its extra specs that concern NUMA, ``key=value``
    """
    key, _, value = spec.partition('=')
    if HARMLESS.get(key) == value or spec == f'{POLICY}={DEDICATED}':
        return ''
    if key != NODES:
        return (
            f'its extra spec {spec} gives servers a NUMA topology that Kronos '
            'does not compute'
        )
    nodes = int(value) if value.isdecimal() else 0
    if not 1 <= nodes <= MOST_NODES:
        return f'its extra spec {spec} is no number from 1 to {MOST_NODES}'
    if flavor.vcpus % nodes or flavor.memory_mb % nodes:
        return f'its extra spec {spec} does not divide its size evenly'
    return ''


def demand(flavor: Flavor) -> NumaDemand:
    """What a server takes of the nodes of its host."""
    nodes = int(flavor.extra_specs.get(NODES, 1))
    amounts = flavor.vcpus // nodes, flavor.memory_mb // nodes
    return NumaDemand((amounts,) * nodes, is_pinned(flavor.extra_specs))
