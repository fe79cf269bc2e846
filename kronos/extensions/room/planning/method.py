# SPDX-License-Identifier: Apache-2.0
"""The method: the most slots for a number of migrations, with its proof."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kronos.extensions.room.planning import (
    generation,
    greedy,
    nearby,
    ordering,
)
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Column
from kronos.extensions.room.planning.dynamic import DynamicPricing
from kronos.extensions.room.planning.generation import Generated
from kronos.extensions.room.planning.ordering import Move, Ordered
from kronos.extensions.room.planning.programs import Pool, solver, whole
from kronos.extensions.room.planning.proof import Proof

TRIES = 12
"""Choices of columns for which an order is sought."""


@dataclass(frozen=True)
class RoomPlan:
    """Live migrations in order, and what they lead to."""

    moves: list[Move]
    before: int
    """Slots of now."""
    after: int
    """Slots at the end of the plan."""
    proof: Proof | None
    """None without scipy."""

    @property
    def is_proven(self) -> bool:
        """Whether no plan of as many migrations has more slots."""
        return self.proof is not None and self.after == self.proof.most


def most_slots(cluster: Cluster, moves: int) -> RoomPlan:
    """Plan the most slots.

    :param moves: migrations, at most; 0 or more
    """
    before = int(cluster.slot_counts(cluster.free).sum())
    if not moves or not ordering.any_move(cluster):
        return RoomPlan([], before, before, Proof(moves, before))
    if solver() is None:
        result = greedy.ordered(cluster, moves)
        return RoomPlan(result.moves, before, _slots(cluster, result), None)
    classes = HostClasses.of(cluster)
    pricing = DynamicPricing(cluster, classes)
    generated = generation.generate(cluster, classes, pricing, moves)
    most = before + whole(generated.bound)
    proof = Proof(moves, most, generated.prices)
    if cluster.by_sum() < most:
        proof = Proof(moves, cluster.by_sum())
    result = _best(generated, proof.most - before, moves)
    return RoomPlan(result.moves, before, _slots(cluster, result), proof)


def _best(generated: Generated, most: int, moves: int) -> Ordered:
    """The best plan of the columns; of more if it is not at the bound.

    :param most: slots that no plan adds more than
    """
    pool = generated.pool
    result = _carried_out(pool, most, moves)
    gain = _slots(pool.cluster, result) - _slots_before(pool.cluster)
    if gain == most:
        return result
    # Slots are whole: the next plan has one more.
    loss = generated.bound - (gain + 1)
    for column in nearby.columns(
        pool.cluster, pool.classes, generated.prices, loss
    ):
        pool.add(column)
    more = _carried_out(pool, most, moves)
    is_better = _slots(pool.cluster, more) > _slots(pool.cluster, result)
    return more if is_better else result


def _carried_out(pool: Pool, most: int, moves: int) -> Ordered:
    """The best choice of columns that an order is known for."""
    cluster = pool.cluster
    best = Ordered(free=cluster.free)
    cuts: list[list[int]] = []
    for _ in range(TRIES):
        chosen = pool.choose(most, cuts)
        if not chosen:
            break
        gain = sum(pool.gains[number] for number in chosen)
        if gain <= _slots(cluster, best) - _slots_before(cluster):
            break
        spare = moves - sum(pool.outs[number] for number in chosen)
        hosts = _hosts(pool, chosen)
        result = ordering.ordered(
            cluster,
            [(host, pool.columns[number]) for number, host in hosts],
            spare,
        )
        if _slots(cluster, result) > _slots(cluster, best):
            best = result
        if not result.stuck:
            break
        stuck = [number for number, host in hosts if host in result.stuck]
        cuts.append(stuck or chosen)
    return best


def _hosts(pool: Pool, chosen: Sequence[int]) -> list[tuple[int, int]]:
    """A host for each column, in the order of hosts in its class."""
    hosts: dict[int, list[int]] = defaultdict(list)
    for host, host_class in enumerate(pool.classes.class_of.tolist()):
        hosts[host_class].append(host)
    for members in hosts.values():
        members.reverse()
    columns: list[Column] = pool.columns
    return [
        (number, hosts[columns[number].host_class].pop()) for number in chosen
    ]


def _slots(cluster: Cluster, result: Ordered) -> int:
    return int(cluster.slot_counts(result.free).sum())


def _slots_before(cluster: Cluster) -> int:
    return int(cluster.slot_counts(cluster.free).sum())
