# SPDX-License-Identifier: Apache-2.0
"""The state of a cluster after moves, whoever planned them.

Nothing of a planner: sums and differences of the readings.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from kronos.engine import server_groups
from kronos.engine.types import Reading, Snapshot
from kronos.policies.models import Policy


class Placed:
    """One scope whose readings name instances by uuid, hosts by name."""

    def __init__(self, snapshot: Snapshot, policies: Sequence[Policy]) -> None:
        self._snapshot = snapshot
        used = [policy for policy in policies if policy.enabled]
        total = sum(one.weight for one in used)
        self._weights = {one.name: one.weight / total for one in used}
        self._scores = {
            name: _values(snapshot.readings[name].imbalance)
            for name in self._weights
        }
        self._shares = {
            name: _values(snapshot.readings[name].profile)
            for name in self._weights
        }
        self._sizes = {
            name: _values(snapshot.readings[name].host_capacity)
            for name in self._weights
        }
        self._at = {
            uuid: instance.host
            for uuid, instance in snapshot.instances.items()
        }
        self.moved_mb = 0
        """An instance that moves twice counts twice."""

    def move(self, moves: Iterable[Sequence[str]]) -> 'Placed':
        """Make moves in their order: instances and where they go.

        :returns: itself
        """
        for uuid, destination in moves:
            source = self._at[uuid]
            for name, scores in self._scores.items():
                share = self._shares[name].get(uuid, 0.0)
                sizes = self._sizes[name]
                scores[source] -= share / sizes.get(source, 1.0)
                scores[destination] += share / sizes.get(destination, 1.0)
            self._at[uuid] = destination
            self.moved_mb += self._snapshot.instances[uuid].memory_mb
        return self

    @property
    def combined(self) -> float:
        """The combined imbalance."""
        return sum(
            weight * (max(values) - min(values))
            for name, weight in self._weights.items()
            if (values := self._scores[name].values())
        )

    def scores(self, policy: str) -> dict[str, float]:
        """By host, of one policy."""
        return dict(self._scores[policy])

    @property
    def broken_groups(self) -> int:
        """Server groups whose rule is broken, hard and soft ones."""
        return sum(
            server_groups.excess(group, self._on(group.members)) > 0
            for group in self._snapshot.groups
        )

    def _on(self, members: Iterable[str]) -> Counter[int]:
        """Members by host, a number for each."""
        hosts = [self._at[uuid] for uuid in members if uuid in self._at]
        numbers = {
            host: index for index, host in enumerate(sorted(set(hosts)))
        }
        return Counter(numbers[host] for host in hosts)

    @property
    def hosts_in_use(self) -> int:
        return len(set(self._at.values()))

    @property
    def overfull_hosts(self) -> int:
        """Hosts on which more is allocated than may be."""
        used = Counter[tuple[str, str]]()
        for uuid, host in self._at.items():
            for name, amount in self._snapshot.instances[uuid].demand.items():
                used[host, name] += amount
        full = set()
        for (host, name), amount in used.items():
            room = (self._snapshot.hosts[host].headroom or {}).get(name)
            if room is not None and amount > room.capacity:
                full.add(host)
        return len(full)


def _values(reading: Reading | None) -> dict[str, float]:
    return (
        {sample.label: sample.value for sample in reading.samples}
        if reading
        else {}
    )
