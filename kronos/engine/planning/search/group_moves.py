# SPDX-License-Identifier: Apache-2.0
"""The repair search: which moves bring a group closer to its rule."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kronos.engine import server_groups
from kronos.engine.arrays import (
    EPSILON,
    BoolArray,
    FloatArray,
    IntArray,
)
from kronos.engine.eligibility import in_flight
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import ranking
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import ServerGroup


@dataclass(eq=False)
class BrokenGroup:
    """A group whose rule is broken when the phase begins."""

    server_group: ServerGroup
    members: list[int]
    """Positions of those on hosts of the scope."""

    @property
    def is_together(self) -> bool:
        """Whether its members are to be on one host."""
        return self.server_group.policy in server_groups.TOGETHER


@dataclass
class GroupMove:
    """A move for the sake of a group."""

    instance: int
    destination: int
    group: BrokenGroup
    gain: float = 0.0
    """How far the combined imbalance falls; negative if it grows."""
    drop: float = 0.0
    """How far the variance falls."""
    wakes: bool = False
    """Whether it enters a host that mode pack wants empty."""


class Regroup:
    """The repair moves that a simulation allows now.

    :param packs: mode pack knows no threshold to object by, and rather
        leaves an empty host empty
    :param draining: [H]; hosts that are to be emptied: what is to be
        together is gathered on another one
    :param cost_weight: what 100 GiB cost, in combined imbalance
    """

    def __init__(
        self,
        simulation: Simulation,
        packs: bool,
        draining: BoolArray,
        cost_weight: float = 0.0,
    ) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._packs = packs
        self._draining = draining
        self._cost_weight = cost_weight

    def on(self, group: BrokenGroup) -> Counter[int]:
        """Its members by host."""
        return Counter(self._placement.host_of[group.members].tolist())

    def excess(self, group: BrokenGroup) -> int:
        """How far it is from its rule, in moves."""
        on = self.on(group)
        if group.is_together and len(on) > 1:
            return on.total() - max(self._able(on).values(), default=0)
        return server_groups.excess(group.server_group, on)

    def _able(self, on: Counter[int]) -> Counter[int]:
        """Those of the hosts on which members may meet."""
        return Counter({h: on[h] for h in on if not self._draining[h]})

    def ends(self, group: BrokenGroup) -> tuple[list[int], list[int]]:
        """The members that may leave, and the hosts that may take them.

        From the one to the other, every move brings the group closer.
        """
        on, host_of = self.on(group), self._placement.host_of
        if group.is_together:
            able = self._able(on)
            most = max(able.values(), default=0)
            return group.members, sorted(h for h in able if able[h] == most)
        limit = server_groups.most_per_host(group.server_group)
        hosts = range(len(self._utilization.index.hosts))
        return (
            [m for m in group.members if on[int(host_of[m])] > limit],
            [host for host in hosts if on[host] < limit],
        )

    def legal(
        self, group: BrokenGroup, members: Iterable[int], hosts: Iterable[int]
    ) -> list[GroupMove]:
        """The legal moves of members to which no policy objects.

        Without those that cannot be :meth:`best`.
        """
        movable = [m for m in members if self._simulation.movable[m]]
        some = np.array(movable, dtype=np.intp)
        places = np.array(list(hosts), dtype=np.intp)
        rows, columns = np.nonzero(self._allowed(group, some, places))
        if not len(rows):
            return []
        gains, objected, drops = self._judge(some[rows], places[columns])
        good = np.flatnonzero(~objected & np.isfinite(gains))
        wakes = self._unused()[places][columns]
        if not wakes[good].all():
            good = good[~wakes[good]]
        good = good[self._front(some[rows[good]], gains[good], drops[good])]
        return [
            GroupMove(
                int(some[rows[pair]]),
                int(places[columns[pair]]),
                group,
                float(gains[pair]),
                float(drops[pair]),
                bool(wakes[pair]),
            )
            for pair in good.tolist()
        ]

    def can_meet(self, group: BrokenGroup, host: int) -> bool:
        """Whether nothing that is known before forbids to gather it there.

        All others may move, each may come there, and there is room for all.
        """
        away = [m for m in group.members if self._placement.host_of[m] != host]
        if not all(self._simulation.movable[m] for m in away):
            return False
        some = np.array(away, dtype=np.intp)
        here = np.array([host], dtype=np.intp)
        if not self._allowed(group, some, here).all():
            return False
        return self._simulation.constraints.takes_all(some, host)

    def _allowed(
        self, group: BrokenGroup, instances: IntArray, hosts: IntArray
    ) -> BoolArray:
        """[n, h]: what the rules allow, of these hosts alone."""
        rules = self._simulation.constraints
        with rules.repairing(group.server_group.uuid):
            if len(hosts) == 1:
                return rules.column(int(hosts[0]))[instances][:, None]
            return rules.rows(instances)[:, hosts]

    def _front(
        self, instances: IntArray, gains: FloatArray, drops: FloatArray
    ) -> IntArray:
        """Those that can be :meth:`best`: no other is as good and better.

        Positions, as of instances by uuid, then hosts by name. Of those
        that gain the same and lower the variance by the same, bit by bit,
        the first is left that is the smallest.
        """
        memory = self._utilization.memory_mb[instances]
        order = np.lexsort((memory, -drops, -gains))
        if not order.size:
            return order
        drop, gain = drops[order], gains[order]
        most = np.maximum.accumulate(drop)
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(drop) != 0) | (np.diff(gain) != 0)
        front: IntArray = order[
            first & (drop >= most - EPSILON) & (gain >= gain[0] - EPSILON)
        ]
        return front

    def _judge(
        self, instances: IntArray, hosts: IntArray
    ) -> tuple[FloatArray, BoolArray, FloatArray]:
        sources = self._placement.host_of[instances]
        leaving, entered = self._utilization.scores_after(
            instances, sources, hosts
        )
        drops = self._utilization.variance_drop(
            sources, hosts, leaving, entered
        )
        drops = np.nan_to_num(drops, nan=-np.inf)  # of absurd values
        # A source that does not count leaves one end to be judged.
        counts = self._utilization.counts[sources]
        gains, objected = self._utilization.judge(
            np.where(counts, sources, hosts),
            hosts,
            [
                np.where(counts, old, new)
                for old, new in zip(leaving, entered, strict=True)
            ],
            entered,
        )
        objected &= self._simulation.rules.thresholds_object
        memory = self._utilization.memory_mb[instances]
        gains = gains - ranking.costs(memory, self._cost_weight)
        return gains, objected, drops

    def _unused(self) -> BoolArray:
        """[H]: the hosts that pack rather leaves as they are."""
        unused = np.full(len(self._utilization.index.hosts), self._packs)
        unused[self._placement.host_of] = False
        return unused

    def best(self, moves: list[GroupMove]) -> GroupMove:
        """The one that leaves the combined imbalance lowest.

        Of equals the one that lowers the variance most, then that of the
        smallest instance, then by uuid and host.

        :param moves: at least one
        """
        if not all(move.wakes for move in moves):
            moves = [move for move in moves if not move.wakes]
        drops = np.array([move.drop for move in moves])
        instances = np.array([move.instance for move in moves])
        position = ranking.best(
            np.array([move.gain for move in moves]),
            lambda ties: drops[ties],
            self._utilization.memory_mb[instances],
            instances,
            np.array([move.destination for move in moves]),
        )
        return moves[position]


def watched(
    moves: Regroup, simulation: Simulation, inputs: PhaseInput
) -> tuple[list[BrokenGroup], list[BrokenGroup]]:
    """The groups to repair, and those that have a member on its way.

    Where that member will end is not known yet.
    """
    index = simulation.utilization.index
    moving = in_flight.destinations(inputs.snapshot)
    ready: list[BrokenGroup] = []
    waiting: list[BrokenGroup] = []
    for group in sorted(inputs.snapshot.groups, key=lambda group: group.uuid):
        if not server_groups.is_enforced(group, inputs.settings):
            continue
        broken = BrokenGroup(
            group,
            sorted(
                index.instance[uuid]
                for uuid in set(group.members)
                if uuid in index.instance
            ),
        )
        if not moves.excess(broken):
            continue
        waits = any(uuid in moving for uuid in group.members)
        (waiting if waits else ready).append(broken)
    return ready, waiting
