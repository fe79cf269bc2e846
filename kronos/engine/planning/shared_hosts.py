# SPDX-License-Identifier: Apache-2.0
"""The hosts that scopes share: a later one starts from the earlier plans.

A host may be in two aggregates. The later scope then starts from what the
earlier one leaves: scores, placement and headroom.
"""

import dataclasses
import functools
from dataclasses import dataclass, field

from kronos.engine import wording
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring.profiles import Profiles
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.types import (
    Disruption,
    EarlierMove,
    Headroom,
    Host,
    Instance,
    Snapshot,
)


@dataclass
class EarlierPlans:
    """What was planned in the scopes before this one."""

    moves: list[EarlierMove] = field(default_factory=list)

    def planned(self) -> dict[str, Reason]:
        """Instance uuid to the reason why it is not planned again."""
        return {
            move.instance.uuid: Reason(
                f'it is already planned in scope {move.scope}',
                Code.INSTANCE_PLANNED_BEFORE,
                move.scope,
            )
            for move in self.moves
        }

    def place(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with placement and room after the earlier moves.

        It stays as it is itself.
        """
        hosts, instances = dict(snapshot.hosts), dict(snapshot.instances)
        for move in self._believed(snapshot):
            uuid = move.instance.uuid
            here = instances.pop(uuid, move.instance)
            if move.destination in hosts:
                instances[uuid] = dataclasses.replace(
                    here, host=move.destination
                )
            for name, sign in _ends(move, snapshot):
                hosts[name] = _loaded(hosts[name], move.instance, sign)
        waiting = [
            Disruption(move.instance.uuid, move.instance.project_id)
            for move in self.moves
        ]
        return dataclasses.replace(
            snapshot,
            hosts=hosts,
            instances=instances,
            disruptions=snapshot.disruptions + waiting,
        )

    def shifted(
        self, snapshot: Snapshot, card: Scorecard, profiles: Profiles
    ) -> Scorecard:
        """The scorecard after the moves, with warnings about them.

        :param snapshot: before the moves, like the profiles
        """
        card = dataclasses.replace(
            card,
            values={
                name: dict(by_host) for name, by_host in card.values.items()
            },
            loads={
                name: dict(by_host) for name, by_host in card.loads.items()
            },
        )
        warnings, touched = list(card.warnings), {}
        servers = snapshot.instances | {
            move.instance.uuid: move.instance for move in self.moves
        }
        names = functools.cache(lambda: wording.ServerNames(servers))
        for move in self._believed(snapshot):
            for name, sign in _ends(move, snapshot):
                warnings += [
                    _not_shifted(
                        move, names().of(move.instance.uuid), policy, name
                    )
                    for policy in _shift(card, profiles, move, name, sign)
                ]
                touched[name] = move.scope
        warnings += [
            f'host {name} is in scope {scope} too: planning starts '
            'from the state after the plan of that scope'
            for name, scope in sorted(touched.items())
        ]
        card = dataclasses.replace(card, warnings=warnings)
        return card.rescored() if touched else card

    def _believed(self, snapshot: Snapshot) -> list[EarlierMove]:
        """The moves of instances that were not seen elsewhere meanwhile."""
        host_of = {
            uuid: instance.host
            for uuid, instance in snapshot.instances.items()
        }
        moves = []
        for move in self.moves:
            uuid = move.instance.uuid
            if host_of.get(uuid, move.source) == move.source:
                host_of[uuid] = move.destination
                moves.append(move)
        return moves


def _ends(move: EarlierMove, snapshot: Snapshot) -> list[tuple[str, int]]:
    """The ends that are in a scope, with what the move adds there."""
    both = (move.source, -1), (move.destination, 1)
    return [(name, sign) for name, sign in both if name in snapshot.hosts]


def _loaded(host: Host, instance: Instance, sign: int) -> Host:
    if host.headroom is None:
        return host
    demand = instance.demand
    headroom = {
        name: Headroom(row.capacity, row.used + sign * demand.get(name, 0))
        for name, row in host.headroom.items()
    }
    return dataclasses.replace(host, headroom=headroom)


def _shift(
    card: Scorecard,
    profiles: Profiles,
    move: EarlierMove,
    host: str,
    sign: int,
) -> list[str]:
    """Take the instance off a host's scores, or put it on them.

    :returns: the policies by which its share is not known
    """
    unknown = []
    own = profiles.profiles.get(move.instance.uuid)
    usage = {**(own.usage if own else {}), **move.usage}
    for policy in card.values:
        tables = [
            table[policy]
            for table in (card.values, card.loads)
            if host in table.get(policy, {})
        ]
        if not tables:
            continue
        if policy not in usage:
            unknown.append(policy)
            continue
        size = profiles.capacities.get(policy, {}).get(host, 1.0)
        for values in tables:
            values[host] += sign * usage[policy] / size
    return unknown


def _not_shifted(
    move: EarlierMove, server: str, policy: str, host: str
) -> str:
    return (
        f'policy {policy} was not used in scope {move.scope}: the share of '
        f'{server}, planned there, is unknown, so the score of {host} is the '
        'measured one'
    )
