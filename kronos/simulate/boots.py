# SPDX-License-Identifier: Apache-2.0
"""The boots of the loop: where a server goes that comes to exist.

Where it went in truth, or where Nova's weighers put it: the one of memory and
the one of vCPUs, as by default, and Kronos' own beside them if it is on.
"""

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kronos.engine.scoring import host_weights, scorecard
from kronos.policies.models import Mode
from kronos.simulate.accounting import Floats
from kronos.simulate.cloud import NOWHERE, Cloud

if TYPE_CHECKING:
    from kronos.simulate.audits import Auditor

MULTIPLIER = 100.0
"""``weight_multiplier`` of ``[kronos_weigher]``, as by default."""
STEP = 0.01
"""``score_step``, likewise."""
SETTLING = 120.0
"""``settling_seconds``, likewise; a longer window of the readings counts."""


@dataclass
class Boots:
    """How servers are placed that come to exist."""

    by_weighers: bool = False
    """Whether Nova's weighers say where; else they go where they went."""
    multiplier: float = 0.0
    """Of Kronos' weigher; 0: it is off."""


@dataclass
class BootCounts:
    """What became of the boots of a column."""

    boots: int = 0
    elsewhere: int = 0
    """Of those that were to go where they went, and had no room there."""
    without_room: int = 0
    """Found no host with room, and went where they went."""


class Scheduler:
    """Nova's scheduler, as far as it matters here.

    :param auditor: of the audit whose policies Kronos' weigher has
    """

    def __init__(
        self, boots: Boots, cloud: Cloud, auditor: 'Auditor', settling: float
    ) -> None:
        self._boots = boots
        self._cloud = cloud
        self._auditor = auditor
        self._settling = max(settling, SETTLING)
        self._recent: deque[tuple[float, int, int]] = deque()
        """When vCPUs came to a host of late: when, host, how many."""
        self._mode = auditor.audit.enabled[0].mode
        self._scores: dict[int, host_weights.HostWeight] = {}
        self._weights = self._free = self._pending = np.zeros(len(cloud.names))
        self._weighed_at = -1
        self.counts = BootCounts()
        places = [scope.places for scope in auditor.scopes.values()]
        self._is_planned = np.zeros(len(cloud.names), bool)
        self._is_planned[np.concatenate(places)] = True

    def host_of(self, server: int, place: int, tick: int, now: float) -> int:
        """Where a server goes.

        :param place: where it went in truth
        """
        cloud, counts = self._cloud, self.counts
        counts.boots += 1
        fits = cloud.fits(server)
        is_weighed = self._boots.by_weighers and self._is_planned[place]
        if fits[place] and not is_weighed:
            return place
        host = self._weighed(server, fits & self._is_planned, tick, now)
        if not is_weighed:
            counts.elsewhere += host != NOWHERE
        if host == NOWHERE:
            counts.without_room += 1
            return place
        self._note(host, int(cloud.demand[server, 0]), now)
        return host

    def _weighed(
        self, server: int, fits: npt.NDArray[np.bool_], tick: int, now: float
    ) -> int:
        """The best host by all weighers, of equals the first."""
        if not fits.any():
            return NOWHERE
        cloud = self._cloud
        free = cloud.capacity - cloud.used
        weights = _normal(free[1], fits) + _normal(free[0], fits)
        if self._boots.multiplier:
            vcpus = int(cloud.demand[server, 0])
            own = self._own(tick, now, vcpus)
            weights += self._boots.multiplier * own
        return int(np.argmax(np.where(fits, weights, -np.inf)))

    def _own(self, tick: int, now: float, vcpus: int) -> Floats:
        """What Kronos' weigher says of each host, in [0, 1]."""
        if tick != self._weighed_at:
            self._weigh(tick, now)
            self._weighed_at = tick
        if self._mode is not Mode.PACK:
            return self._weights
        # Full is what the new server would lift above the ceiling.
        is_full = self._pending + vcpus > self._free
        return np.where(is_full, host_weights.FULL, self._weights)

    def _weigh(self, tick: int, now: float) -> None:
        """Weigh all hosts by what is measured at a tick."""
        self._pending = np.zeros(len(self._cloud.names))
        while self._recent and self._recent[0][0] <= now - self._settling:
            self._recent.popleft()
        for begin, host, vcpus in self._recent:
            share = 1 - (now - begin) / self._settling
            self._pending[host] += vcpus * share
        self._scores = self._scored(tick, now)
        self._free = np.full(len(self._cloud.names), np.inf)
        weights = np.full(len(self._cloud.names), np.nan)
        for host, score in self._scores.items():
            self._free[host] = score.free_vcpus
            weights[host] = self._weight(host)
        mean = np.nanmean(weights) if self._scores else 0.0
        self._weights = np.where(np.isnan(weights), mean, weights)

    def _weight(self, host: int) -> float:
        pending = float(self._pending[host])
        return self._scores[host].weight(self._mode, pending, STEP)

    def _note(self, host: int, vcpus: int, now: float) -> None:
        """Reckon with vCPUs that the samples do not show yet."""
        self._recent.append((now, host, vcpus))
        if host in self._scores:
            self._pending[host] += vcpus
            self._weights[host] = self._weight(host)

    def _scored(
        self, tick: int, now: float
    ) -> dict[int, host_weights.HostWeight]:
        """The hosts of all scopes, as the weigher scores them."""
        settings = self._auditor.audit.settings
        scored: dict[int, host_weights.HostWeight] = {}
        for scope in self._auditor.scopes.values():
            # This tick is measured when all of it have booted.
            snapshot = self._auditor.hosts_alone(scope, tick - 1, now)
            policies = self._auditor.policies
            card = scorecard.score(snapshot, policies, settings)
            sizes = {}
            for place in scope.places.tolist():
                used = float(self._cloud.used[0, place])
                sizes[self._cloud.names[place]] = host_weights.Size(
                    self._auditor.cores(place),
                    max(0.0, used - float(self._pending[place])),
                )
            of_scope = host_weights.places(card, policies, sizes)
            for name, weight in of_scope.items():
                scored.setdefault(self._cloud.index[name], weight)
        return scored


def _normal(
    free: npt.NDArray[np.int64], fits: npt.NDArray[np.bool_]
) -> Floats:
    """From 0 to 1 over the hosts that come into question, as Nova does."""
    values = free.astype(float)
    low, high = values[fits].min(), values[fits].max()
    if high <= low:
        return np.zeros(len(values))
    return np.asarray((values - low) / (high - low))
