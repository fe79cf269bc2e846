# SPDX-License-Identifier: Apache-2.0
"""The concurrency limits of moves, counted over what is under way."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

from oslo_log import log as logging

from kronos.actions.core import slots
from kronos.actions.core.parameters import MigrationTask
from kronos.clients.nova.client import NovaClient
from kronos.common import durations
from kronos.engine import types
from kronos.engine.settings import INTO_HOST, OUT_OF_HOST

LOG = logging.getLogger(__name__)

LEFT_BEHIND_SECONDS = 60.0
"""For so long a migration counts although its server is not busy: Nova is
about to say how it ended. A row that is older was left by a nova-compute
that was killed."""


@dataclass
class ConcurrencyLimits:
    """Moves under way at a time, and seconds between two starts."""

    in_scope: int = 2
    out_of_host: int = OUT_OF_HOST
    into_host: int = INTO_HOST
    stagger_seconds: float = 0.0
    yield_seconds: float = 10.0
    """For so long a move that could begin lets one of its plan go first that
    is to begin before it: that one has to find out that it can."""
    stuck_seconds: float = 86400.0
    """After so long a migration of which Nova tells nothing new holds
    nothing but its hosts."""


@dataclass
class Flight:
    """A move that is under way or about to be."""

    instance: str
    source: str
    destination: str
    is_own_plan: bool = False
    is_local: bool = False
    """Whether it counts at its hosts alone, and not in the scope: tenants
    resize all the time, and what is stuck would hold the scope for ever."""

    @classmethod
    def of(cls, slot: slots.Slot) -> Self:
        return cls(
            slot.instance, slot.source, slot.destination, slot.is_own_plan
        )


def scope_of(nova: NovaClient, aggregate: str) -> Callable[[str], bool]:
    """Whether a host is in an aggregate as it is now, or in none.

    :raises NovaClientError: Nova cannot be asked
    """
    aggregates = nova.list_aggregates()
    if aggregate == types.UNASSIGNED:
        taken = {host for row in aggregates for host in row.hosts}
        return lambda host: bool(host) and host not in taken
    rows = [row for row in aggregates if row.name == aggregate]
    return lambda host: any(host in row.hosts for row in rows)


class Concurrency:
    """What moves now, as Nova and the other actions of Kronos tell.

    One class, since one look is what all limits are judged by.

    :param client: asked anew at every :meth:`look`
    :param clock: Unix seconds
    """

    def __init__(
        self,
        client: NovaClient,
        task: MigrationTask,
        limits: ConcurrencyLimits,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._nova = client
        self._task = task
        self._limits = limits
        self._clock = clock
        self._flights: list[Flight] = []
        self._is_inside: Callable[[str], bool] = lambda host: False
        self._told: set[str] = set()
        self._seen: dict[tuple[str, float], float] = {}
        """When a turn was first seen, by action and start."""
        self._yields_since: float | None = None
        self.is_behind = False
        """Whether, when it was asked last, it had to wait for its own plan."""

    def look(self) -> None:
        """Ask Nova for the hosts of the scope and for what is under way.

        :raises NovaClientError: it cannot be asked
        """
        self._is_inside = scope_of(self._nova, self._task.aggregate)
        self._flights = [
            Flight(
                migration.instance,
                migration.source,
                migration.destination,
                is_local=migration.is_resize or self._is_stuck(migration),
            )
            for migration in self._nova.list_unfinished_migrations()
            if migration.instance != self._task.instance
            and self._is_moving(migration.instance, migration.at)
        ]

    def is_inside(self, host: str) -> bool:
        """Whether a host belonged to the task's scope at the last look."""
        return self._is_inside(host)

    def _is_moving(self, uuid: str, updated: float) -> bool:
        if self._clock() - updated <= LEFT_BEHIND_SECONDS:
            return True
        instance = self._nova.get_instance(uuid)
        if instance is not None and instance.task_state:
            return True
        if uuid not in self._told:
            self._told.add(uuid)
            LOG.info(
                'Kronos ignores a migration of %s: Nova has not recorded its '
                'end, but the server is not busy',
                uuid,
            )
        return False

    def _is_stuck(self, migration: types.Event) -> bool:
        age = self._clock() - migration.at
        if age <= self._limits.stuck_seconds:
            return False
        if migration.instance not in self._told:
            self._told.add(migration.instance)
            LOG.warning(
                'The migration of %s from %s to %s is stuck: Nova has '
                'recorded nothing new about it for %d s. It now uses slots '
                'at these hosts only',
                migration.instance,
                migration.source,
                migration.destination,
                age,
            )
        return True

    def under_way(self, others: Iterable[slots.Slot]) -> list[Flight]:
        """All moves of others, each instance's once."""
        holders = [slot for slot in others if slot.is_held]
        instances = {slot.instance for slot in holders}
        return [
            *map(Flight.of, holders),
            *(
                flight
                for flight in self._flights
                if flight.instance not in instances
            ),
        ]

    def why_behind(self, others: list[slots.Slot]) -> str:
        """What of its own plan the task has to wait for, whatever Nova says.

        :returns: '' if its own plan does not keep it from its turn
        """
        task = self._task
        moving = [
            Flight.of(slot)
            for slot in others
            if slot.is_held
            and slot.is_own_plan
            and slot.scope == task.aggregate
        ]
        reason, _ = self._why_full(task, moving, moving)
        return reason

    def why_wait(self, others: list[slots.Slot]) -> str:
        """What the task has to wait for; '' if it may go.

        :param others: those of the other actions
        """
        moving = self.under_way(others)
        inside = self._inside(moving, others)
        reason, self.is_behind = self._why_full(self._task, moving, inside)
        if reason:
            self._yields_since = None
            return reason
        reason = self._why_yield(moving, inside, others)
        self.is_behind = bool(reason)
        return reason or self._why_stagger(others)

    def _inside(
        self, moving: list[Flight], others: list[slots.Slot]
    ) -> list[Flight]:
        """What counts in the scope of the task."""
        scope = self._task.aggregate
        ours = {
            move.instance
            for move in others
            if move.is_held and move.scope == scope
        }
        return [
            move
            for move in moving
            if not move.is_local
            and (
                move.instance in ours
                or self._is_inside(move.source)
                or self._is_inside(move.destination)
            )
        ]

    def _why_full(
        self,
        move: MigrationTask | slots.Slot,
        moving: list[Flight],
        inside: list[Flight],
    ) -> tuple[str, bool]:
        """Which limit keeps a move of the scope, and if it is by its plan."""
        limits, scope = self._limits, self._task.aggregate
        out = [flight for flight in moving if flight.source == move.source]
        into = [
            flight
            for flight in moving
            if flight.destination == move.destination
        ]
        for flights, limit, where in (
            (out, limits.out_of_host, f'out of {move.source}'),
            (into, limits.into_host, f'into {move.destination}'),
            (inside, limits.in_scope, f'in {scope}'),
        ):
            if len(flights) >= limit:
                reason = (
                    f'{len(flights)} under way {where}, of at most {limit}'
                )
                return reason, any(flight.is_own_plan for flight in flights)
        return '', False

    def _why_yield(
        self,
        moving: list[Flight],
        inside: list[Flight],
        others: list[slots.Slot],
    ) -> str:
        """Which move of its plan the task lets go first; '' if none.

        Not for long: what waits there may have another reason to.
        """
        scope = self._task.aggregate
        moving, inside = list(moving), list(inside)
        for slot in others:
            if not slot.is_ahead or slot.scope != scope:
                continue
            if self._why_full(slot, moving, inside)[0]:
                continue
            moving.append(Flight.of(slot))
            inside.append(Flight.of(slot))
            if self._why_full(self._task, moving, inside)[0]:
                break
        else:
            self._yields_since = None
            return ''
        if self._yields_since is None:
            self._yields_since = self._clock()
        if self._clock() - self._yields_since >= self._limits.yield_seconds:
            return ''
        return f'the move of {slot.instance} in its plan goes first'

    def _why_stagger(self, others: list[slots.Slot]) -> str:
        now = self._clock()
        # The clock of another applier may be ahead: no start is later than
        # it was first seen.
        starts = [
            min(
                slot.since,
                self._seen.setdefault((slot.action, slot.since), now),
            )
            for slot in others
            if slot.scope == self._task.aggregate and not slot.is_ahead
        ]
        passed = now - max(starts, default=0.0)
        if passed >= self._limits.stagger_seconds:
            return ''
        return (
            f'the last one in {self._task.aggregate} started '
            f'{durations.rounded(passed)} '
            f'ago, and stagger_seconds is {self._limits.stagger_seconds:g}'
        )
