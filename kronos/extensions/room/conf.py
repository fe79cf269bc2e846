# SPDX-License-Identifier: Apache-2.0
"""The options of the room: the NUMA nodes of hosts, which no API shows."""

from typing import ClassVar

from oslo_config import cfg

from kronos.conf import extensions
from kronos.options import numa_cells

OPTS = [
    cfg.MultiStrOpt(
        'numa_cells',
        default=[],
        help='The NUMA nodes of the hosts of an aggregate, all alike, as '
        'AGGREGATE: nodes=2, cpus=44, memory_mb=184388. Repeat the option '
        'for further aggregates. cpus and memory_mb are those of one node: '
        'the CPUs that servers may use (cpu_dedicated_set or '
        'cpu_shared_set of nova.conf), and the memory in pages of the '
        'default size, without huge pages. Add packing=true if nova.conf of '
        'these hosts sets packing_host_numa_cells_allocation_strategy. '
        'With it, Kronos counts slots of flavors with a NUMA topology. '
        'Empty: it counts none.',
    ),
]


class RoomOpts(extensions.ExtensionOpts):
    """The options of the room."""

    OPTS: ClassVar = OPTS
    RULES: ClassVar = {'numa_cells': numa_cells.fault}
