# SPDX-License-Identifier: Apache-2.0
"""Does each event show what it should, be it known or not?"""

from oslotest import base

from kronos.monitor import events
from kronos.monitor.events import Kind


class TestNames(base.BaseTestCase):
    def test_lifecycle(self) -> None:
        for phase, detail, name in (
            (5, 5, 'STOPPED_FAILED'),
            (5, 2, 'STOPPED_CRASHED'),
            (8, 0, 'CRASHED_PANICKED'),
            (3, 2, 'SUSPENDED_IOERROR'),
            (3, 3, 'SUSPENDED_WATCHDOG'),
            (2, 0, 'STARTED_BOOTED'),
            (5, 99, 'STOPPED_UNKNOWN_99'),
            (99, 1, 'UNKNOWN_99_UNKNOWN_1'),
            (-1, -1, 'UNKNOWN_-1_UNKNOWN_-1'),
        ):
            self.assertEqual(name, events.lifecycle(phase, detail))

    def test_numbers(self) -> None:
        self.assertEqual('RESET', events.named(events.WATCHDOG_ACTIONS, 2))
        self.assertEqual('REPORT', events.named(events.IO_ERROR_ACTIONS, 2))
        self.assertEqual('UNKNOWN_7', events.named(events.WATCHDOG_ACTIONS, 7))


class TestKinds(base.BaseTestCase):
    def test_each_event(self) -> None:
        for event, detail, kind in (
            ('LIFECYCLE', 'STOPPED_FAILED', Kind.CRASH),
            ('LIFECYCLE', 'STOPPED_DESTROYED', None),
            ('LIFECYCLE', 'STOPPED_UNKNOWN_99', None),
            ('LIFECYCLE', 'CRASHED_PANICKED', Kind.PANIC),
            (
                'LIFECYCLE',
                'RESUMED_POSTCOPY_FAILED',
                Kind.POSTCOPY_FAILED,
            ),
            (
                'LIFECYCLE',
                'SUSPENDED_POSTCOPY_FAILED',
                Kind.POSTCOPY_FAILED,
            ),
            ('LIFECYCLE', 'SUSPENDED_API_ERROR', Kind.PAUSED),
            ('LIFECYCLE', 'SUSPENDED_POSTCOPY', None),
            ('LIFECYCLE', 'SUSPENDED_PAUSED', None),
            ('WATCHDOG', 'NONE', Kind.HANG),
            ('WATCHDOG', 'UNKNOWN_7', Kind.HANG),
            ('IO_ERROR', 'REPORT', Kind.IO_ERROR),
            ('MEMORY_FAILURE', 'FATAL', Kind.MEMORY_ERROR),
            ('CONTROL_ERROR', '', Kind.CONTROL_ERROR),
            ('REBOOT', '', None),
            ('UNKNOWN_28', '', None),
        ):
            self.assertEqual(kind, events.kind_of(event, detail), detail)
