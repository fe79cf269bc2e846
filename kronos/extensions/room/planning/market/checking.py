# SPDX-License-Identifier: Apache-2.0
"""The check of a certificate: its bound, computed again without a solver.

Nothing of it is shared with what plans. Of each host the best is sought that
it can do at the given prices: keep some of its servers, take others, and have
slots, within what it has free. That is a knapsack, filled here item by item.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronos.extensions.room.certificates import Certificate, Claim, Verdict
from kronos.extensions.room.planning.scope_case import ScopeCase

TOLERANCE = 1e-6
CELLS = 1_000_000
"""Of a knapsack. With more, its units are doubled, and it holds too much."""
Vector = npt.NDArray[np.int64]
Sack = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Item:
    """What a knapsack may hold, and how often."""

    size: Vector
    worth: float
    most: int
    """-1: as often as it fits."""


def check(case: ScopeCase, certificate: Certificate) -> Verdict:
    """Whether a certificate holds for a scope.

    :param case: the scope, with the numbers that are wanted in it
    """
    if certificate.claim is Claim.STUCK:
        return _stuck(case, certificate)
    if fault := _fault(case, certificate):
        return Verdict(False, fault)
    total = _worth(case, certificate)
    numbers = [target.number for target in case.targets]
    price = sum(
        certificate.slots[name] * number
        for name, number in zip(case.names, numbers, strict=True)
    )
    if certificate.claim is Claim.MOST:
        moves = certificate.migrations or 0
        limit = math.floor(total + moves * certificate.move + TOLERANCE)
        return Verdict(
            limit <= certificate.number,
            f'by its prices, at most {limit} slots with {moves} migrations',
        )
    if certificate.claim is Claim.FEWEST:
        least = max(0, math.ceil(price - total - TOLERANCE))
        return Verdict(
            certificate.number <= least,
            f'by its prices, at least {least} migrations',
        )
    holds = price > total + TOLERANCE
    end = 'no number of migrations suffices' if holds else 'nothing is proven'
    return Verdict(holds, f'by its prices, {end}')


def _fault(case: ScopeCase, certificate: Certificate) -> str:
    """Why prices are none for the scope; '' if they are."""
    kinds = [(each.demand, each.servers) for each in certificate.kinds]
    if kinds != case.kinds():
        return 'its kinds of servers are not those of the recording'
    if set(certificate.slots) != set(case.names):
        return 'its flavors are not those that are wanted'
    slots = [*certificate.slots.values()]
    prices = [each.price for each in certificate.kinds]
    if not all(
        0 <= price < math.inf for price in [*prices, *slots, certificate.move]
    ):
        return 'a price is negative, or no number'
    if certificate.claim is Claim.MOST:
        moves = certificate.migrations
        if moves is None or moves < 0:
            return 'it does not say for how many migrations'
        if min(slots) < 1:
            return 'a slot is priced below 1'
    if certificate.claim is Claim.FEWEST and certificate.move > 1:
        return 'a migration is priced above 1'
    if certificate.claim is Claim.IMPOSSIBLE and certificate.move:
        return 'a migration has a price'
    return ''


def _stuck(case: ScopeCase, certificate: Certificate) -> Verdict:
    cluster = case.cluster
    for (host, way), servers in cluster.servers.items():
        demand = cluster.ways[way].demand
        for other, free in enumerate(cluster.free.tolist()):
            fits = all(
                amount <= room
                for amount, room in zip(demand, free, strict=True)
                if amount
            )
            if other != host and fits and servers:
                name = cluster.hosts[other]
                return Verdict(False, f'{servers[0]} fits on {name}')
    slots = int(cluster.slot_counts(cluster.free).sum())
    return Verdict(
        slots <= certificate.number,
        f'no movable server fits on another host, so {slots} slots stay',
    )


def _worth(case: ScopeCase, certificate: Certificate) -> float:
    """What all hosts together are worth at most."""
    cluster = case.cluster
    demands = np.array([way.demand for way in cluster.ways], dtype=np.int64)
    slots = np.array([each.demand for each in case.targets], dtype=np.int64)
    worths = [
        *(certificate.kinds[way.kind].price for way in cluster.ways),
        *(certificate.slots[name] for name in case.names),
    ]
    table = _Table(np.concatenate([demands, slots]), worths, certificate.move)
    counts = np.zeros((len(cluster.hosts), len(cluster.ways)), dtype=np.int64)
    for (host, way), servers in cluster.servers.items():
        counts[host, way] = len(servers)
    return sum(
        table.host(free.astype(np.int64), of_host)
        for free, of_host in zip(cluster.free, counts, strict=True)
    )


class _Table:
    """Hosts at prices; those that are alike are computed once."""

    def __init__(
        self, sizes: Vector, worths: Sequence[float], move: float
    ) -> None:
        self._sizes, self._worths, self._move = sizes, worths, move
        self._known: dict[bytes, float] = {}

    def host(self, free: Vector, counts: Vector) -> float:
        """What its best is worth, against all servers staying."""
        key = free.tobytes() + counts.tobytes()
        if key not in self._known:
            ways = len(counts)
            total = free + counts @ self._sizes[:ways]
            stay = sum(
                count * (worth + self._move)
                for count, worth in zip(
                    counts.tolist(), self._worths, strict=False
                )
            )
            best = max(
                self._filled(counts, *side)
                for side in self._sides(free, total, counts)
            )
            self._known[key] = max(0.0, best - stay)
        return self._known[key]

    def _sides(
        self, free: Vector, total: Vector, counts: Vector
    ) -> Iterator[tuple[Vector, list[int]]]:
        """Room, and what may enter.

        An overfull resource takes nothing, unless enough of it leaves.
        """
        overfull = np.flatnonzero(free < 0).tolist()
        present = total - free
        closed = [resource for resource in overfull if total[resource] <= 0]
        rest = [each for each in overfull if each not in closed]
        if len(rest) > 4:
            # Too many choices: it is as if they were just full.
            rest, total = [], np.where(free < 0, present, total)
        for number in range(len(rest) + 1):
            for stays in itertools.combinations(rest, number):
                shut = [*closed, *stays]
                room = total.copy()
                room[shut] = present[shut]
                enters = [
                    item
                    for item, size in enumerate(self._sizes)
                    if not size[shut].any()
                ]
                yield room, enters

    def _filled(
        self, counts: Vector, room: Vector, enters: Sequence[int]
    ) -> float:
        """The worth of the fullest sack."""
        ways = len(counts)
        enters = [item for item in enters if (self._sizes[item] <= room).all()]
        used = self._sizes[[*enters, *np.flatnonzero(counts).tolist()]]
        binding = _binding(used, self._sizes[enters], room)
        unit = np.gcd.reduce(used[:, binding], axis=0, initial=0)
        unit = np.maximum(unit, 1)
        while np.prod(room[binding] // unit + 1.0) > CELLS:
            unit[(room[binding] // unit).argmax()] *= 2
        sizes, end = self._sizes[:, binding] // unit, room[binding] // unit
        items = [
            _Item(sizes[way], self._worths[way] + self._move, int(count))
            for way, count in enumerate(counts[:ways])
            if count
        ]
        items += [
            _Item(sizes[item], self._worths[item], -1) for item in enters
        ]
        sack: Sack = np.zeros(end + 1)
        for item in items:
            sack = _with(sack, item)
        return float(sack.flat[-1])


def _binding(used: Vector, entering: Vector, room: Vector) -> list[int]:
    """Resources that can run out.

    What enters needs them, and no other always runs out first.
    """
    binding = [
        resource
        for resource in range(len(room))
        if entering[:, resource].any()
    ]
    for resource in reversed(binding.copy()):
        users = used[used[:, resource] > 0]
        for other in binding:
            if other == resource or not users[:, other].all():
                continue
            factor = float((users[:, resource] / users[:, other]).max())
            if factor * room[other] <= room[resource]:
                binding.remove(resource)
                break
    return binding


def _with(sack: Sack, item: _Item) -> Sack:
    """The sack if it may hold an item, too, once or more often."""
    if item.worth <= 0:
        return sack
    if not item.size.any():
        return sack + (item.most * item.worth if item.most > 0 else math.inf)
    fits = min(
        (extent - 1) // int(size)
        for extent, size in zip(sack.shape, item.size, strict=True)
        if size
    )
    ahead = fits if item.most < 0 else min(fits, item.most)
    times = 1
    while ahead > 0:
        times = min(times, ahead)
        upper = tuple(slice(times * int(s), None) for s in item.size)
        lower = tuple(slice(0, -times * int(s) or None) for s in item.size)
        after = sack.copy()
        after[upper] = np.maximum(
            after[upper], sack[lower] + times * item.worth
        )
        sack = after
        ahead -= times
        times *= 2
    return sack
