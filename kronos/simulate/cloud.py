# SPDX-License-Identifier: Apache-2.0
"""The cloud of the loop: which server is where now, and what room is left.

Its hosts and servers are the engine's own objects. They live as long as the
loop and are changed in place, so that a tick on which little happens costs
little.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kronos.engine.types import Headroom, Host, Instance, ServerGroup
from kronos.simulate.load import Load
from kronos.simulate.load_schema import ServerRow
from kronos.snapshots import scopes

NOWHERE = -1
CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
"""Of Placement, as the rows of the arrays of room."""
MIGRATING = 'migrating'
"""The task state of a server that is under way."""


class Cloud:
    """Where every server of a load is.

    :param load: what happened; nobody is anywhere before the first tick
    """

    def __init__(self, load: Load) -> None:
        recorded = load.recording.gathered
        own = recorded.cloud.hosts | recorded.cloud.other_hosts
        self.names = list(load.meta.hosts)
        """Of the hosts of the load, and of those that it lacks."""
        self.names += [name for name in own if name not in set(self.names)]
        self.index = {name: place for place, name in enumerate(self.names)}
        self.rows: list[ServerRow] = load.meta.instances
        self.uuids = [row.uuid for row in self.rows]
        self.position = {uuid: place for place, uuid in enumerate(self.uuids)}
        self.host = np.full(len(self.rows), NOWHERE, np.int32)
        """By server the index of its host."""
        self.going: dict[int, int] = {}
        """By server that is under way the index of its destination."""
        self.demand = np.array(
            [[row.vcpus, row.memory_mb, row.disk_gb] for row in self.rows],
            np.int64,
        ).reshape(-1, len(CLASSES))
        self.hosts = {
            name: _copy(own[name]) if name in own else Host(name, node=name)
            for name in self.names
        }
        self.instances: dict[str, Instance] = {}
        """By uuid, those that exist."""
        self._recorded = {each.uuid: each for each in recorded.instances}
        self._request = load.recording.request
        self._make_room()
        self.groups = {
            group.uuid: replace(group, members=[]) for group in recorded.groups
        }
        self._group_of = {
            row.uuid: row.group
            for row in self.rows
            if row.group in self.groups
        }
        for group in recorded.groups:
            for member in group.members:
                self._group_of.setdefault(member, group.uuid)

    def _make_room(self) -> None:
        """Take out of the headroom what the recorded servers have of it."""
        recorded: Counter[tuple[str, str]] = Counter()
        for server in self._recorded.values():
            for kind, amount in server.demand.items():
                recorded[server.host, kind] += amount
        self.capacity = np.full(
            (len(CLASSES), len(self.names)), np.iinfo(np.int64).max
        )
        self.used = np.zeros_like(self.capacity)
        for place, name in enumerate(self.names):
            for kind, room in (self.hosts[name].headroom or {}).items():
                room.used = max(0, room.used - recorded[name, kind])
                if kind in CLASSES:
                    row = CLASSES.index(kind)
                    self.capacity[row, place] = room.capacity
                    self.used[row, place] = room.used

    @property
    def alive(self) -> npt.NDArray[np.intp]:
        """The servers that exist, by index."""
        return np.flatnonzero(self.host >= 0)

    def fits(self, server: int) -> npt.NDArray[np.bool_]:
        """By host whether it has room for a server."""
        needs = self.demand[server][:, None]
        fits: npt.NDArray[np.bool_] = (self.used <= self.capacity - needs).all(
            axis=0
        )
        return fits

    def boot(self, server: int, host: int, created: float = 0.0) -> None:
        """Let a server come to exist.

        :param created: Unix seconds, where neither the load nor the recording
            tells; 0: nobody knows
        """
        row = self.rows[server]
        name = self.names[host]
        recorded = self._recorded.get(row.uuid)
        if recorded is None:
            instance = _instance(row, name)
        else:
            instance = replace(recorded, host=name, task_state=None)
        instance.created = instance.created or created
        instance.unmovable = (
            scopes.exclusion_of(instance, self._request) or instance.unmovable
        )
        self.instances[row.uuid] = instance
        self.host[server] = host
        self._use(host, server, 1)
        if group := self._group(server):
            group.members.append(row.uuid)

    def delete(self, server: int) -> None:
        """Let it be gone, under way or not."""
        uuid = self.uuids[server]
        self._use(int(self.host[server]), server, -1)
        destination = self.going.pop(server, NOWHERE)
        if destination != NOWHERE:
            self._use(destination, server, -1)
        self.host[server] = NOWHERE
        del self.instances[uuid]
        if group := self._group(server):
            group.members.remove(uuid)

    def begin(self, server: int, destination: int) -> None:
        """Let it set out: both hosts hold it until it arrives."""
        self.going[server] = destination
        self.instances[self.uuids[server]].task_state = MIGRATING
        self._use(destination, server, 1)

    def arrive(self, server: int) -> None:
        """Let it be where it was going to."""
        destination = self.going.pop(server)
        self._use(int(self.host[server]), server, -1)
        self.host[server] = destination
        instance = self.instances[self.uuids[server]]
        instance.task_state = None
        instance.host = self.names[destination]

    def turn_back(self, server: int) -> None:
        """Let its move fail: it is where it was."""
        self._use(self.going.pop(server), server, -1)
        self.instances[self.uuids[server]].task_state = None

    def put(self, server: int, host: int) -> None:
        """Let it be elsewhere at once, as a load says."""
        self.begin(server, host)
        self.arrive(server)

    def _group(self, server: int) -> ServerGroup | None:
        uuid = self._group_of.get(self.uuids[server])
        return None if uuid is None else self.groups[uuid]

    def _use(self, host: int, server: int, times: int) -> None:
        needs = self.demand[server] * times
        self.used[:, host] += needs
        room = self.hosts[self.names[host]].headroom
        if room:
            for kind, amount in zip(CLASSES, needs.tolist(), strict=True):
                if kind in room:
                    room[kind].used += amount


def _copy(host: Host) -> Host:
    if host.headroom is None:
        return replace(host)
    room = {
        kind: Headroom(each.capacity, each.used)
        for kind, each in host.headroom.items()
    }
    return replace(host, headroom=room)


def _instance(row: ServerRow, host: str) -> Instance:
    return Instance(
        row.uuid,
        host,
        name=row.name or row.uuid,
        internal_name=row.internal_name or row.uuid,
        vcpus=row.vcpus,
        memory_mb=row.memory_mb,
        disk_gb=row.disk_gb,
        flavor=row.flavor,
        project_id=row.project_id,
        extra_specs=row.extra_specs,
        pinned_availability_zone=row.pinned_availability_zone,
        is_volume_backed=row.is_volume_backed,
        dirty_rate=row.dirty_rate,
        created=row.born or 0.0,
    )
