# SPDX-License-Identifier: Apache-2.0
"""Is each event what libvirt means by its numbers?"""

from oslotest import base

from kronos.monitor.events import Event
from kronos.monitor.sources.libvirt import callbacks
from kronos.monitor.sources.libvirt.callbacks import Callbacks
from tests.unit.monitor.hypervisor import ONE


class Told:
    """A domain as an event brings it."""

    def __init__(self, run: int = 7) -> None:
        self._run = run

    def ID(self) -> int:
        return self._run

    def UUIDString(self) -> str:
        return ONE

    def name(self) -> str:
        return 'guest'


class TestCallbacks(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.told: list[Event] = []
        self.wanted: list[str] = []
        made = Callbacks(self.told.append, self.wanted.append)
        self.all = {**made.needed, **made.more}

    def tell(self, number: int, *numbers: int) -> tuple[str, str, str]:
        self.all[number](None, Told(), *numbers, None)
        made = self.told.pop()
        self.assertEqual(
            (ONE, 'guest', 7), (made.instance, made.name, made.run)
        )
        return made.event, made.detail, made.about

    def test_each(self) -> None:
        for numbers, wanted in (
            ((0, 5, 5), ('LIFECYCLE', 'STOPPED_FAILED', '')),
            ((0, 8, 0), ('LIFECYCLE', 'CRASHED_PANICKED', '')),
            ((0, 3, 3), ('LIFECYCLE', 'SUSPENDED_WATCHDOG', '')),
            ((0, 5, 77), ('LIFECYCLE', 'STOPPED_UNKNOWN_77', '')),
            ((0, 77, 1), ('LIFECYCLE', 'UNKNOWN_77_UNKNOWN_1', '')),
            ((1,), ('REBOOT', '', '')),
            ((3, 2), ('WATCHDOG', 'RESET', '')),
            ((3, 77), ('WATCHDOG', 'UNKNOWN_77', '')),
            ((7,), ('CONTROL_ERROR', '', '')),
            ((25, 1, 2, 0), ('MEMORY_FAILURE', 'FATAL', 'guest')),
            (
                (25, 7, 9, 3),
                (
                    'MEMORY_FAILURE',
                    'UNKNOWN_9',
                    'UNKNOWN_7, action required, recursive',
                ),
            ),
        ):
            self.assertEqual(wanted, self.tell(*numbers), numbers)

    def test_which_domains_are_looked_at(self) -> None:
        for phase in range(12):
            self.tell(0, phase, 0)
        self.assertEqual([ONE, ONE], self.wanted)

    def test_one_that_does_not_run(self) -> None:
        self.all[0](None, Told(-1), 5, 5, None)
        self.assertIsNone(self.told[0].run)

    def test_io_errors(self) -> None:
        for more, wanted in (
            (
                ('/disk', 'ide0-0-1', 1, 'enospc'),
                ('PAUSE', 'ide0-0-1 enospc /disk'),
            ),
            (('', 'ide0-0-1', 2, ''), ('REPORT', 'ide0-0-1')),
            (('', '', 77, ''), ('UNKNOWN_77', '')),
        ):
            made = callbacks.io_error(Told(), *more)
            self.assertEqual(wanted, (made.detail, made.about))
