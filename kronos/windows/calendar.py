# SPDX-License-Identifier: Apache-2.0
"""The calendar of a scope: whether it is open, and until when."""

import datetime
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from kronos.windows.rules import Freeze, Window

DAY = datetime.timedelta(days=1)
DAY_SECONDS = DAY.total_seconds()
HORIZON_DAYS = 8
"""After the last freeze: each weekly window has opened once by then."""
NEAR = range(-2, 5)
"""Days around the edge of a freeze: clocks are up to a day apart, and what is
found of a day is told a day later."""
WEEK_MINUTES = 7 * 24 * 60
MOST_DAYS = 3 * 366
"""A freeze that ends later ends too late to wait for."""


@dataclass(frozen=True)
class WindowState:
    """Whether servers may be moved now."""

    is_open: bool
    until: float | None
    """Unix seconds at which that changes; None: not within three years."""


@dataclass(frozen=True)
class Calendar:
    """The windows and freezes that hold for a scope."""

    windows: Sequence[Window] = ()
    """It is open in each of them; always if there is none."""
    freezes: Sequence[Freeze] = field(default=())
    """It is closed in each of them."""

    @property
    def is_empty(self) -> bool:
        """Whether it is always open."""
        return not self.windows and not self.freezes

    def is_open(self, now: float) -> bool:
        """Whether servers may be moved at a time.

        :param now: Unix seconds
        """
        if any(freeze.holds(now) for freeze in self.freezes):
            return False
        return not self.windows or any(
            window.is_open(now) for window in self.windows
        )

    def state(self, now: float) -> WindowState:
        """Whether it is open, and until when.

        :param now: Unix seconds
        """
        is_open = self.is_open(now)
        changes = (
            time
            for time in self._candidates(now)
            if self.is_open(time) is not is_open
        )
        return WindowState(is_open, next(changes, None))

    def shown(self, moment: float) -> str:
        """A time by the clock of the first rule, with its zone."""
        rules: list[Window | Freeze] = [*self.windows, *self.freezes]
        zone = rules[0].zone
        local = datetime.datetime.fromtimestamp(moment, zone)
        return f'{local:%Y-%m-%d %H:%M} ({zone.key})'

    def _candidates(self, now: float) -> Iterator[float]:
        """Times after one at which the state may change, day by day."""
        if self.is_empty:
            return
        later: set[float] = set()
        for ahead in self._days(now):
            later.update(self._of_day(now, ahead))
            # Those of a day lie within two days around this time.
            complete = now + (ahead - 1) * DAY_SECONDS
            yield from sorted(time for time in later if now < time <= complete)
            later = {time for time in later if time > complete}

    @functools.cached_property
    def _closes_weekly(self) -> bool:
        """Whether windows may close it; False: they cover all of a week."""
        if len({window.zone for window in self.windows}) > 1:
            return True
        end = 0
        for start, next_end in sorted(
            span for window in self.windows for span in window.spans()
        ):
            if start > end:
                return True
            end = max(end, next_end)
        return bool(self.windows) and end < WEEK_MINUTES

    def _days(self, now: float) -> Iterable[int]:
        """Days ahead that have to be looked at, in their order."""
        today = datetime.datetime.fromtimestamp(now, datetime.UTC).date()
        if self._closes_weekly:
            ends = [(freeze.last - today).days for freeze in self.freezes]
            last = min(max([0, *ends]) + HORIZON_DAYS + 1, MOST_DAYS)
            return range(-1, last + 2)
        firsts = {(freeze.first - today).days for freeze in self.freezes}
        lasts = {(freeze.last - today).days for freeze in self.freezes}
        edges = firsts | {day + 1 for day in lasts}
        return sorted(
            day
            for day in {edge + near for edge in edges for near in NEAR}
            if -1 <= day <= MOST_DAYS + 1
        )

    def _of_day(self, now: float, ahead: int) -> Iterator[float]:
        """Candidates of a day.

        A wall-clock time that comes twice counts twice. Where clocks are
        changed, a window may open or close with no wall-clock time of its
        own in between.

        :param ahead: days after today, by the clock of each rule
        """
        rules: Iterable[Window | Freeze] = [*self.windows, *self.freezes]
        for rule in rules:
            today = datetime.datetime.fromtimestamp(now, rule.zone).date()
            for wall in rule.boundaries(today + ahead * DAY):
                for fold in (0, 1):
                    local = wall.replace(tzinfo=rule.zone, fold=fold)
                    yield local.timestamp()
        begin = now + ahead * DAY_SECONDS
        for zone in {rule.zone for rule in rules}:
            change = _clock_change(zone, begin, begin + DAY_SECONDS)
            if change is not None:
                yield change


def _clock_change(zone: ZoneInfo, start: float, end: float) -> float | None:
    """When clocks are changed between two times; None if they are not.

    :returns: whole Unix seconds
    """
    first, last = int(start), int(end)
    before = _offset(zone, first)
    if _offset(zone, last) == before:
        return None
    while last - first > 1:
        middle = (first + last) // 2
        if _offset(zone, middle) == before:
            first = middle
        else:
            last = middle
    return float(last)


def _offset(zone: ZoneInfo, now: float) -> datetime.timedelta | None:
    return datetime.datetime.fromtimestamp(now, zone).utcoffset()
