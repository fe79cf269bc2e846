# SPDX-License-Identifier: Apache-2.0
"""The lives of a load's servers: born, gone, and on which host in between."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kronos.clients.nova.server_lives import ServerLife
from kronos.engine.types import Event, Instance, Outcome, ServerGroup
from kronos.simulate.load_schema import ServerRow

NOWHERE = -1
Places = npt.NDArray[np.int32]


@dataclass
class Stay:
    """A time at one host."""

    host: str
    until: float | None = None
    """Unix seconds, when it went to the next one; None: it is the last."""


@dataclass
class Life:
    """A server over the time of a load."""

    server: ServerRow
    stays: list[Stay] = field(default_factory=list)
    """The oldest first; there is one at least."""


def joined(
    present: Iterable[Instance],
    changed: Iterable[ServerLife],
    events: Iterable[Event],
    groups: Iterable[ServerGroup] = (),
) -> list[Life]:
    """The lives of all servers that Nova reports, by uuid.

    :param present: the servers of today that have a host
    :param changed: those that came, changed or went
    :param events: past moves
    :param groups: of the servers of today
    """
    instances = {instance.uuid: instance for instance in present}
    gone: dict[str, float] = {}
    for life in changed:
        uuid = life.instance.uuid
        if life.gone is not None and uuid not in instances:
            # One that was deleted while the others were listed lives.
            gone[uuid] = life.gone
        instances.setdefault(uuid, life.instance)
    moves: dict[str, list[Event]] = {}
    for event in events:
        if event.outcome is Outcome.MOVED:
            moves.setdefault(event.instance, []).append(event)
    group_of = {uuid: group.uuid for group in groups for uuid in group.members}
    return [
        Life(
            _row(
                instances[uuid],
                group=group_of.get(uuid),
                gone=gone.get(uuid),
            ),
            _stays(instances[uuid].host, moves.get(uuid, [])),
        )
        for uuid in sorted(instances)
    ]


def _row(
    instance: Instance,
    group: str | None,
    gone: float | None,
) -> ServerRow:
    return ServerRow(
        instance.uuid,
        name=instance.name,
        vcpus=instance.vcpus,
        memory_mb=instance.memory_mb,
        disk_gb=instance.disk_gb,
        flavor=instance.flavor,
        project_id=instance.project_id,
        group=group,
        internal_name=instance.internal_name,
        extra_specs=instance.extra_specs,
        pinned_availability_zone=instance.pinned_availability_zone,
        is_volume_backed=instance.is_volume_backed,
        dirty_rate=instance.dirty_rate,
        born=instance.created or None,
        gone=gone,
    )


def _stays(host: str, moves: Iterable[Event]) -> list[Stay]:
    """Where a server was, from its last host backwards."""
    stays = [Stay(host)]
    for move in sorted(moves, key=lambda event: event.at, reverse=True):
        # One that does not lead to where the server was next is no history
        # of it, such as a row that was written twice.
        if move.destination == stays[0].host and move.source:
            stays.insert(0, Stay(move.source, move.at))
    return stays


class Whereabouts:
    """Where every server of a load is at its ticks.

    :param lives: the columns
    :param hosts: names of the hosts; a server elsewhere is nowhere
    :param start: Unix seconds of tick 0
    :param step: seconds from tick to tick
    """

    def __init__(
        self,
        lives: Sequence[Life],
        hosts: Sequence[str],
        start: float,
        step: int,
    ) -> None:
        self._lives = lives
        self._start, self._step = start, step
        self._index = {name: number for number, name in enumerate(hosts)}
        self._last = np.array(
            [self._place(life.stays[-1].host) for life in lives], np.int32
        )
        self._changing = [
            number
            for number, life in enumerate(lives)
            if len(life.stays) > 1
            or life.server.born is not None
            or life.server.gone is not None
        ]

    def block(self, first: int, ticks: int) -> Places:
        """The places at some ticks, by tick and server."""
        places = np.tile(self._last, (ticks, 1))
        for number in self._changing:
            places[:, number] = self._column(number, first, ticks)
        return places

    def _place(self, host: str) -> int:
        return self._index.get(host, NOWHERE)

    def _column(self, number: int, first: int, ticks: int) -> Places:
        life = self._lives[number]
        column = np.full(ticks, NOWHERE, np.int32)
        begin = 0
        for stay in life.stays:
            end = self._row(stay.until, first, ticks, ticks)
            column[begin:end] = self._place(stay.host)
            begin = max(begin, end)
        column[: self._row(life.server.born, first, ticks, 0)] = NOWHERE
        column[self._row(life.server.gone, first, ticks, ticks) :] = NOWHERE
        return column

    def _row(
        self, moment: float | None, first: int, ticks: int, default: int
    ) -> int:
        """The first row of a block that is not before a moment."""
        if moment is None:
            return default
        tick = int(np.ceil((moment - self._start) / self._step))
        return min(max(tick - first, 0), ticks)


def columns_of(names: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """The column of each name, and the names that several servers have.

    :param names: of the servers, in the order of their columns
    """
    columns: dict[str, int] = {}
    repeated: set[str] = set()
    for number, name in enumerate(names):
        if name in columns:
            repeated.add(name)
        columns[name] = number
    for name in repeated | {''}:
        columns.pop(name, None)
    return columns, repeated - {''}
