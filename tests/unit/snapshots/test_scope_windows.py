# SPDX-License-Identifier: Apache-2.0
"""Does a scope have the windows of its options and its aggregate?"""

import datetime
import sys
import zoneinfo

import fixtures
from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Host,
    Origin,
    Outcome,
    ScopeWindow,
    Snapshot,
)
from kronos.snapshots import scope_windows
from kronos.snapshots.scope_windows import PlanContext

NOW = datetime.datetime(2026, 11, 27, 14, 0, tzinfo=datetime.UTC).timestamp()
"""A Friday; 15:00 in Berlin."""
OPENS = NOW + 7 * 3600
NIGHT = 'Mon-Fri 22:00-05:30 Europe/Berlin'
DAY = 'Fri 08:00-15:01 UTC'


class ScopeWindowsTestCase(base.BaseTestCase):
    def window(
        self,
        *windows: str,
        strategy: str = 'kronos_spread',
        events: tuple[Event, ...] = (),
        metadata: dict[str, str] | None = None,
        now: float = NOW,
        **options: object,
    ) -> ScopeWindow | None:
        hosts = {name: Host(name) for name in ('a', 'b')}
        snapshot = Snapshot(
            'gpu', hosts, {}, {}, taken_at=now, events=[*events]
        )
        settings = Settings(windows=[*windows], **options)  # type: ignore
        aggregates = [
            HostAggregate(1, 'other', metadata={'kronos:window': 'nonsense'}),
            HostAggregate(2, 'gpu', metadata=metadata or {}),
        ]
        context = PlanContext(aggregates, strategy, 2)
        scope_windows.note([snapshot], settings, context)
        return snapshot.window

    def fault(self, *windows: str, **more: object) -> str:
        window = self.window(*windows, **more)  # type: ignore
        assert window is not None
        self.assertFalse(window.is_open)
        return window.fault

    def test_none(self) -> None:
        self.assertIsNone(self.window())
        self.assertIsNone(self.window(' '))

    def test_closed(self) -> None:
        self.assertEqual(
            ScopeWindow(
                False,
                '2026-11-27 22:00 (Europe/Berlin)',
                OPENS,
                move_seconds=120.0,
            ),
            self.window(NIGHT),
        )

    def test_moves_that_end_inside(self) -> None:
        """In each of two lanes one after the other, rounded down."""
        window = self.window(DAY, expected_move_seconds=50.0)
        assert window is not None
        self.assertTrue(window.is_open)
        self.assertEqual('2026-11-27 15:01 (UTC)', window.until)
        self.assertEqual(2 * (3660 // 50), window.most_moves)

    def test_seconds_of_recent_moves(self) -> None:
        """What Nova has recorded counts before the option."""
        event = Event(
            'v', 'a', 'b', Outcome.MOVED, NOW - 60, Origin.NOVA, seconds=600.0
        )
        window = self.window(DAY, events=(event,), expected_move_seconds=50.0)
        assert window is not None
        self.assertEqual(600.0, window.move_seconds)
        self.assertEqual(2 * 6, window.most_moves)

    def test_freeze(self) -> None:
        window = self.window(DAY, freezes=['2026-11-26/2026-11-27 UTC'])
        assert window is not None
        self.assertFalse(window.is_open)
        self.assertEqual('2026-12-04 08:00 (UTC)', window.until)

    def test_aggregate_instead(self) -> None:
        """Each key replaces its own option."""
        window = self.window(
            NIGHT,
            metadata={'kronos:window': f'Tue 01:00-02:00 UTC; {DAY}'},
            freezes=['2026-12-01/2026-12-02 UTC'],
        )
        assert window is not None
        self.assertTrue(window.is_open)
        window = self.window(
            DAY, metadata={'kronos:freeze': '2026-11-27/2026-11-27 UTC'}
        )
        assert window is not None
        self.assertFalse(window.is_open)

    def test_exempt(self) -> None:
        window = self.window(NIGHT, strategy='kronos_evacuate')
        assert window is not None
        self.assertTrue(window.is_exempt)
        window = self.window(
            NIGHT, strategy='kronos_evacuate', window_exempt=[]
        )
        assert window is not None
        self.assertFalse(window.is_exempt)

    def test_bad(self) -> None:
        """It names the place, the value and the rule, on one line."""
        for text, rule in (
            ('', 'this is no window'),
            ('Fri 08:00-15:00 UTC;', 'this is no window'),
            ('x' * 5000, 'this is no window'),
            ('Fri 08:00-15:00 Europe/Berlín', 'is not an IANA time zone'),
            ('Fri 08:00-15:00 ../../etc/passwd', 'is not an IANA time zone'),
            ('Fri 25:00-26:00 UTC', '25:00 is no time of day'),
            ('<script>\n\x1b[31m', 'this is no window'),
        ):
            fault = self.fault(metadata={'kronos:window': text})
            self.assertIn('aggregate gpu, metadata kronos:window', fault)
            self.assertIn(rule, fault)
            self.assertLess(len(fault), 400)
            self.assertTrue(fault.isprintable(), fault)
        self.assertIn('[kronos] windows: "Fri"', self.fault('Fri'))
        fault = self.fault(freezes=['2026-12-24'])
        self.assertIn('[kronos] freezes: "2026-12-24"', fault)

    def test_no_zone_data(self) -> None:
        """Neither that of the system nor that of Python's package."""
        modules = {
            name: module
            for name, module in sys.modules.items()
            if not name.startswith('tzdata')
        }
        modules['tzdata'] = None  # type: ignore[assignment]
        self.useFixture(fixtures.MonkeyPatch('sys.modules', modules))
        zoneinfo.reset_tzpath([self.useFixture(fixtures.TempDir()).path])
        self.addCleanup(zoneinfo.reset_tzpath)
        zoneinfo.ZoneInfo.clear_cache()
        self.addCleanup(zoneinfo.ZoneInfo.clear_cache)
        self.assertIn('install the package tzdata', self.fault(NIGHT))

    def test_end_of_time(self) -> None:
        self.assertIn('no calendar', self.fault(NIGHT, now=253402300799.0))

    def test_usable(self) -> None:
        for text in (NIGHT, f'{NIGHT};{DAY}', '2026-12-24/2026-12-24 UTC'):
            self.assertTrue(scope_windows.is_usable(text))
        for text in ('', 'my secret', f'{NIGHT};x'):
            self.assertFalse(scope_windows.is_usable(text))
