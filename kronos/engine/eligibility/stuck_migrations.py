# SPDX-License-Identifier: Apache-2.0
"""The stuck migrations: under way for Nova, and nothing happens any more.

Each holds its instance, and its turn at its two hosts, until somebody ends it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.eligibility import quarantine
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import INTO_HOST, OUT_OF_HOST, Settings
from kronos.engine.types import Event, Origin, Outcome, PlanningInput


def is_stuck(event: Event, settings: Settings, now: float) -> bool:
    """Whether a migration is reported as running, without progress.

    Nova touches its row while it transfers anything.

    :param now: Unix seconds
    """
    age = now - event.at
    return event.outcome is Outcome.UNDER_WAY and age > settings.stuck_seconds


def holds_hosts(event: Event, settings: Settings, now: float) -> bool:
    """Whether a stuck migration has its turn at its two hosts for good.

    Only one that Nova reports: the actions look at nothing else there but
    at turns of their own, which pass by themselves.

    :param now: Unix seconds
    """
    return event.origin is Origin.NOVA and is_stuck(event, settings, now)


def without(
    case: PlanningInput, which: Callable[[Event], bool]
) -> PlanningInput:
    """The case in which some of the stuck migrations have ended."""
    settings, now = case.settings, case.snapshot.taken_at
    events = [
        event
        for event in case.snapshot.events
        if not which(event) or not is_stuck(event, settings, now)
    ]
    return replace(case, snapshot=replace(case.snapshot, events=events))


class StuckMigrations:
    """Those of a scope.

    :param events: from the oldest to the newest
    :param now: Unix seconds
    :param called: what people call a server, by its uuid
    """

    def __init__(
        self,
        events: Sequence[Event],
        settings: Settings,
        now: float,
        called: Callable[[str], str] = str,
    ) -> None:
        self._events = events
        self._settings = settings
        self._now = now
        self._called = called

    def notes(self) -> list[str]:
        """A word on each instance whose migration does not end."""
        limit = self._settings.stuck_seconds
        stuck = {
            event.instance: event
            for event in self._events
            if is_stuck(event, self._settings, self._now)
        }
        return [
            f'the migration of instance {self._called(uuid)} '
            f'{quarantine.route(event)} is stuck: Nova has reported no change '
            f'of it for {durations.beside(self._now - event.at, limit)} '
            f'(stuck_after is {durations.exact(limit)}); end it by hand; '
            'until then it blocks its instance and counts against the limits '
            'of its hosts'
            for uuid, event in sorted(stuck.items())
        ]

    def held_sources(self) -> dict[str, Reason]:
        """Host to the reason why nothing gets its turn to leave it."""
        return self._blocked(
            Code.HOST_STUCK_OUT,
            lambda event: event.source,
            ('out of', 'sends', OUT_OF_HOST),
        )

    def held_destinations(self) -> dict[str, Reason]:
        """Host to the reason why nothing gets its turn to go there."""
        return self._blocked(
            Code.HOST_STUCK_INTO,
            lambda event: event.destination,
            ('into', 'takes', INTO_HOST),
        )

    def _blocked(
        self,
        code: Code,
        end: Callable[[Event], str],
        how: tuple[str, str, int],
    ) -> dict[str, Reason]:
        """The hosts that stuck migrations block, each with the reason.

        :param end: which of the two hosts of a migration
        :param how: its way there, what a host does then, and how many are
            under way there at a time
        """
        by_host: dict[str, list[Event]] = {}
        for event in self._events:
            if end(event) and holds_hosts(event, self._settings, self._now):
                by_host.setdefault(end(event), []).append(event)
        return {
            host: Reason(self._why_held(host, events, *how), code, host=host)
            for host, events in by_host.items()
            if len(events) >= how[-1]
        }

    def _why_held(
        self,
        host: str,
        events: Sequence[Event],
        way: str,
        verb: str,
        most: int,
    ) -> str:
        """``the migration of instance web1 out of cmp1 is stuck, and ...``"""
        names = [
            self._called(uuid)
            for uuid in sorted({event.instance for event in events})
        ]
        several = len(events) > 1
        return (
            f'the migration{"s" if several else ""} of '
            f'instance{"s" if len(names) > 1 else ""} {wording.some(names)} '
            f'{way} {host} {"are" if several else "is"} stuck, and a host '
            f'{verb} {wording.counted(most, "server")} at a time; end '
            f'{"them" if several else "it"} by hand'
        )
