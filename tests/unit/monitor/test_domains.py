# SPDX-License-Identifier: Apache-2.0
"""Does the state of a domain tell whether it failed?"""

from oslotest import base

from kronos.monitor import domains
from kronos.monitor.domains import Domain, State
from kronos.monitor.events import Kind


class TestFailures(base.BaseTestCase):
    def test_each_state(self) -> None:
        for state, reason, kind in (
            (State.SHUTOFF, 'CRASHED', Kind.CRASH),
            (State.CRASHED, 'PANICKED', Kind.PANIC),
            (State.CRASHED, 'UNKNOWN', Kind.PANIC),
            (State.PAUSED, 'IOERROR', Kind.IO_ERROR),
            (State.PAUSED, 'WATCHDOG', Kind.HANG),
            (State.PAUSED, 'POSTCOPY_FAILED', Kind.POSTCOPY_FAILED),
            (State.PAUSED, 'API_ERROR', Kind.PAUSED),
            (State.PAUSED, 'POSTCOPY', None),
            (State.PAUSED, 'USER', None),
            (State.PAUSED, 'MIGRATION', None),
            (State.SHUTOFF, 'SHUTDOWN', None),
            (State.SHUTOFF, 'DESTROYED', None),
            (State.SHUTOFF, 'MIGRATED', None),
            (State.SHUTOFF, 'SAVED', None),
            (State.SHUTOFF, 'UNKNOWN', None),
            (State.RUNNING, 'CRASHED', None),
            (State.UNKNOWN, '', None),
        ):
            result = domains.failure_of(Domain('i', 'n', state, reason))
            self.assertEqual(kind, result, f'{state} {reason}')
