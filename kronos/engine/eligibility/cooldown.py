# SPDX-License-Identifier: Apache-2.0
"""The cooldowns: what the past forbids to scopes, instances and hosts.

A migration shows in the metrics only when the window of the queries has
passed; who plans sooner plans on load that has left already.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kronos.common import durations
from kronos.engine import faults
from kronos.engine.eligibility import (
    event_texts,
    plan_starts,
    quarantine,
    stuck_migrations,
)
from kronos.engine.eligibility.event_texts import EventTexts
from kronos.engine.eligibility.overrides import Sown
from kronos.engine.eligibility.stuck_migrations import StuckMigrations
from kronos.engine.faults import CooldownScope, Fault
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Snapshot

LASTING_SECONDS = 7 * 86400.0
"""For so long a failure is known, so that what lasts is looked at again."""
REST_SECONDS = 900.0
"""Drains and repairs wait at most so long of ``instance_cooldown``."""


@dataclass
class Cooldowns:
    """What the past forbids in a scope."""

    standstill: Reason | None = None
    """Why the whole scope is not planned now."""
    unavailable: dict[str, Reason] = field(default_factory=dict)
    """Instance uuid to the reason: it cools down, is in quarantine, or is on
    one of ``held_sources``."""
    resting: dict[str, Reason] = field(default_factory=dict)
    """Instance uuid to the reason: spread and pack leave it alone."""
    held_sources: dict[str, Reason] = field(default_factory=dict)
    """Host to the reason why nothing gets its turn to leave it."""
    held_destinations: dict[str, Reason] = field(default_factory=dict)
    """Host to the reason why nothing gets its turn to go there."""
    returns: dict[str, dict[str, Reason]] = field(default_factory=dict)
    """Instance uuid to host to the reason: spread and pack do not move it
    back there."""
    notes: list[str] = field(default_factory=list)
    """What an operator should know of it."""


@dataclass
class Since:
    """From when on events matter, in Unix seconds."""

    moves: float
    failures: float | None
    """None: from the beginning."""


def watcher_since(settings: Settings, now: float) -> Since:
    """The time from which on Watcher's events matter.

    :param now: Unix seconds
    """
    since = now - _horizon(settings)
    for_ever = settings.quarantine_seconds < 0
    failures = min(since, now - LASTING_SECONDS)
    return Since(since, None if for_ever else failures)


def nova_since(
    settings: Settings,
    now: float,
    watchers: Iterable[Event],
    instances: Collection[str],
) -> float:
    """From when on Nova's migrations matter, in Unix seconds.

    A quarantine is ended by a move of any time after the newest failure of
    its instance; so that is how far back it goes.

    :param watchers: the events that Watcher reports
    :param instances: uuids of those that exist
    """
    newest: dict[str, float] = {}
    for event in watchers:
        if (
            event.instance in instances
            and quarantine.starts(event)
            and quarantine.remaining(event, settings, now) > 0
        ):
            previous = newest.get(event.instance, -math.inf)
            newest[event.instance] = max(previous, quarantine.earliest(event))
    return min([now - _horizon(settings), *newest.values()])


def remember(snapshot: Snapshot, settings: Settings) -> Cooldowns:
    """Judge the events of a scope, by the time at which it was looked at.

    Which source reports a move, and in which order, makes no difference;
    if two report one, the newer time counts.
    """
    if not snapshot.events and not snapshot.seeds:
        return Cooldowns()
    past = _Past(snapshot, settings)
    seeds = Sown(snapshot, settings)
    cooldowns = Cooldowns(
        standstill=past.standstill() or seeds.standstill(),
        held_sources=past.stuck.held_sources(),
        held_destinations=past.stuck.held_destinations(),
    )
    for uuid in sorted(snapshot.instances):
        events = past.by_instance.get(uuid, [])
        host = snapshot.instances[uuid].host
        if not events and seeds.are_none and not cooldowns.held_sources:
            # Most have no past, and there are many of them.
            continue
        reason = (
            past.unavailable(events, host)
            or seeds.unavailable(uuid)
            or cooldowns.held_sources.get(host)
        )
        if reason:
            cooldowns.unavailable[uuid] = reason
        elif rest := past.resting(events):
            cooldowns.resting[uuid] = rest
        returns = past.left_hosts(events, host)
        if returns:
            cooldowns.returns[uuid] = returns
        note = past.note(events, host)
        if note:
            cooldowns.notes.append(note)
    cooldowns.notes += past.stuck.notes()
    return cooldowns


def seconds_left(snapshot: Snapshot, settings: Settings) -> float:
    """Seconds until the scope is planned again; 0: it may be now."""
    _, remaining = _Past(snapshot, settings).rest()
    return max(0.0, remaining)


def _horizon(settings: Settings) -> float:
    """Seconds after which nothing counts, but a quarantine for ever."""
    return max(
        settings.cooldown_seconds,
        settings.instance_cooldown_seconds,
        settings.return_guard_seconds,
        settings.quarantine_seconds,
        0.0,
    )


class _Past:
    """The events of a scope, from the oldest to the newest."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._settings = settings
        self._now = snapshot.taken_at
        self._texts = EventTexts(snapshot)
        self._events = sorted(snapshot.events, key=self._order)
        self.stuck = StuckMigrations(
            self._events, settings, self._now, self._texts.called
        )
        self.by_instance: dict[str, list[Event]] = {}
        for event in self._events:
            self.by_instance.setdefault(event.instance, []).append(event)

    def _order(self, event: Event) -> tuple[float, str, str, str, str, str]:
        """By age; the rest is there to be deterministic."""
        return (
            -self._texts.age(event),
            event.outcome,
            event.origin,
            f'{event.instance} {quarantine.route(event)}',
            event.error_type,
            f'{event.status} {event.plan}',
        )

    def standstill(self) -> Reason | None:
        """Why the scope rests; empty if it does not."""
        newest, remaining = self.rest()
        if newest is None:
            return None
        if event_texts.is_not_begun(newest):
            return Reason(
                f'aggregate {self._snapshot.scope} waits for a plan that '
                + self._texts.not_begun(newest),
                Code.SCOPE_COOLDOWN,
            )
        who = self._texts.called(newest.instance)
        return Reason(
            f'aggregate {self._snapshot.scope} cools down for '
            f'{durations.rounded(math.ceil(remaining))}: '
            + self._texts.cause(newest, who, f'of {who}'),
            Code.SCOPE_COOLDOWN,
        )

    def rest(self) -> tuple[Event | None, float]:
        """The event for which the scope rests, and for how many seconds."""
        return plan_starts.longest_rest(
            self._events,
            filter(self._rests_scope, self._events),
            self._now,
            self._settings.cooldown_seconds,
        )

    def _rests_scope(self, event: Event) -> bool:
        """Whether it starts a cooldown of this scope."""
        hosts = self._snapshot.hosts
        return (
            _starts_cooldown(event)
            and not stuck_migrations.is_stuck(event, self._settings, self._now)
            and (event.source in hosts or event.destination in hosts)
        )

    def unavailable(self, events: Sequence[Event], host: str) -> Reason | None:
        """Why an instance rests; empty if it does not.

        :param events: its own
        :param host: the one that it is on
        """
        going = _last(events, event_texts.in_progress)
        if going is not None:
            text = self._texts.cause(going, 'it', 'of it')
            return Reason(text, Code.INSTANCE_ON_ITS_WAY)
        quarantined = self._quarantine(events, host)
        rest = self._seconds_left(quarantined) if quarantined else 0.0
        if quarantined is not None and rest >= self._cooling(events):
            text = self._quarantine_text(quarantined)
            return Reason(text, Code.INSTANCE_QUARANTINE)
        rest = max(rest, self._cooling(events, REST_SECONDS))
        return self.resting(events, rest) if rest > 0 else None

    def resting(
        self, events: Sequence[Event], for_all: float = 0.0
    ) -> Reason | None:
        """Why spread and pack leave an instance alone; None: they do not.

        :param events: its own
        :param for_all: seconds for which drains and repairs do so, too
        """
        cooling = self._cooling(events)
        moved = _last(events, _rests_the_instance)
        if moved is None or cooling <= 0:
            return None
        span = durations.rounded(math.ceil(cooling))
        if 0 < for_all < cooling:
            shorter = durations.rounded(math.ceil(for_all))
            span += f', for drains and repairs {shorter}'
        cause = self._texts.cause(moved, 'it', 'of it')
        return Reason(
            f'it cools down for {span}: {cause}', Code.INSTANCE_COOLDOWN
        )

    def _cooling(
        self, events: Sequence[Event], most: float = math.inf
    ) -> float:
        """Seconds that are left of its cooldown.

        :param most: seconds that count of ``instance_cooldown``
        """
        moved = _last(events, _rests_the_instance)
        if moved is None:
            return 0.0
        limit = min(self._settings.instance_cooldown_seconds, most)
        return limit - self._texts.age(moved)

    def left_hosts(
        self, events: Sequence[Event], now_on: str
    ) -> dict[str, Reason]:
        """Host to the reason why an instance does not go back there.

        :param events: its own
        :param now_on: the host that it is on
        """
        guard = self._settings.return_guard_seconds
        return {
            event.source: Reason(
                f'it was moved away from there {self._texts.ago(event)} '
                f'(return_guard is {durations.exact(guard)})',
                Code.RETURN_GUARD,
            )
            for event in events
            if event.outcome is Outcome.MOVED
            and event.source not in ('', now_on)
            and self._texts.age(event) < guard
        }

    def note(self, events: Sequence[Event], host: str) -> str:
        """A word on a quarantine of an unknown cause."""
        cause = self._quarantine(events, host)
        if cause is None or quarantine.fault(cause) is not Fault.UNKNOWN:
            return ''
        return (
            f'instance {self._texts.called(cause.instance)} is in quarantine '
            f'as a precaution: its move {quarantine.route(cause)} failed with '
            f'an error of an unknown type: {cause.error_type or "none"}'
        )

    def _quarantine(self, events: Sequence[Event], host: str) -> Event | None:
        """The failure that keeps an instance in quarantine now."""
        return _last(
            events,
            lambda cause: (
                quarantine.starts(cause)
                and self._seconds_left(cause) > 0
                and not quarantine.has_arrived(cause, host)
                and not any(quarantine.ends(event, cause) for event in events)
            ),
        )

    def _seconds_left(self, cause: Event) -> float:
        return quarantine.remaining(cause, self._settings, self._now)

    def _quarantine_text(self, cause: Event) -> str:
        remaining = self._seconds_left(cause)
        span = 'for ever'
        if math.isfinite(remaining):
            span = f'for {durations.rounded(math.ceil(remaining))}'
        name = event_texts.named(cause) or 'an error of no known type'
        ago = self._texts.ago(cause) + event_texts.meant(cause)
        return (
            f'it is in quarantine {span}: {name} at its move '
            f'{quarantine.route(cause)}, {ago}; a successful migration by '
            'hand ends the quarantine'
        )


def _last(
    events: Sequence[Event], which: Callable[[Event], bool]
) -> Event | None:
    return next((event for event in reversed(events) if which(event)), None)


def _rests_the_instance(event: Event) -> bool:
    """Whether an instance has a cooldown: its move was requested from Nova."""
    if event.outcome is not Outcome.FAILED or event.origin is Origin.NOVA:
        return True
    return faults.TABLE[quarantine.fault(event)].rests is CooldownScope.BOTH


def _starts_cooldown(event: Event) -> bool:
    """Whether the scope rests: it changed, or a plan of ours was tried.

    Not for resizes: where tenants resize all the time it would rest for ever.
    """
    if event.is_resize:
        return False
    if event.outcome is Outcome.FAILED:
        # The time of a deleted one is unknown; Nova reports its moves.
        return (
            event.origin is Origin.WATCHER
            and event.status != quarantine.DELETED
        )
    return True
