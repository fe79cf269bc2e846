# SPDX-License-Identifier: Apache-2.0
"""The consent: which moves the owner of an instance agrees to.

Owners set it themselves, by metadata or tags, so its values are hostile. How
much of it counts is the operator's decision.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kronos.common import plain_text
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import ConsentRule, Settings
from kronos.engine.types import Instance, Snapshot

KEY = 'kronos:consent'
"""Metadata key; a tag has the value behind another colon."""
TAG_PREFIX = f'{KEY}:'
SHOWN_CHARACTERS = 32
"""Of an unknown value."""
REMEMBERED = 1024
"""Wishes; owners of many servers ask for the same few."""


class Consent(StrEnum):
    """What an owner agrees to, the strictest last."""

    ANY = 'any'
    WINDOW = 'window'
    DRAIN = 'drain'
    NEVER = 'never'


STRICTNESS = {consent: rank for rank, consent in enumerate(Consent)}
VALUES = frozenset(Consent)


class PhaseKind(Protocol):
    """What consent depends on of a row of the phase rules."""

    @property
    def is_balance(self) -> bool: ...
    @property
    def is_drain(self) -> bool: ...


@dataclass(frozen=True)
class Wish:
    """What one metadata key or one tag of an instance asks for."""

    value: str
    """As its owner wrote it, without blanks around it."""
    is_tag: bool

    @property
    def is_known(self) -> bool:
        """Whether the value is one of :class:`Consent`."""
        return self.value in VALUES

    @functools.cached_property
    def consent(self) -> Consent:
        """What counts: the strictest if the value is unknown."""
        return Consent(self.value) if self.is_known else Consent.NEVER

    @property
    def place(self) -> str:
        """Where an owner finds it, such as ``its tag kronos:consent:any``."""
        value = shortened(self.value)
        if self.is_tag:
            return f'its tag {TAG_PREFIX}{value}'
        return f'its metadata {KEY}={value}'


def wishes(instance: Instance) -> list[Wish]:
    """All that the owner of an instance asks for, metadata first."""
    return _wishes(instance.metadata.get(KEY), instance.tags)


def _wishes(value: str | None, tags: Iterable[str]) -> list[Wish]:
    """:param value: of the metadata key, if it is set"""
    metadata = [] if value is None else [Wish(value.strip(), is_tag=False)]
    return metadata + [
        Wish(tag.removeprefix(TAG_PREFIX).strip(), is_tag=True)
        for tag in sorted(tags)
        if is_tag(tag)
    ]


def is_tag(tag: str) -> bool:
    """Whether a tag is about consent, with a known value or without."""
    return tag == KEY or tag.startswith(TAG_PREFIX)


def has_wish(instance: Instance) -> bool:
    """Whether its owner asks for anything; most do not."""
    tags = instance.tags
    return KEY in instance.metadata or (bool(tags) and any(map(is_tag, tags)))


def strictest(instance: Instance, settings: Settings) -> Wish | None:
    """The wish that counts; None if none does."""
    if not (has_wish(instance) and _counts(instance, settings)):
        return None
    return _strictest(instance.metadata.get(KEY), tuple(instance.tags))


@functools.lru_cache(REMEMBERED)
def _strictest(value: str | None, tags: tuple[str, ...]) -> Wish | None:
    every = _wishes(value, tags)
    return max(every, key=lambda wish: STRICTNESS[wish.consent], default=None)


def _counts(instance: Instance, settings: Settings) -> bool:
    """Whether wishes of the project count; those of an unknown one do."""
    if settings.consent is ConsentRule.IGNORE:
        return False
    projects = settings.consent_projects
    return (
        not projects
        or not instance.project_id
        or instance.project_id in projects
    )


def forbidden(instance: Instance, settings: Settings) -> Reason | None:
    """Why no phase may move an instance; None if one may."""
    wish = strictest(instance, settings)
    return reason(wish) if wish and is_final(wish, settings) else None


def is_final(wish: Wish, settings: Settings) -> bool:
    """Whether no phase may move an instance with a wish."""
    is_honoured = settings.consent is ConsentRule.HONOUR
    return is_honoured and wish.consent is Consent.NEVER


def why_not(
    instance: Instance,
    settings: Settings,
    row: PhaseKind,
    is_open: bool = True,
) -> Reason | None:
    """Why a phase may not move an instance; None if it may.

    :param is_open: whether the window of its scope is open
    """
    wish = strictest(instance, settings)
    return _refusal(wish, settings, row, is_open) if wish else None


def _refusal(
    wish: Wish, settings: Settings, row: PhaseKind, is_open: bool
) -> Reason | None:
    is_refused = {
        Consent.NEVER: not (
            row.is_drain and settings.consent is ConsentRule.DRAIN_OVERRIDES
        ),
        Consent.DRAIN: row.is_balance,
        Consent.WINDOW: not is_open,
    }
    return reason(wish) if is_refused.get(wish.consent) else None


def of_scope(snapshot: Snapshot, settings: Settings) -> dict[str, Wish]:
    """By uuid the wish that counts of each instance that has one."""
    return {
        uuid: wish
        for uuid, instance in snapshot.instances.items()
        # Few have either, and there are many of them.
        if (instance.tags or KEY in instance.metadata)
        and (wish := strictest(instance, settings))
    }


def of_phase(
    snapshot: Snapshot,
    settings: Settings,
    row: PhaseKind,
    wishes: Mapping[str, Wish] | None = None,
) -> dict[str, Reason]:
    """By uuid why each instance stays that a phase may not move.

    :param wishes: those of :func:`of_scope`, if they are known
    """
    if wishes is None:
        wishes = of_scope(snapshot, settings)
    refusals = {
        wish: _refusal(wish, settings, row, snapshot.is_open)
        for wish in {*wishes.values()}
    }
    return {
        uuid: refusal
        for uuid, wish in wishes.items()
        if (refusal := refusals[wish])
    }


@functools.lru_cache(REMEMBERED)
def reason(wish: Wish) -> Reason:
    """That a wish forbids a move."""
    place = wish.place
    if not wish.is_known:
        values = ', '.join(Consent)
        text = f'{place} is none of {values}, so its server does not move'
    elif wish.consent is Consent.DRAIN:
        text = f'{place} allows moves to drain or repair, not for balance'
    elif wish.consent is Consent.WINDOW:
        text = f'{place} allows moves only while its window is open'
    else:
        text = f'{place} forbids moves'
    return Reason(text, Code.INSTANCE_CONSENT, wish.value)


def shortened(text: str) -> str:
    """As much of a value or a tag as a reason shows."""
    prefix = TAG_PREFIX if text.startswith(TAG_PREFIX) else ''
    value = text.removeprefix(prefix).strip()
    return prefix + plain_text.line(value[:SHOWN_CHARACTERS])


def renamed(tag: str, name_of: Callable[[str], str]) -> str:
    """A tag with another name for a value that is not one of consent."""
    value = tag.removeprefix(TAG_PREFIX)
    if not tag.startswith(TAG_PREFIX) or value in VALUES:
        return tag
    return TAG_PREFIX + name_of(value.lower())


def without(tags: Iterable[str]) -> list[str]:
    """Tags but for those about consent."""
    return [tag for tag in tags if not is_tag(tag)]
