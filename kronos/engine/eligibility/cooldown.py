# SPDX-License-Identifier: Apache-2.0
"""The cooldowns: what the past forbids to scopes, instances and hosts.

A migration shows in the metrics only when the window of the queries has
passed; who plans sooner plans on load that has left already.
"""

import functools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kronos.common import durations
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults, wording
from kronos.engine.eligibility import plan_starts, quarantine, stuck_migrations
from kronos.engine.eligibility.overrides import Sown
from kronos.engine.eligibility.stuck_migrations import StuckMigrations
from kronos.engine.faults import CooldownScope, Fault
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Snapshot

LASTING_SECONDS = 7 * 86400.0
"""For so long a failure is known, so that what lasts is looked at again."""
NOT_BEGUN = 'RECOMMENDED'
"""The state of a plan that no applier has begun."""


@dataclass
class Cooldowns:
    """What the past forbids in a scope."""

    standstill: Reason | None = None
    """Why the whole scope is not planned now."""
    unavailable: dict[str, Reason] = field(default_factory=dict)
    """Instance uuid to the reason: it cools down, is in quarantine, or is on
    one of ``held_sources``."""
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
        returns = past.left_hosts(events, host)
        if returns:
            cooldowns.returns[uuid] = returns
        note = past.note(events, host)
        if note:
            cooldowns.notes.append(note)
    cooldowns.notes += past.stuck.notes()
    return cooldowns


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
        self._events = sorted(snapshot.events, key=self._order)
        self.stuck = StuckMigrations(
            self._events, settings, self._now, self._called
        )
        self.by_instance: dict[str, list[Event]] = {}
        for event in self._events:
            self.by_instance.setdefault(event.instance, []).append(event)

    @functools.cached_property
    def _names(self) -> wording.ServerNames:
        return wording.ServerNames(self._snapshot.instances)

    def _called(self, uuid: str) -> str:
        return self._names.of(uuid)

    def _order(self, event: Event) -> tuple[float, str, str, str, str, str]:
        """By age; the rest is there to be deterministic."""
        return (
            -self._age(event),
            event.outcome,
            event.origin,
            f'{event.instance} {quarantine.route(event)}',
            event.error_type,
            f'{event.status} {event.plan}',
        )

    def _age(self, event: Event) -> float:
        """Seconds; 0 while it is not over, and for a clock that is ahead."""
        if _in_progress(event):
            return 0.0
        return max(0.0, self._now - event.at)

    def _ago(self, event: Event) -> str:
        text = f'{durations.rounded(self._age(event))} ago'
        if event.status == quarantine.DELETED:
            text += ', counted from the deletion of its plan'
        return text

    def standstill(self) -> Reason | None:
        """Why the scope rests; empty if it does not."""
        newest, remaining = plan_starts.longest_rest(
            self._events,
            filter(self._rests_scope, self._events),
            self._now,
            self._settings.cooldown_seconds,
        )
        if newest is None:
            return None
        if _is_not_begun(newest):
            return Reason(
                f'aggregate {self._snapshot.scope} waits for a plan that '
                + self._not_begun(newest),
                Code.SCOPE_COOLDOWN,
            )
        who = self._called(newest.instance)
        return Reason(
            f'aggregate {self._snapshot.scope} cools down for '
            f'{durations.rounded(math.ceil(remaining))}: '
            + self._cause_text(newest, who, f'of {who}'),
            Code.SCOPE_COOLDOWN,
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
        going = _last(events, _in_progress)
        if going is not None:
            text = self._cause_text(going, 'it', 'of it')
            return Reason(text, Code.INSTANCE_ON_ITS_WAY)
        quarantined, cooling = self._quarantine(events, host), 0.0
        moved = _last(events, _rests_the_instance)
        if moved is not None:
            cooling = self._settings.instance_cooldown_seconds - self._age(
                moved
            )
        if (
            quarantined is not None
            and self._seconds_left(quarantined) >= cooling
        ):
            text = self._quarantine_text(quarantined)
            return Reason(text, Code.INSTANCE_QUARANTINE)
        if moved is None or cooling <= 0:
            return None
        cause = self._cause_text(moved, 'it', 'of it')
        return Reason(
            f'it cools down for {durations.rounded(math.ceil(cooling))}: '
            + cause,
            Code.INSTANCE_COOLDOWN,
        )

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
                f'it was moved away from there {self._ago(event)} '
                f'(return_guard is {durations.exact(guard)})',
                Code.RETURN_GUARD,
            )
            for event in events
            if event.outcome is Outcome.MOVED
            and event.source not in ('', now_on)
            and self._age(event) < guard
        }

    def note(self, events: Sequence[Event], host: str) -> str:
        """A word on a quarantine of an unknown cause."""
        cause = self._quarantine(events, host)
        if cause is None or quarantine.fault(cause) is not Fault.UNKNOWN:
            return ''
        return (
            f'instance {self._called(cause.instance)} is in quarantine as a '
            f'precaution: its move {quarantine.route(cause)} failed with an '
            'error of a type that is not known: '
            f'{cause.error_type or "none"}'
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
        return (
            f'it is in quarantine {span}: '
            f'{_named(cause) or "an error of no known type"} at its move '
            f'{quarantine.route(cause)}, {self._ago(cause)}{_meant(cause)}; '
            'any move by hand that arrives ends that'
        )

    def _cause_text(self, event: Event, who: str, whose: str) -> str:
        """An event in words.

        :param who: the instance as a subject
        :param whose: the instance in "the move of ..."
        """
        way = quarantine.route(event)
        if _is_not_begun(event):
            return f'{who} is in a plan that {self._not_begun(event)}'
        if event.outcome is Outcome.PLANNED:
            # An operator who wants it gone has to name it.
            plan = f' (action plan {event.plan} is {event.status})'
            return f'{who} is in a plan that is under way{plan}'
        if event.outcome is Outcome.UNDER_WAY:
            return f'{who} is being migrated {way}'
        if event.outcome is Outcome.MOVED:
            return f'{who} moved {way} {self._ago(event)}'
        why = f' ({_named(event)})' if event.error_type else ''
        return f'a move {whose} {way} failed{why} {self._ago(event)}'

    def _not_begun(self, event: Event) -> str:
        """What to do with a plan whose trigger may be lost."""
        seconds = max(0.0, self._now - event.at)
        start = ShellCommand.PLAN_START.of(plan=event.plan)
        return (
            f'no applier has begun for {durations.rounded(seconds)}; if that '
            f'lasts, "{start}", or cancel it: its trigger was lost'
        )


def _last(
    events: Sequence[Event], which: Callable[[Event], bool]
) -> Event | None:
    return next((event for event in reversed(events) if which(event)), None)


def _named(event: Event) -> str:
    """``MigrationFailed, migration_stalled``."""
    return ', '.join(filter(None, [event.error_type, event.fault]))


def _meant(cause: Event) -> str:
    """The meaning of its fault, if it is known."""
    if not cause.fault:
        return ''
    return f' ({faults.TABLE[quarantine.fault(cause)].means.rstrip(".")})'


def _in_progress(event: Event) -> bool:
    return event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)


def _is_not_begun(event: Event) -> bool:
    """Whether it is in a plan that was triggered, and did not start.

    Its workers are busy, or the message is lost; Watcher sends none again.
    """
    return (
        event.outcome is Outcome.PLANNED
        and event.status == NOT_BEGUN
        and bool(event.plan)
    )


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
