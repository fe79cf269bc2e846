# SPDX-License-Identifier: Apache-2.0
"""The plan of the market: a choice of trades that an order is known for."""

from collections import defaultdict
from collections.abc import Sequence

from kronos.engine.arrays import FloatArray
from kronos.extensions.room.planning import ordering
from kronos.extensions.room.planning.columns import Column
from kronos.extensions.room.planning.market import goods, rounds
from kronos.extensions.room.planning.market.goods import Trade
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.market.patterns import Patterns
from kronos.extensions.room.planning.market.rounds import Priced
from kronos.extensions.room.planning.ordering import MoveRules, Ordered
from kronos.extensions.room.planning.scope_case import ScopeCase

TRIES, VAIN_TRIES = 6, 2
"""Choices that are ordered, and of those that begin with no move at all."""
SPARE = 2
"""Moves more than chosen that an order may need, as detours."""
COLUMNS = 1_500
"""Trades that are hardly worse than the best of their host."""
LOSS = {Aim.MOST: 0.999, Aim.FEWEST: 2.0}
"""In slots or moves: of what plans close to the bound are made."""


class MarketPlan:
    """A scope whose trades have been priced.

    :param weights: as how many moves a move counts, by way; None: 1
    """

    def __init__(
        self,
        case: ScopeCase,
        aim: Aim,
        moves: float = float('inf'),
        weights: FloatArray | None = None,
    ) -> None:
        self._case = case
        self._market = goods.of(case.cluster, case.targets, weights)
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

    def placement(self) -> list[tuple[int, Column]]:
        """What leaves and enters hosts by the best choice, in any order.

        :returns: empty: there is no choice
        """
        return self._columns(self.priced.master.chosen(self.priced.whole))

    def carried_out(
        self, rules: MoveRules | None, spare: float
    ) -> Ordered | None:
        """The moves of the best choice, which the rules allow and make.

        :param spare: migrations that are left
        :returns: None: no choice gives the room in any order that is known
        """
        master, cuts = self.priced.master, list[list[int]]()
        best: tuple[int, list[int]] | None = None
        vain = 0
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
            vain += not result.moves
            if vain == VAIN_TRIES:
                break
        if best is None or master.aim is not Aim.MOST:
            return None
        return self._ordered(best[1], rules, spare)[0]

    def _slots(self, result: Ordered) -> int:
        return int(self._case.cluster.slot_counts(result.free).sum())

    def _ordered(
        self, chosen: Sequence[int], rules: MoveRules | None, spare: float
    ) -> tuple[Ordered, list[tuple[int, int]]]:
        columns = self._columns(chosen)
        rest = spare - sum(sum(column.outs) for _, column in columns)
        result = ordering.ordered(
            self._case.cluster, columns, int(min(SPARE, rest)), rules
        )
        hosts = [host for host, _ in columns]
        return result, [*zip(chosen, hosts, strict=True)]

    def _columns(
        self, chosen: Sequence[int] | None
    ) -> list[tuple[int, Column]]:
        trades = [self.priced.master.trades[place] for place in chosen or ()]
        return [
            (host, Column(trade.outs, trade.ins))
            for host, trade in zip(self._hosts(trades), trades, strict=True)
        ]

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
