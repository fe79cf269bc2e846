# SPDX-License-Identifier: Apache-2.0
"""What is the literal rule of a relief? Slow, plain Python.

It comes before packing, and packing goes on from where it ends.
"""

import copy
import math

from tests.unit.engine.oracles.pack_literal import PackLiteral
from tests.unit.engine.oracles.spread_literal import SAME, Plan


class RelieveLiteral(PackLiteral):
    """Each overfull host gives as few instances as bring it below ceilings.

    Its rest goes nowhere else, but where packing empties it.
    """

    def plan(self) -> Plan:
        excess = {host: self._above_limit(host) for host in self._hosts}
        overfull = [host for host in self._hosts if excess[host] > SAME]
        for host in sorted(overfull, key=lambda one: -round(excess[one], 9)):
            while self._left() > 0 and self._is_above_ceiling(host):
                if not self._give(host):
                    break
        return super().plan()

    def _above_limit(self, host: str) -> float:
        return max(
            self._loads[one.name].get(host, -math.inf)
            - max(one.relief_threshold, one.capacity_threshold)
            for one in self._policies
            if one.relief_threshold < 1.0
        )

    def _is_above_ceiling(self, host: str) -> bool:
        return any(excess > SAME for excess in self._excess(host).values())

    def _excess(self, host: str) -> dict[str, float]:
        """By policy, what it is above its ceiling."""
        return {
            one.name: max(
                0.0,
                self._loads[one.name].get(host, 0.0) - one.capacity_threshold,
            )
            for one in self._policies
        }

    def _give(self, host: str) -> bool:
        for uuid in self._in_order(host):
            target = self._target(uuid)
            if target:
                self._moves.append((uuid, host, target))
                self._put(uuid, target)
                return True
        return False

    def _in_order(self, host: str) -> list[str]:
        """The smallest that suffices; of those that do not, the largest."""
        moved = {uuid for uuid, _, _ in self._moves}
        keys = []
        for uuid, its_host in self._placement.items():
            if its_host != host or uuid in moved or not self._may_move(uuid):
                continue
            excess = self._excess(host)
            shares = {one: self._share(uuid, one, host) for one in excess}
            helps = sum(min(shares[one], excess[one]) for one in excess)
            if helps <= SAME:
                continue
            suffices = all(shares[one] >= excess[one] - SAME for one in excess)
            size = sum(one.weight * shares[one.name] for one in self._policies)
            key = round(size if suffices else -helps, 9)
            keys.append((not suffices, key, uuid))
        return [uuid for _, _, uuid in sorted(keys)]

    def _target(self, uuid: str) -> str:
        """The fullest in use, else the empty one that it fills least."""
        legal = [
            host
            for host in self._hosts
            if self._is_legal(uuid, host)
            and self._is_below(uuid, host)
            and self._is_safe(uuid, host)
        ]
        in_use = self._in_use()
        return next(
            iter(
                sorted(
                    (one for one in legal if one in in_use),
                    key=lambda one: (-self._rank(one)[0], one),
                )
                + sorted(
                    (one for one in legal if one not in in_use),
                    key=lambda one: (self._size(uuid, one), one),
                )
            ),
            '',
        )

    def _size(self, uuid: str, host: str) -> float:
        return round(
            sum(
                one.weight * self._share(uuid, one.name, host)
                for one in self._policies
            ),
            9,
        )

    def _is_safe(self, uuid: str, host: str) -> bool:
        """Whether as many hosts may be lost as before."""
        if not self._settings.headroom_hosts or not self._can_lose_hosts():
            return True
        saved = copy.deepcopy((self._placement, self._scores, self._loads))
        self._put(uuid, host)
        is_safe = self._can_lose_hosts()
        self._placement, self._scores, self._loads = saved
        return is_safe
