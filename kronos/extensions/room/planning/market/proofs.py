# SPDX-License-Identifier: Apache-2.0
"""The proofs of the market as certificates that a report holds."""

from kronos.extensions.room.certificates import (
    Certificate,
    Claim,
    KindPrice,
)
from kronos.extensions.room.planning.market import goods, rounds
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.market.rounds import Priced
from kronos.extensions.room.planning.scope_case import ScopeCase


def stuck(case: ScopeCase) -> Certificate:
    """No server fits on any other host."""
    cluster = case.cluster
    return Certificate(
        Claim.STUCK, int(cluster.slot_counts(cluster.free).sum())
    )


def most(case: ScopeCase, moves: int, enough: int) -> Certificate | None:
    """At most so many slots with so many migrations.

    :param enough: slots of a plan: a bound of as many is not improved
    """
    if not _can_be_priced(case):
        return None
    market = goods.of(case.cluster, case.targets)
    return of(case, rounds.priced(market, Aim.MOST, moves, enough), moves)


def fewest(case: ScopeCase, enough: int) -> Certificate | None:
    """At least so many migrations for what is wanted.

    :param enough: moves of a plan: a bound of as many is not improved
    """
    if not _can_be_priced(case):
        return None
    market = goods.of(case.cluster, case.targets)
    return of(case, rounds.priced(market, Aim.FEWEST, enough=enough))


def impossible(case: ScopeCase) -> Certificate | None:
    """No number of migrations suffices; None: prices do not prove it."""
    if not _can_be_priced(case):
        return None
    market = goods.of(case.cluster, case.targets)
    return of(case, rounds.priced(market, Aim.POSSIBLE))


def nearest(case: ScopeCase, moves: float) -> dict[str, int]:
    """Of each wanted flavor alone, the servers that no plan exceeds.

    :param moves: at most
    """
    total = sum(map(len, case.cluster.servers.values()))
    limits = {}
    for name, target in zip(case.names, case.targets, strict=True):
        market = goods.of(case.cluster, [target])
        priced = rounds.priced(market, Aim.MOST, min(moves, total))
        limits[name] = min(target.number, priced.whole)
    return limits


def of(
    case: ScopeCase, priced: Priced, moves: int | None = None
) -> Certificate | None:
    """What the prices prove; None: nothing."""
    aim = priced.master.aim
    if abs(priced.bound) == float('inf'):
        return None
    if aim is Aim.POSSIBLE and priced.bound <= rounds.TOLERANCE:
        return None
    claim, number = {
        Aim.MOST: (Claim.MOST, priced.whole),
        Aim.FEWEST: (Claim.FEWEST, priced.whole),
        Aim.POSSIBLE: (Claim.IMPOSSIBLE, 0),
    }[aim]
    prices = priced.prices
    return Certificate(
        claim,
        number,
        moves,
        prices.move,
        dict(zip(case.names, prices.slots.tolist(), strict=True)),
        [
            KindPrice(demand, servers, float(prices.kinds[kind]))
            for kind, (demand, servers) in enumerate(case.kinds())
        ],
    )


def _can_be_priced(case: ScopeCase) -> bool:
    return bool(case.cluster.ways) and bool(case.cluster.hosts)
