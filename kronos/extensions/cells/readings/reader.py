# SPDX-License-Identifier: Apache-2.0
"""The reader of a cell drain: flavors, quotas, ports, unfinished moves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kronos.clients.nova.cell_listings import CellListings
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.readings import cell_needs, unfinished_moves
from kronos.extensions.cells.readings.unfinished_moves import BegunMove
from kronos.snapshots.reader import Look, Reader


@dataclass
class CellReader(Reader):
    """It reads what an audit that empties a cell needs."""

    sources: cell_needs.Sources = field(default_factory=cell_needs.Sources)
    begun: Callable[[], Sequence[BegunMove]] = tuple
    """Gives the moves that action rows tell of."""
    _moves: Sequence[BegunMove] = ()

    def recall(self) -> None:
        """:raises DatabaseUnknown: Watcher's database cannot be read"""
        self._moves = self.begun()

    def read(self, look: Look) -> None:
        drain = cell_drain.of(look.settings)
        if drain is None:
            return
        gathered = look.gathered
        names = {
            host.name
            for hosts in look.hosts.values()
            for host in hosts
            if host.cell == drain.source
        }
        listings = CellListings(look.nova.api)
        all_hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
        by_host = {name: host.cell for name, host in all_hosts.items()}
        needs = cell_needs.gather(
            listings,
            self.sources,
            drain,
            [
                instance
                for instance in gathered.instances
                if instance.host in names
            ],
            look.report,
            cell_needs.has_crossed(gathered.events, by_host),
        )
        gathered.beside[cell_drain.NAME] = needs
        gathered.warnings += needs.warnings
        unfinished_moves.note(listings, gathered, self._moves)
