# SPDX-License-Identifier: Apache-2.0
"""The recent placements, which the samples do not show yet.

Nova tells a host's vCPUs in use with each request. What has been added since
the samples were taken is reckoned with, and less and less of it while the
samples come to show it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HAIR = 1e-9


@dataclass
class Sighting:
    """vCPUs in use on a host, as Nova last told."""

    used: float
    moment: float


class RecentPlacements:
    """Of one process, by host.

    :param settling: seconds until the samples show a server wholly
    """

    def __init__(self, settling: float) -> None:
        self.settling = settling
        self._newest = float('-inf')
        self._seen: dict[str, Sighting] = {}
        self._added: dict[str, list[tuple[float, float]]] = {}
        """vCPUs and when they came; those that left are below 0."""

    def copy(self) -> 'RecentPlacements':
        """One that may be written in without anybody noticing."""
        other = RecentPlacements(self.settling)
        other._newest, other._seen = self._newest, dict(self._seen)
        other._added = {
            host: list(rows) for host, rows in dict(self._added).items()
        }
        return other

    def note(
        self,
        used: Mapping[str, float],
        now: float,
        since: Mapping[str, float] | None = None,
    ) -> None:
        """Take what Nova told since the last time.

        :param used: by host that was weighed
        :param now: seconds, as everywhere here
        :param since: what it told before, where that is no longer ago than
            the last look at the samples
        """
        if used:
            self._newest = now
        since = since or {}
        for host, vcpus in used.items():
            last = since.get(host, self.base(host, now))
            if last is not None and vcpus != last:
                self._added.setdefault(host, []).append((vcpus - last, now))
            self._seen[host] = Sighting(vcpus, now)
        for host, rows in list(self._added.items()):
            recent = [row for row in rows if now - row[1] < self.settling]
            if recent:
                self._added[host] = recent
            else:
                del self._added[host]

    def used(self, host: str) -> float | None:
        """What Nova told last, however long ago."""
        seen = self._seen.get(host)
        return seen.used if seen else None

    def base(self, host: str, now: float) -> float | None:
        """What later sightings are compared with.

        :returns: None if the last one is too long ago to tell when a
            difference came
        """
        seen = self._seen.get(host)
        if seen is None or now - seen.moment > self.settling:
            return None
        return seen.used

    def pending(self, host: str, now: float) -> float:
        """vCPUs that came and are not in the samples yet."""
        return sum(
            vcpus * max(0.0, 1.0 - (now - moment) / self.settling)
            for vcpus, moment in self._added.get(host, ())
            if self.settling > HAIR
        )

    def forget(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            self._seen.pop(host, None)
            self._added.pop(host, None)

    def silence(self, host: str) -> float:
        """Seconds from when a host was last seen to when any was."""
        seen = self._seen.get(host)
        return self._newest - seen.moment if seen else float('inf')
