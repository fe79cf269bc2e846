# SPDX-License-Identifier: Apache-2.0
"""Is each state what libvirt means by its numbers?"""

from oslotest import base

from kronos.monitor.domains import Domain, State, failure_of
from kronos.monitor.events import Kind
from kronos.monitor.sources.libvirt import states


class TestStates(base.BaseTestCase):
    def test_each(self) -> None:
        for numbers, wanted in (
            ((0, 0), (State.UNKNOWN, '')),
            ((1, 1), (State.RUNNING, '')),
            ((2, 0), (State.RUNNING, '')),
            ((1, 10), (State.RUNNING, '')),
            ((1, 11), (State.PAUSED, 'POSTCOPY_FAILED')),
            ((1, 99), (State.RUNNING, '')),
            ((3, 1), (State.PAUSED, 'USER')),
            ((3, 2), (State.PAUSED, 'MIGRATION')),
            ((3, 12), (State.PAUSED, 'POSTCOPY')),
            ((3, 13), (State.PAUSED, 'POSTCOPY')),
            ((3, 14), (State.PAUSED, 'API_ERROR')),
            ((4, 1), (State.SHUTTING_DOWN, 'USER')),
            ((5, 8), (State.SHUTOFF, 'DAEMON')),
            ((7, 0), (State.SLEEPING, '')),
            ((5, 99), (State.SHUTOFF, 'UNKNOWN_99')),
            ((3, -1), (State.PAUSED, 'UNKNOWN_-1')),
            ((99, 1), (State.UNKNOWN, '')),
            ((-1, 1), (State.UNKNOWN, '')),
        ):
            self.assertEqual(wanted, states.of(*numbers), numbers)

    def test_failures(self) -> None:
        """What is seen of a domain that failed while nobody listened."""
        for numbers, kind in (
            ((5, 3), Kind.CRASH),
            ((6, 1), Kind.PANIC),
            ((3, 10), Kind.PANIC),
            ((3, 5), Kind.IO_ERROR),
            ((3, 6), Kind.HANG),
            ((1, 11), Kind.POSTCOPY_FAILED),
            ((3, 14), Kind.PAUSED),
            ((3, 12), None),
            ((3, 13), None),
            ((5, 1), None),
            ((5, 2), None),
            ((5, 4), None),
            ((5, 5), None),
            ((3, 1), None),
            ((1, 1), None),
        ):
            domain = Domain('a', 'a', *states.of(*numbers))
            self.assertEqual(kind, failure_of(domain), numbers)
