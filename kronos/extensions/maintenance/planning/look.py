# SPDX-License-Identifier: Apache-2.0
"""The look before a run: what is in its way, host by host."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import IntArray
from kronos.engine.reasons import Reason
from kronos.engine.types import Instance, ServerGroup, Snapshot
from kronos.extensions.maintenance import hints, host_states, maintenance
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import (
    Maintenance,
    RunView,
    Stopped,
)
from kronos.extensions.maintenance.outcome import Look, Staying
from kronos.extensions.maintenance.planning.cluster import Cluster

AHEAD = State.TO_DO, State.OPENED
"""Of hosts that are to be emptied later."""
UNCONFIRMED = 'finished'
"""Nova's word for the migration of a server that is in VERIFY_RESIZE."""
APART = 'anti-affinity'


def of(
    snapshot: Snapshot, spec: Maintenance, unmovable: Mapping[str, Reason]
) -> Look:
    """What is in the way of a run from now on.

    :param unmovable: by uuid why a server cannot move
    """
    states = host_states.of(snapshot, spec)
    ahead = {
        name
        for name, row in states.items()
        if row.state in AHEAD or row.is_emptied
    }
    look = Look()
    for uuid, server in sorted(snapshot.instances.items()):
        if server.host not in ahead:
            continue
        if server.status == maintenance.SHUTOFF:
            look.stopped.setdefault(server.host, []).append(uuid)
        if uuid in unmovable and not _may_stay(server, spec):
            look.staying.append(_staying(server, unmovable[uuid]))
    look.may_return = _may_return(snapshot, ahead)
    closed = host_states.unavailable(snapshot, states)
    look.others = [
        name
        for name in closed
        if name not in states or states[name].reason is None
    ]
    open_hosts = len(snapshot.hosts) - len(look.others)
    look.groups = [
        f'group {group.name or group.uuid} needs {needed} hosts, and at_once '
        f'{spec.at_once} leaves {open_hosts - spec.at_once} of {open_hosts}'
        for group, needed in _groups(snapshot, ahead)
        if needed > open_hosts - spec.at_once
    ]
    look.most_at_once = _most_at_once(snapshot, ahead, look.others, unmovable)
    look.pace = _pace(maintenance.view_of(snapshot.beside), spec)
    look.hints = [*_hints(snapshot, spec, states, look)]
    if ahead and not look.most_at_once:
        look.hints.append(hints.NO_ROOM)
    return look


def _pace(view: RunView, spec: Maintenance) -> str:
    if not view.is_forced:
        return (
            'one plan at a time, and none beside other plans: the audit was '
            'created without --force'
        )
    if not 0 < view.plans_at_once < spec.at_once:
        return ''
    return (
        f'{wording.counted(view.plans_at_once, "plan")} at a time by '
        f'[watcher_applier] workers, and at_once is {spec.at_once}'
    )


def _may_stay(server: Instance, spec: Maintenance) -> bool:
    is_stopped = server.status == maintenance.SHUTOFF
    return is_stopped and spec.stopped is Stopped.STAY


def _staying(server: Instance, why: Reason) -> Staying:
    return Staying(
        server.host,
        server.uuid,
        server.name,
        why.code.value,
        str(why),
        why.code.remedy,
    )


def _may_return(snapshot: Snapshot, ahead: set[str]) -> dict[str, list[str]]:
    """Servers whose resize may still be reverted, by the host they left."""
    by_host: dict[str, set[str]] = defaultdict(set)
    for event in snapshot.events:
        if event.is_resize and event.status == UNCONFIRMED:
            by_host[event.source].add(event.instance)
    return {
        host: sorted(by_host[host]) for host in sorted(ahead & by_host.keys())
    }


def _groups(
    snapshot: Snapshot, ahead: set[str]
) -> Iterator[tuple[ServerGroup, int]]:
    """Groups that stay apart, and how many hosts they need at least."""
    for group in snapshot.groups:
        hosts = [
            snapshot.instances[uuid].host
            for uuid in group.members
            if uuid in snapshot.instances
        ]
        if group.policy == APART and ahead & {*hosts}:
            yield group, math.ceil(len(hosts) / group.max_server_per_host)


def _most_at_once(
    snapshot: Snapshot,
    ahead: set[str],
    others: Sequence[str],
    unmovable: Mapping[str, Reason],
) -> int:
    """How many hosts may be empty at once: the fullest, by their room."""
    cluster = Cluster(snapshot, unmovable)
    shut = [cluster.position[name] for name in others]
    hosts = [cluster.position[name] for name in sorted(ahead)]
    content = np.array(
        [cluster.need[:, cluster.on[host]].sum(axis=1) for host in hosts]
    ).reshape(len(hosts), 2)
    free = np.maximum(cluster.free, 0.0)
    free[:, shut] = 0.0
    open_hosts = len(snapshot.hosts) - len(others)
    largest = max((n for _, n in _groups(snapshot, ahead)), default=1)
    most = open_hosts - largest
    order: IntArray = np.argsort(-content[:, 1], kind='stable')
    number, need, room = 0, np.zeros(2), free.sum(axis=1)
    for place in order[: max(0, most)].tolist():
        need = need + content[place]
        room = room - free[:, hosts[place]]
        if (need > room).any():
            break
        number += 1
    return number


def _hints(
    snapshot: Snapshot,
    spec: Maintenance,
    states: Mapping[str, HostState],
    look: Look,
) -> Iterator[str]:
    view = maintenance.view_of(snapshot.beside)
    begun = any(row.reason is not None for row in states.values())
    done = sum(row.state is State.DONE for row in states.values())
    if states and done == len(states):
        yield hints.NO_WORK
    elif not (view.unknown or done or begun):
        yield hints.NOBODY_DONE
    if spec.at_once > look.most_at_once and look.most_at_once:
        yield (
            f'with at_once {spec.at_once} the hosts that are left have no '
            f'room; {look.most_at_once} would do'
        )
    if len(look.others) >= spec.at_once:
        yield hints.closed(look.others)
    yield from map(hints.balanced, view.balancing)
