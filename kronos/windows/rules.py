# SPDX-License-Identifier: Apache-2.0
"""Windows and freezes, and how operators write them.

``Mon-Fri 22:00-05:30 Europe/Berlin`` is open on these days from the first
time to the second one, by the wall clock of the zone; past midnight if the
second one is earlier. ``2026-12-20/2027-01-06 Europe/Berlin`` keeps all of
these days closed.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kronos.common import plain_text
from kronos.windows.errors import WindowError
from kronos.windows.zones import zone

DAYS = 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'
MINUTES_OF_DAY = 24 * 60
MOST_CHARACTERS = 200
"""Of one window or freeze."""
WINDOW_EXAMPLE = 'Mon-Fri 22:00-05:30 Europe/Berlin'
FREEZE_EXAMPLE = '2026-12-20/2027-01-06 Europe/Berlin'

_WINDOW = re.compile(
    r'(?P<days>[A-Za-z,\- ]*[A-Za-z])\s+'
    r'(?P<start>\d\d:\d\d)\s*-\s*(?P<end>\d\d:\d\d)\s+(?P<zone>\S+)',
    re.ASCII,
)
_FREEZE = re.compile(
    r'(?P<first>\d{4}-\d\d-\d\d)\s*/\s*(?P<last>\d{4}-\d\d-\d\d)\s+'
    r'(?P<zone>\S+)',
    re.ASCII,
)


@dataclass(frozen=True)
class Window:
    """Times of each week at which servers may be moved."""

    days: frozenset[int]
    """On which it begins; Monday is 0."""
    start: int
    """Minutes since midnight."""
    end: int
    """The same, and later than ``start``: past midnight above 1,440."""
    zone: ZoneInfo
    text: str
    """As it is written."""

    def is_open(self, now: float) -> bool:
        """Whether servers may be moved at a time.

        :param now: Unix seconds
        """
        local = datetime.datetime.fromtimestamp(now, self.zone)
        seconds = (local.hour * 60 + local.minute) * 60 + local.second
        day = 86400
        return any(
            (local.weekday() - ago) % 7 in self.days
            and self.start * 60 <= seconds + ago * day < self.end * 60
            for ago in (0, 1)
        )

    def spans(self) -> Iterator[tuple[int, int]]:
        """Its parts of a week, in minutes from Monday on.

        The last one may end in the next week.
        """
        for day in self.days:
            midnight = day * MINUTES_OF_DAY
            yield midnight + self.start, midnight + self.end

    def boundaries(self, day: datetime.date) -> Iterator[datetime.datetime]:
        """The wall-clock times at which it may open or close on a day."""
        for boundary in (self.start, self.end):
            days, minutes = divmod(boundary, MINUTES_OF_DAY)
            if (day.weekday() - days) % 7 in self.days:
                time = datetime.time(*divmod(minutes, 60))
                yield datetime.datetime.combine(day, time)


@dataclass(frozen=True)
class Freeze:
    """Days on which no server may be moved, whatever windows are open."""

    first: datetime.date
    last: datetime.date
    """Of which no minute is open any more."""
    zone: ZoneInfo
    text: str
    """As it is written."""

    def holds(self, now: float) -> bool:
        """Whether no server may be moved at a time.

        :param now: Unix seconds
        """
        local = datetime.datetime.fromtimestamp(now, self.zone).date()
        return self.first <= local <= self.last

    def boundaries(self, day: datetime.date) -> Iterator[datetime.datetime]:
        """The wall-clock times at which it may begin or end on a day."""
        yesterday = day - datetime.timedelta(days=1)
        if day == self.first or yesterday == self.last:
            yield datetime.datetime.combine(day, datetime.time())


def window(text: str) -> Window:
    """Read a window.

    :raises WindowError: names the part that is wrong
    """
    match = _match(_WINDOW, text, 'window', WINDOW_EXAMPLE)
    start = _minutes(match['start'], text)
    end = _minutes(match['end'], text)
    if start == MINUTES_OF_DAY:
        raise _error(text, 'a window starts at 23:59 at the latest')
    if start == end:
        raise _error(
            text, 'a window of no length: write 00:00-24:00 for a whole day'
        )
    if end < start:
        end += MINUTES_OF_DAY
    return Window(
        frozenset(_days(match['days'], text)),
        start,
        end,
        zone(match['zone']),
        ' '.join(text.split()),
    )


def freeze(text: str) -> Freeze:
    """Read a freeze.

    :raises WindowError: names the part that is wrong
    """
    match = _match(_FREEZE, text, 'freeze', FREEZE_EXAMPLE)
    first, last = _date(match['first'], text), _date(match['last'], text)
    if last < first:
        raise _error(text, f'{last} is before {first}')
    return Freeze(first, last, zone(match['zone']), ' '.join(text.split()))


def _match(
    pattern: re.Pattern[str], text: str, kind: str, example: str
) -> re.Match[str]:
    match = pattern.fullmatch(text.strip())
    if match is None or len(text) > MOST_CHARACTERS:
        raise _error(text, f'this is no {kind}: write it as in "{example}"')
    return match


def _error(text: str, rule: str) -> WindowError:
    shown = plain_text.line(text.strip()[:MOST_CHARACTERS])
    return WindowError(f'"{shown}": {rule}')


def _minutes(text: str, whole: str) -> int:
    hour, minute = map(int, text.split(':'))
    minutes = hour * 60 + minute
    if minute > 59 or minutes > MINUTES_OF_DAY:
        raise _error(whole, f'{text} is no time of day')
    return minutes


def _date(text: str, whole: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise _error(whole, f'{text} is no date') from None


def _days(text: str, whole: str) -> Iterator[int]:
    for part in text.split(','):
        first, is_range, last = part.strip().partition('-')
        start = _day(first, whole)
        end = _day(last, whole) if is_range else start
        for ahead in range((end - start) % 7 + 1):
            yield (start + ahead) % 7


def _day(text: str, whole: str) -> int:
    name = text.strip().capitalize()
    if name not in DAYS:
        shown = plain_text.line(name)
        raise _error(whole, f'{shown} is no day: use {", ".join(DAYS)}')
    return DAYS.index(name)
