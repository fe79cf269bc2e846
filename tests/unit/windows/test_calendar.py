# SPDX-License-Identifier: Apache-2.0
"""Is a calendar open as the wall clock says, by an oracle of minutes?"""

import datetime
import os
import random
import zoneinfo

from oslotest import base

from kronos.windows import rules
from kronos.windows.calendar import Calendar

ZONES = (
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'UTC',
)
CHANGES = {
    'Europe/Berlin': ('2027-03-28', '2027-10-31'),
    'America/New_York': ('2027-03-14', '2027-11-07'),
    'Australia/Lord_Howe': ('2027-04-04', '2027-10-03'),
    'Asia/Kathmandu': ('2027-03-28', '2027-10-31'),
    'UTC': ('2027-03-28', '2027-12-31'),
}
"""Days on which clocks are changed, where they are."""
MINUTE = 60.0
QUARTER = 15 * MINUTE
"""Of an hour: where clocks differ, they do so by whole ones."""
DAY = datetime.timedelta(days=1)
SEED = int(os.environ.get('KRONOS_SEED', '43'))


def unix(day: str, zone: str = 'UTC') -> float:
    moment = datetime.datetime.fromisoformat(day)
    return moment.replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp()


class Oracle:
    """A window by its words alone: minute by minute of the wall clock."""

    def __init__(self, days: set[int], start: int, end: int, zone: str):
        self.open_minutes = {
            (weekday, minute)
            for day in days
            for ahead in range(
                end - start if end > start else end + 1440 - start
            )
            for weekday, minute in [
                (
                    (day + (start + ahead) // 1440) % 7,
                    (start + ahead) % 1440,
                )
            ]
        }
        self.zone = zoneinfo.ZoneInfo(zone)

    def is_open(self, at: float) -> bool:
        local = datetime.datetime.fromtimestamp(at, self.zone)
        minute = local.hour * 60 + local.minute
        return (local.weekday(), minute) in self.open_minutes

    def change(self, at: float, most: float) -> float | None:
        """The first minute after one at which it is otherwise."""
        before = self.is_open(at)
        time = at - at % MINUTE + MINUTE
        while time <= at + most:
            if self.is_open(time) is not before:
                return time
            time += MINUTE
        return None


class TestOracle(base.BaseTestCase):
    def check(self, draw: random.Random, at: float, zone: str) -> None:
        days = set(draw.sample(range(7), draw.randint(1, 7)))
        start = draw.randrange(1440)
        end = draw.choice(
            [n for n in (draw.randrange(1441), 1440) if n != start]
        )
        words = ','.join(rules.DAYS[day] for day in days)
        text = (
            f'{words} {start // 60:02}:{start % 60:02}-'
            f'{end // 60:02}:{end % 60:02} {zone}'
        )
        calendar = Calendar([rules.window(text)])
        oracle = Oracle(days, start, end, zone)
        state = calendar.state(at)
        self.assertIs(oracle.is_open(at), state.is_open, f'{text} {at}')
        span = 100 * MINUTE
        change = oracle.change(at, span)
        until = state.until
        if until is not None and until > at + span:
            until = None
        self.assertEqual(change, until, f'{text} {at}')

    def test_random(self) -> None:
        """At any time of two years."""
        draw = random.Random(SEED)
        start = unix('2026-01-01')
        for _ in range(9000):
            at = start + draw.randrange(2 * 366 * 1440) * MINUTE
            self.check(draw, at, draw.choice(ZONES))

    def test_around_changes(self) -> None:
        """Near both changes of clocks, where hours lack or come twice."""
        draw = random.Random(SEED + 1)
        for _ in range(1000):
            zone = draw.choice(ZONES)
            near = unix(draw.choice(CHANGES[zone]), zone)
            at = near + draw.randrange(-360, 360) * MINUTE
            self.check(draw, at, zone)

    def test_freezes_of_an_open_week(self) -> None:
        """Windows that cover a week leave the freezes alone to close it."""
        draw = random.Random(SEED + 2)
        for _ in range(60):
            zone, cut = draw.choice(ZONES), draw.randrange(1, 24)
            windows = [
                rules.window(f'Mon-Sun 00:00-{cut:02}:00 {zone}'),
                rules.window(f'Mon-Sun {cut:02}:00-24:00 {zone}'),
            ]
            first = datetime.date(2027, 1, 1) + draw.randrange(365) * DAY
            freezes = [
                rules.freeze(f'{begin}/{begin + days * DAY} {place}')
                for begin, days, place in (
                    (first, draw.randrange(3), zone),
                    (
                        first + draw.randrange(9) * DAY,
                        draw.randrange(3),
                        draw.choice(ZONES),
                    ),
                )
            ]
            start = unix(f'{first}') + draw.randrange(-96, 960) * QUARTER
            calendar = Calendar(windows, freezes)
            times = [start + ahead * QUARTER for ahead in range(15 * 96)]
            states = [
                not any(freeze.holds(time) for freeze in freezes)
                for time in times
            ]
            changes = (
                time
                for time, state in zip(times, states, strict=True)
                if state is not states[0]
            )
            state = calendar.state(start)
            self.assertEqual(
                (states[0], next(changes, None)), (state.is_open, state.until)
            )


class TestStates(base.BaseTestCase):
    def until(self, calendar: Calendar, at: float) -> tuple[bool, str]:
        state = calendar.state(at)
        assert state.until is not None
        moment = datetime.datetime.fromtimestamp(state.until, datetime.UTC)
        return state.is_open, f'{moment:%Y-%m-%d %H:%M}'

    def test_always(self) -> None:
        state = Calendar().state(0.0)
        self.assertTrue(state.is_open)
        self.assertIsNone(state.until)
        whole = Calendar([rules.window('Mon-Sun 00:00-24:00 UTC')])
        self.assertIsNone(whole.state(unix('2027-01-01')).until)

    def test_missing_and_double_hours(self) -> None:
        calendar = Calendar([rules.window('Sun 02:00-03:00 Europe/Berlin')])
        self.assertEqual(
            (False, '2027-04-04 00:00'),
            self.until(calendar, unix('2027-03-27')),
        )
        self.assertEqual(
            (True, '2027-10-31 02:00'),
            self.until(calendar, unix('2027-10-31 00:30')),
        )

    def test_several(self) -> None:
        """One goes on where the other ends."""
        calendar = Calendar(
            [
                rules.window('Fri 22:00-24:00 UTC'),
                rules.window('Sat 00:00-02:00 UTC'),
            ]
        )
        self.assertEqual(
            (True, '2027-01-02 02:00'),
            self.until(calendar, unix('2027-01-01 23:00')),
        )

    def test_freeze(self) -> None:
        windows = [rules.window('Mon-Sun 01:00-02:00 UTC')]
        freezes = [
            rules.freeze('2026-12-20/2027-01-06 UTC'),
            rules.freeze('2027-01-05/2027-03-31 UTC'),
        ]
        calendar = Calendar(windows, freezes)
        self.assertEqual(
            (False, '2027-04-01 01:00'),
            self.until(calendar, unix('2026-12-24 01:30')),
        )
        only = Calendar(freezes=freezes)
        self.assertEqual(
            (True, '2026-12-20 00:00'),
            self.until(only, unix('2026-12-01')),
        )

    def test_never(self) -> None:
        """A freeze until the last day that a date can be."""
        calendar = Calendar(
            freezes=[rules.freeze('2026-01-01/9999-12-31 UTC')]
        )
        state = calendar.state(unix('2027-01-01'))
        self.assertFalse(state.is_open)
        self.assertIsNone(state.until)
