# SPDX-License-Identifier: Apache-2.0
"""The plan of the market: a choice of trades that an order is known for."""

from collections import defaultdict
from collections.abc import Sequence

from kronos.extensions.room.planning import ordering
from kronos.extensions.room.planning.columns import Column
from kronos.extensions.room.planning.market import goods, rounds
from kronos.extensions.room.planning.market.goods import Trade
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.market.patterns import Patterns
from kronos.extensions.room.planning.market.rounds import Priced
from kronos.extensions.room.planning.ordering import MoveRules, Ordered
from kronos.extensions.room.planning.scope_case import ScopeCase

TRIES = 6
SPARE = 2
"""Moves more than chosen that an order may need, as detours."""
COLUMNS = 1_500
"""Trades that are hardly worse than the best of their host."""
LOSS = {Aim.MOST: 0.999, Aim.FEWEST: 2.0}
"""In slots or moves: of what plans close to the bound are made."""


class MarketPlan:
    """A scope whose trades have been priced."""

    def __init__(
        self, case: ScopeCase, aim: Aim, moves: float = float('inf')
    ) -> None:
        self._case = case
        self._market = goods.of(case.cluster, case.wanted)
        self._patterns = Patterns(self._market)
        self._moves = moves
        self.priced: Priced = rounds.priced(
            self._market, aim, moves, patterns=self._patterns
        )
        self._widen(aim)
        self.has_placement = False
        """Whether a final placement has been found, whatever its order."""

    def _widen(self, aim: Aim) -> None:
        priced = self.priced
        loss = LOSS[aim]
        for trade in self._patterns.near(
            priced.prices, loss, COLUMNS, priced.values
        ):
            priced.master.add(trade)

    def carried_out(
        self, rules: MoveRules | None, spare: float
    ) -> Ordered | None:
        """The moves of the best choice, which the rules allow and make.

        :param spare: migrations that are left
        :returns: None: no choice gives the room in any order that is known
        """
        master, cuts = self.priced.master, list[list[int]]()
        best: tuple[int, list[int]] | None = None
        for _ in range(TRIES):
            chosen = master.chosen(self.priced.whole, cuts)
            if not chosen or master.outs[chosen].sum() > spare:
                break
            self.has_placement = True
            result, places = self._ordered(chosen, rules, spare)
            slots = self._slots(result)
            if not result.stuck:
                if best is None or slots > best[0]:
                    return result
                _take_back(rules)
                break
            _take_back(rules)
            if best is None or slots > best[0]:
                best = slots, chosen
            stuck = [n for n, host in places if host in result.stuck]
            cuts.append(stuck or chosen)
        if best is None or master.aim is not Aim.MOST:
            return None
        return self._ordered(best[1], rules, spare)[0]

    def _slots(self, result: Ordered) -> int:
        return int(self._case.cluster.slot_counts(result.free).sum())

    def _ordered(
        self, chosen: Sequence[int], rules: MoveRules | None, spare: float
    ) -> tuple[Ordered, list[tuple[int, int]]]:
        master = self.priced.master
        trades = [master.trades[number] for number in chosen]
        hosts = self._hosts(trades)
        rest = spare - sum(sum(trade.outs) for trade in trades)
        result = ordering.ordered(
            self._case.cluster,
            [
                (host, Column(trade.outs, trade.ins))
                for host, trade in zip(hosts, trades, strict=True)
            ],
            int(min(SPARE, rest)),
            rules,
        )
        return result, [*zip(chosen, hosts, strict=True)]

    def _hosts(self, trades: Sequence[Trade]) -> list[int]:
        """A host for each trade, in the order of hosts in its class."""
        hosts: dict[int, list[int]] = defaultdict(list)
        places = self._market.class_of.tolist()
        for host in reversed(range(len(places))):
            hosts[places[host]].append(host)
        return [hosts[trade.host_class].pop() for trade in trades]


def _take_back(rules: MoveRules | None) -> None:
    if rules is not None:
        rules.take_back()
