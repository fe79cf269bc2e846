# SPDX-License-Identifier: Apache-2.0
"""The cooldowns and quarantines that an operator makes up for a replay.

Beside those of the events: ``cooldowns.json`` of a recording.
"""

import math
from collections.abc import Collection

from kronos.common import durations
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Seeds, Snapshot

FOR_EVER = -1.0
"""Of a quarantine; in a cooldown it means nothing."""


def seed_aggregate_cooldown(
    seeds: Seeds, scope: str, settings: Settings
) -> float:
    """Seconds that a scope still rests, the configured ones at most."""
    remaining = seeds.aggregate_cooldowns.get(scope, 0.0)
    return max(0.0, min(remaining, settings.cooldown_seconds))


def seed_instance_cooldown(
    seeds: Seeds, uuid: str, settings: Settings
) -> float:
    """Seconds that an instance still rests, clamped likewise."""
    remaining = seeds.instance_cooldowns.get(uuid, 0.0)
    return max(0.0, min(remaining, settings.instance_cooldown_seconds))


def seed_instance_quarantine(seeds: Seeds, uuid: str) -> float:
    """Seconds that a quarantine still lasts, not clamped.

    :returns: infinity for one that lasts for ever
    """
    remaining = seeds.instance_quarantines.get(uuid, 0.0)
    return math.inf if remaining == FOR_EVER else max(0.0, remaining)


def idle(
    seeds: Seeds, unplanned: Collection[str], settings: Settings
) -> list[str]:
    """What has no effect, or less than is written, as sentences.

    :param unplanned: scopes that are known and not planned
    """
    sentences = [
        f'cooldowns.json: aggregate_cooldowns: {name}: it has no effect, the '
        'aggregate is not planned'
        for name in seeds.aggregate_cooldowns
        if name in unplanned
    ]
    for section, option, most in (
        ('aggregate_cooldowns', 'cooldown', settings.cooldown_seconds),
        (
            'instance_cooldowns',
            'instance_cooldown',
            settings.instance_cooldown_seconds,
        ),
        ('instance_quarantines', '', math.inf),
    ):
        sentences += [
            f'cooldowns.json: {section}: {name}: {text}'
            for name, seconds in getattr(seeds, section).items()
            if name not in unplanned and (text := _lack(seconds, option, most))
        ]
    return sentences


def _lack(seconds: float, option: str, most: float) -> str:
    if not option and seconds == FOR_EVER:
        return ''
    if seconds <= 0.0:
        return f'it has no effect: {seconds:g} s are left'
    if not most:
        return f'it has no effect: this plan has no {option}'
    if seconds > most:
        return (
            f'Kronos uses {durations.exact(most)} instead, the {option} of '
            'this plan'
        )
    return ''


class Sown:
    """The seeds of a scope in words."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._scope = snapshot.scope
        self._seeds = snapshot.seeds or Seeds()
        self._settings = settings
        self.are_none = self._seeds == Seeds()

    def standstill(self) -> Reason | None:
        """Why the scope rests; None if it does not."""
        remaining = seed_aggregate_cooldown(
            self._seeds, self._scope, self._settings
        )
        if not remaining:
            return None
        return Reason(
            f'aggregate {self._scope} cools down for '
            f'{durations.rounded(math.ceil(remaining))}: set in the cooldowns '
            'of the recording',
            Code.SCOPE_COOLDOWN,
        )

    def unavailable(self, uuid: str) -> Reason | None:
        """Why an instance rests; None if it does not."""
        cooling = seed_instance_cooldown(self._seeds, uuid, self._settings)
        remaining = seed_instance_quarantine(self._seeds, uuid)
        if not remaining and not cooling:
            return None
        what, span = (
            'it cools down',
            f'for {durations.rounded(math.ceil(cooling))}',
        )
        code = Code.INSTANCE_COOLDOWN
        if remaining >= cooling:
            what, code = 'it is in quarantine', Code.INSTANCE_QUARANTINE
            span = (
                'for ever'
                if remaining == math.inf
                else f'for {durations.rounded(math.ceil(remaining))}'
            )
        text = f'{what} {span}: set in the cooldowns of the recording'
        return Reason(text, code)
