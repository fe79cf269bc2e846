# SPDX-License-Identifier: Apache-2.0
"""The reader of an audit that makes room: the flavors of the cloud.

And the NUMA nodes of the hosts whose cells are configured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kronos.clients.nova import node_reader
from kronos.clients.nova.cell_listings import CellListings
from kronos.engine.slots.numa_facts import NumaFacts
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomNeeds
from kronos.options.numa_cells import NumaCells
from kronos.snapshots.reader import Look, Reader


@dataclass(frozen=True)
class RoomReader(Reader):
    """It reads the flavors, so that one that no server has can be wanted."""

    cells: Mapping[str, NumaCells] = field(default_factory=dict)
    """By name of an aggregate."""

    def read(self, look: Look) -> None:
        listed = CellListings(look.nova.api).flavors()
        look.gathered.beside[room.NAME] = RoomNeeds(
            {flavor.name: flavor for flavor in listed},
            self._facts(look) if self.cells else NumaFacts(),
        )
        look.report(f'{len(listed)} flavors')

    def _facts(self, look: Look) -> NumaFacts:
        """Of the hosts that are planned."""
        planned = {
            host.name for hosts in look.hosts.values() for host in hosts
        }
        gathered = look.gathered
        hosts = node_reader.layouts(
            gathered.cloud.aggregates, self.cells, planned
        )
        facts = node_reader.facts(look.nova.api, hosts, gathered.instances)
        look.report(f'NUMA topologies of {len(facts.topologies)} servers')
        return facts
