# SPDX-License-Identifier: Apache-2.0
"""The windows of scopes: options and metadata of aggregates at one time.

Zone data is read here, so that the engine gets plain data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from oslo_log import log as logging

from kronos.clients.nova.rows import HostAggregate
from kronos.common import plain_text
from kronos.engine.scheduling import migration_costs
from kronos.engine.settings import Settings
from kronos.engine.types import ScopeWindow, Snapshot
from kronos.windows import rules
from kronos.windows.calendar import Calendar
from kronos.windows.errors import WindowError

LOG = logging.getLogger(__name__)

Rule = TypeVar('Rule', rules.Window, rules.Freeze)

WINDOW_KEY = 'kronos:window'
FREEZE_KEY = 'kronos:freeze'
"""Metadata keys of aggregates, each instead of an option."""
KEYS = WINDOW_KEY, FREEZE_KEY
SEPARATOR = ';'
"""Between several windows or freezes in one value."""


class Options(Protocol):
    """What ``[kronos]`` has about windows, or the settings of an audit."""

    @property
    def windows(self) -> Sequence[str]: ...
    @property
    def freezes(self) -> Sequence[str]: ...


@dataclass
class PlanContext:
    """What a plan of some scopes is made by, beside its settings."""

    aggregates: Sequence[HostAggregate]
    strategy: str
    """``kronos_spread``, ...; '' if no audit asks."""
    max_concurrent: int
    """Moves of a scope that may run at a time."""


def calendar_of(
    scope: str, aggregates: Iterable[HostAggregate], options: Options
) -> Calendar:
    """The windows and freezes of a scope.

    :raises WindowError: names the option or the aggregate, the value and
        the rule
    """
    metadata: Mapping[str, str] = next(
        (each.metadata for each in aggregates if each.name == scope), {}
    )
    windows, of_windows = _lines(scope, metadata, WINDOW_KEY, options.windows)
    freezes, of_freezes = _lines(scope, metadata, FREEZE_KEY, options.freezes)
    windows_at = of_windows or '[kronos] windows'
    freezes_at = of_freezes or '[kronos] freezes'
    return Calendar(
        [_read(rules.window, text, windows_at) for text in windows],
        [_read(rules.freeze, text, freezes_at) for text in freezes],
    )


def _lines(
    scope: str, metadata: Mapping[str, str], key: str, option: Sequence[str]
) -> tuple[list[str], str]:
    """The texts, and where they are unless in an option.

    An option without a text is not set; a key without one is a mistake.
    """
    if key in metadata:
        where = f'aggregate {plain_text.line(scope)}, metadata {key}'
        return _parts(metadata[key]), where
    return [text for line in option for text in _parts(line) if text], ''


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(SEPARATOR)]


def _read(parse: Callable[[str], Rule], text: str, where: str) -> Rule:
    try:
        return parse(text)
    except WindowError as error:
        raise WindowError(f'{where}: {error}') from None


def is_usable(text: str) -> bool:
    """Whether a text is nothing but windows, or nothing but freezes."""
    for parse in (rules.window, rules.freeze):
        try:
            return bool([parse(part) for part in _parts(text)])
        except WindowError:
            continue
    return False


def window_of(
    snapshot: Snapshot, settings: Settings, context: PlanContext
) -> ScopeWindow | None:
    """The window of a scope at the time of its snapshot; None: it has none."""
    is_exempt = context.strategy in settings.window_exempt
    try:
        calendar = calendar_of(snapshot.scope, context.aggregates, settings)
    except WindowError as error:
        LOG.error('%s', error)
        return ScopeWindow(False, fault=str(error), is_exempt=is_exempt)
    if calendar.is_empty:
        return None
    now = snapshot.taken_at
    try:
        state = calendar.state(now)
    except (OverflowError, ValueError):
        fault = f'no calendar reaches the time {now:.0f}'
        return ScopeWindow(False, fault=fault, is_exempt=is_exempt)
    pace = migration_costs.seconds_by_scope([snapshot])
    seconds = pace.get(snapshot.scope, settings.expected_move_seconds)
    window = ScopeWindow(
        state.is_open, is_exempt=is_exempt, move_seconds=seconds
    )
    if state.until is not None:
        window.until = calendar.shown(state.until)
        window.changes_at = state.until
        if state.is_open:
            in_turn = int((state.until - now) // seconds)
            window.most_moves = in_turn * context.max_concurrent
    return window


def note(
    snapshots: Iterable[Snapshot], settings: Settings, context: PlanContext
) -> None:
    """Set the windows of some scopes."""
    for snapshot in snapshots:
        snapshot.window = window_of(snapshot, settings, context)
