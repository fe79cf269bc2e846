# SPDX-License-Identifier: Apache-2.0
"""The texts on events: what happened to an instance, and how long ago."""

import functools

from kronos.common import durations
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults, wording
from kronos.engine.eligibility import quarantine
from kronos.engine.types import Event, Outcome, Snapshot

NOT_BEGUN = 'RECOMMENDED'
"""The state of a plan that no applier has begun."""


class EventTexts:
    """What is said of the events of a scope, as it was looked at."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._now = snapshot.taken_at

    @functools.cached_property
    def _names(self) -> wording.ServerNames:
        return wording.ServerNames(self._snapshot.instances)

    def called(self, uuid: str) -> str:
        return self._names.of(uuid)

    def age(self, event: Event) -> float:
        """Seconds; 0 while it is not over, and for a clock that is ahead."""
        if in_progress(event):
            return 0.0
        return max(0.0, self._now - event.at)

    def ago(self, event: Event) -> str:
        text = f'{durations.rounded(self.age(event))} ago'
        if event.status == quarantine.DELETED:
            text += ', counted from the deletion of its plan'
        return text

    def cause(self, event: Event, who: str, whose: str) -> str:
        """An event in words.

        :param who: the instance as a subject
        :param whose: the instance in "the move of ..."
        """
        way = quarantine.route(event)
        if is_not_begun(event):
            return f'{who} is in a plan that {self.not_begun(event)}'
        if event.outcome is Outcome.PLANNED:
            # An operator who wants it gone has to name it.
            plan = f' (action plan {event.plan} is {event.status})'
            return f'{who} is in a plan that is under way{plan}'
        if event.outcome is Outcome.UNDER_WAY:
            return f'{who} is being migrated {way}'
        if event.outcome is Outcome.MOVED:
            return f'{who} moved {way} {self.ago(event)}'
        why = f' ({named(event)})' if event.error_type else ''
        return f'a move {whose} {way} failed{why} {self.ago(event)}'

    def not_begun(self, event: Event) -> str:
        """What to do with a plan whose trigger may be lost."""
        seconds = max(0.0, self._now - event.at)
        start = ShellCommand.PLAN_START.of(plan=event.plan)
        return (
            f'no applier has started for {durations.rounded(seconds)}; if '
            f'that lasts, "{start}", or cancel the plan: its trigger was lost'
        )


def named(event: Event) -> str:
    """``MigrationFailed, migration_stalled``."""
    return ', '.join(filter(None, [event.error_type, event.fault]))


def meant(cause: Event) -> str:
    """The meaning of its fault, if it is known."""
    if not cause.fault:
        return ''
    return f' ({faults.TABLE[quarantine.fault(cause)].means.rstrip(".")})'


def in_progress(event: Event) -> bool:
    return event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)


def is_not_begun(event: Event) -> bool:
    """Whether it is in a plan that was triggered, and did not start.

    Its workers are busy, or the message is lost; Watcher sends none again.
    """
    return (
        event.outcome is Outcome.PLANNED
        and event.status == NOT_BEGUN
        and bool(event.plan)
    )
