# SPDX-License-Identifier: Apache-2.0
"""The concurrency limits of moves, counted over what is under way."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.actions.migration.task import MigrationTask
from kronos.actions.migration.turn import slots
from kronos.clients.nova.client import NovaClient
from kronos.engine import types
from kronos.engine.settings import INTO_HOST, OUT_OF_HOST

LOG = logging.getLogger(__name__)

LEFT_BEHIND_SECONDS = 60.0
"""For so long a migration counts although its server is not busy: Nova is
about to say how it ended. A row that is older was left by a nova-compute
that was killed."""


@dataclass
class Limits:
    """Moves under way at a time, and seconds between two starts."""

    in_scope: int = 2
    out_of_host: int = OUT_OF_HOST
    into_host: int = INTO_HOST
    stagger_seconds: float = 0.0
    stuck_seconds: float = 86400.0
    """After so long a migration of which Nova tells nothing new holds
    nothing but its hosts."""


@dataclass
class Flight:
    """A move that is under way or about to be."""

    instance: str
    source: str
    destination: str
    is_local: bool = False
    """Whether it counts at its hosts alone, and not in the scope: tenants
    resize all the time, and what is stuck would hold the scope for ever."""


class Concurrency:
    """What moves now, as Nova and the other actions of Kronos tell.

    :param client: asked anew at every :meth:`look`
    :param clock: Unix seconds
    """

    def __init__(
        self,
        client: NovaClient,
        task: MigrationTask,
        limits: Limits,
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

    def look(self) -> None:
        """Ask Nova for the hosts of the scope and for what is under way.

        :raises NovaClientError: it cannot be asked
        """
        self._is_inside = self._scope()
        self._flights = [
            Flight(
                one.instance,
                one.source,
                one.destination,
                is_local=one.is_resize or self._is_stuck(one),
            )
            for one in self._nova.list_unfinished_migrations()
            if one.instance != self._task.instance
            and self._is_moving(one.instance, one.at)
        ]

    def is_inside(self, host: str) -> bool:
        """Whether a host belonged to the task's scope at the last look."""
        return self._is_inside(host)

    def _scope(self) -> Callable[[str], bool]:
        known = self._nova.list_aggregates()
        if self._task.aggregate == types.UNASSIGNED:
            taken = {host for one in known for host in one.hosts}
            return lambda host: bool(host) and host not in taken
        inside = {
            host
            for one in known
            if one.name == self._task.aggregate
            for host in one.hosts
        }
        return lambda host: host in inside

    def _is_moving(self, uuid: str, at: float) -> bool:
        if self._clock() - at <= LEFT_BEHIND_SECONDS:
            return True
        instance = self._nova.get_instance(uuid)
        if instance is not None and instance.task_state:
            return True
        if uuid not in self._told:
            self._told.add(uuid)
            LOG.info(
                'A migration of %s does not count: Nova has not said how it '
                'ended, but the server is not busy',
                uuid,
            )
        return False

    def _is_stuck(self, one: types.Event) -> bool:
        age = self._clock() - one.at
        if age <= self._limits.stuck_seconds:
            return False
        if one.instance not in self._told:
            self._told.add(one.instance)
            LOG.warning(
                'The migration of %s from %s to %s is stuck: Nova has told '
                'nothing new of it for %d s. It counts at these hosts alone',
                one.instance,
                one.source,
                one.destination,
                age,
            )
        return True

    def under_way(self, others: Iterable[slots.Slot]) -> list[Flight]:
        """All moves of others, each instance's once."""
        held = [one for one in others if one.held]
        known = {one.instance for one in held}
        return [
            *(
                Flight(one.instance, one.source, one.destination)
                for one in held
            ),
            *(one for one in self._flights if one.instance not in known),
        ]

    def why_wait(self, others: list[slots.Slot]) -> str:
        """What the task has to wait for; '' if it may go.

        :param others: those of the other actions
        """
        task, limits = self._task, self._limits
        held = [one for one in others if one.held]
        moving = self.under_way(others)
        ours = {one.instance for one in held if one.scope == task.aggregate}
        inside = [
            one
            for one in moving
            if not one.is_local
            and (
                one.instance in ours
                or self._is_inside(one.source)
                or self._is_inside(one.destination)
            )
        ]
        out = [one for one in moving if one.source == task.source]
        into = [one for one in moving if one.destination == task.destination]
        for number, limit, where in (
            (len(out), limits.out_of_host, f'out of {task.source}'),
            (len(into), limits.into_host, f'into {task.destination}'),
            (len(inside), limits.in_scope, f'in {task.aggregate}'),
        ):
            if number >= limit:
                return f'{number} under way {where}, of at most {limit}'
        return self._why_stagger(others)

    def _why_stagger(self, others: list[slots.Slot]) -> str:
        now = self._clock()
        # The clock of another applier may be ahead: no start is later than
        # it was first seen.
        starts = [
            min(one.at, self._seen.setdefault((one.action, one.at), now))
            for one in others
            if one.scope == self._task.aggregate
        ]
        passed = now - max(starts, default=0.0)
        if passed >= self._limits.stagger_seconds:
            return ''
        return (
            f'the last one in {self._task.aggregate} started {passed:.0f} s '
            f'ago, and stagger_seconds is {self._limits.stagger_seconds:g}'
        )
