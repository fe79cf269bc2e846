# SPDX-License-Identifier: Apache-2.0
"""The times of a host in a run: to be emptied, maintained, and opened."""

from collections import defaultdict
from collections.abc import Collection

from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.settings import OUT_OF_HOST, Settings
from kronos.engine.types import Instance, Snapshot
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.maintenance import Maintenance

EMPTY_SECONDS = 60.0
"""Between the two looks before a hand-over."""
OPEN_TURNS = 1.5
"""Audits until one sees that a host is done, and the next that it is open."""


class HostTimes:
    """How long each host of a scope takes.

    :param staying: uuids of servers that do not leave their hosts
    """

    def __init__(
        self,
        snapshot: Snapshot,
        settings: Settings,
        spec: Maintenance,
        staying: Collection[str] = (),
    ) -> None:
        self._spec = spec
        view = maintenance.view_of(snapshot.beside)
        self._turn_seconds = view.turn_seconds
        self._costs = MigrationCosts(snapshot, settings)
        self._drain: dict[str, float] = defaultdict(float)
        for uuid, instance in snapshot.instances.items():
            if uuid not in staying:
                self._drain[instance.host] += self.move(instance)

    def move(self, instance: Instance) -> float:
        """Seconds for which a server is expected to move."""
        return self._costs.seconds(instance, instance.host)

    def drain(self, host: str) -> float:
        """Seconds for which a host is emptied, one server at a time."""
        return self._drain[host] / OUT_OF_HOST

    @property
    def beside(self) -> float:
        """Seconds from the last server's leaving until the next comes."""
        opening = OPEN_TURNS * self._turn_seconds
        return EMPTY_SECONDS + self._spec.work_time + opening

    def whole(self, host: str) -> float:
        """Seconds from the closing of a host to its opening."""
        return self.drain(host) + self.beside
