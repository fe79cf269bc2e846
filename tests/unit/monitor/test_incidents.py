# SPDX-License-Identifier: Apache-2.0
"""Does each failure give one incident, and what users do none?"""

from collections.abc import Sequence

import hypothesis
import testscenarios
from hypothesis import strategies as st
from oslotest import base

from kronos.monitor import incidents
from kronos.monitor.events import DETAILS, Kind
from kronos.monitor.incidents import Grouping, Incident
from kronos.monitor.memory import Memory
from tests.unit.monitor.hypervisor import ONE, STIMULI, TWO, event
from tests.unit.monitor.migrations import ENDS, End

HOLD = 5.0
STOPPED = ('LIFECYCLE', 'STOPPED_FAILED')


class GroupingTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.make()

    def make(self) -> None:
        self.memory = Memory('node1')
        self.grouping = Grouping(self.memory, HOLD)
        self.now = 0.0
        self.start()

    def start(self, instance: str = ONE, run: int = 1) -> None:
        self.grouping.take(
            event('LIFECYCLE', 'STARTED_BOOTED', instance, run=run), self.now
        )

    def take(
        self, *told: tuple[str, str], instance: str = ONE, at: float = 1000.0
    ) -> list[str]:
        return [
            self.grouping.take(event(*one, instance, moment=at), self.now)
            for one in told
        ]

    def later(self, seconds: float = 1.0) -> list[Incident]:
        self.now += seconds
        return self.grouping.due(self.now)

    def kinds(self, found: Sequence[Incident]) -> list[str]:
        return [one.kind.value for one in found]


class TestStimuli(testscenarios.WithScenarios, GroupingTestCase):
    scenarios = [
        (name, {'told': told, 'kind': kind})
        for name, (told, kind) in STIMULI.items()
    ]
    told: list[tuple[str, str]]
    kind: str

    def test_at_once(self) -> None:
        self.take(*self.told)
        wanted = [self.kind] if self.kind else []
        self.assertEqual(wanted, self.kinds(self.later()))
        self.assertEqual([], self.later(100.0))

    def test_one_after_another(self) -> None:
        """A busy host distinguishes them by more than a group waits."""
        found = []
        for one in self.told[:10]:
            self.take(one)
            found += self.later()
        wanted = [self.kind] if self.kind else []
        self.assertEqual(wanted, self.kinds(found))

    def test_in_another_order(self) -> None:
        if not self.kind:
            return
        self.take(*reversed(self.told))
        self.assertEqual([self.kind], self.kinds(self.later()))


class TestMigrations(testscenarios.WithScenarios, GroupingTestCase):
    scenarios = [(name, {'end': end}) for name, end in ENDS.items()]
    end: End

    def make(self) -> None:
        self.memory = Memory('node1')
        self.grouping = Grouping(self.memory, HOLD)
        self.now = 0.0

    def follow(self, pause: float) -> list[str]:
        """Take all of it, and look at the domain as an agent does."""
        found = []
        for run, (detail, listed) in enumerate(self.end.steps):
            self.grouping.take(
                event('LIFECYCLE', detail, run=7 + run // 3), self.now
            )
            found += self.later(pause)
            if listed is None and ONE in self.grouping.leaving:
                self.grouping.gone(ONE)
        return self.kinds(found + self.later(incidents.ARRIVAL + 1.0))

    def test_at_once(self) -> None:
        self.assertEqual([*self.end.kinds], self.follow(0.0))

    def test_one_after_another(self) -> None:
        self.assertEqual([*self.end.kinds], self.follow(1.0))

    def test_a_fault_of_what_is_elsewhere(self) -> None:
        """Whatever is told of a rest that no server runs in."""
        for detail, _ in self.end.steps:
            self.take(('LIFECYCLE', detail))
            self.later(incidents.ARRIVAL + 1.0)
            if self.memory.rows[ONE].is_elsewhere:
                self.take(
                    ('CONTROL_ERROR', ''),
                    ('IO_ERROR', 'PAUSE'),
                    ('WATCHDOG', 'PAUSE'),
                    ('MEMORY_FAILURE', 'INJECT'),
                )
                self.assertEqual([], self.later(HOLD))
                self.assertTrue(self.memory.rows[ONE].is_elsewhere)


class TestLeaving(GroupingTestCase):
    """QEMU at the source ends in the last moment of a migration."""

    def setUp(self) -> None:
        super().setUp()
        self.take(('LIFECYCLE', 'SUSPENDED_MIGRATED'), STOPPED)

    def test_it_is_looked_at(self) -> None:
        self.assertEqual({ONE}, self.grouping.leaving)
        self.assertEqual([], self.later(incidents.ARRIVAL / 2))
        self.assertEqual([], self.grouping.flush())
        self.assertEqual({ONE}, self.grouping.open)
        self.assertEqual(['crash'], self.kinds(self.later(incidents.ARRIVAL)))
        self.assertEqual(set(), self.grouping.leaving)

    def test_it_comes_back(self) -> None:
        self.take(('LIFECYCLE', 'STARTED_MIGRATED'))
        self.assertEqual([], self.later(incidents.ARRIVAL))

    def test_it_is_started_here(self) -> None:
        self.start(run=2)
        self.assertEqual(['crash'], self.kinds(self.later(0.0)))

    def test_after_an_error_of_control(self) -> None:
        self.make()
        self.take(
            ('LIFECYCLE', 'SUSPENDED_MIGRATED'),
            ('CONTROL_ERROR', ''),
            STOPPED,
        )
        self.assertEqual([], self.later(incidents.ARRIVAL / 2))
        self.grouping.gone(ONE)
        self.assertEqual([], self.later(incidents.ARRIVAL))

    def test_others_that_are_gone(self) -> None:
        self.make()
        self.take(STOPPED)
        self.grouping.gone(ONE)
        self.grouping.gone(TWO)
        self.assertEqual(['crash'], self.kinds(self.later()))


class TestPostCopy(GroupingTestCase):
    def test_lost_resumed_and_lost_again(self) -> None:
        self.take(
            ('LIFECYCLE', 'STARTED_MIGRATED'),
            ('LIFECYCLE', 'RESUMED_POSTCOPY'),
        )
        for _ in range(2):
            self.take(*[('LIFECYCLE', 'RESUMED_POSTCOPY_FAILED')] * 2)
            self.assertEqual(['postcopy_failed'], self.kinds(self.later()))
            self.memory.expire(9e9)
            self.assertEqual('postcopy_failed', self.memory.rows[ONE].failed)
            self.take(('LIFECYCLE', 'RESUMED_POSTCOPY'))
            self.assertEqual('', self.memory.rows[ONE].failed)


class TestGrouping(GroupingTestCase):
    def test_what_is_taken(self) -> None:
        self.assertEqual(
            ['opened', 'grouped', 'grouped'],
            self.take(
                ('WATCHDOG', 'RESET'), ('REBOOT', ''), ('WATCHDOG', 'RESET')
            ),
        )
        (found,) = self.later()
        told = [(one.event, one.detail, one.count) for one in found.events]
        self.assertEqual([('WATCHDOG', 'RESET', 2), ('REBOOT', '', 1)], told)
        self.assertEqual(['ignored'], self.take(('REBOOT', '')))
        self.assertEqual(['grouped'], self.take(('WATCHDOG', 'RESET')))

    def test_several_domains(self) -> None:
        self.start(TWO, 2)
        self.take(STOPPED)
        self.take(STOPPED, instance=TWO)
        self.assertEqual({ONE, TWO}, self.grouping.open)
        result = self.later()
        self.assertEqual(
            [(ONE, 1), (TWO, 2)], [(one.instance, one.run) for one in result]
        )
        self.assertEqual(set(), self.grouping.open)

    def test_it_waits_for_the_rest(self) -> None:
        self.take(STOPPED)
        self.assertEqual([], self.later(incidents.SETTLE / 2))
        self.assertEqual(['crash'], self.kinds(self.later(incidents.SETTLE)))

    def test_each_run_may_crash(self) -> None:
        """Also where it is started again in the same moment."""
        found = []
        for run in range(2, 6):
            self.take(STOPPED)
            self.start(run=run)
        found += self.later()
        self.assertEqual(['crash'] * 4, self.kinds(found))
        self.assertEqual(4, len({one.id for one in found}))

    def test_a_start_that_fails(self) -> None:
        """Nova tells its user; nothing ran."""
        self.take(('LIFECYCLE', 'STOPPED_SHUTDOWN'), STOPPED)
        self.assertEqual([], self.later())

    def test_a_restore_that_fails(self) -> None:
        """libvirt tells nothing of it but that it lost control."""
        self.take(('LIFECYCLE', 'STOPPED_SAVED'), ('CONTROL_ERROR', ''))
        self.assertEqual([], self.later(HOLD))

    def test_a_crash_after_any_start(self) -> None:
        """Once libvirt says so, its memory is here, and nowhere else."""
        for detail in ('BOOTED', 'RESTORED', 'FROM_SNAPSHOT', 'WAKEUP'):
            self.take(
                ('LIFECYCLE', 'STOPPED_SAVED'),
                ('LIFECYCLE', f'STARTED_{detail}'),
                STOPPED,
            )
            self.assertEqual(['crash'], self.kinds(self.later()), detail)

    def test_a_crash_after_an_io_error(self) -> None:
        self.take(('IO_ERROR', 'PAUSE'))
        self.assertEqual(['io_error'], self.kinds(self.later()))
        self.take(STOPPED)
        self.assertEqual(['crash'], self.kinds(self.later()))

    def test_each_resume_may_fail(self) -> None:
        for _ in range(3):
            self.take(
                ('IO_ERROR', 'PAUSE'), ('LIFECYCLE', 'SUSPENDED_IOERROR')
            )
            self.assertEqual(['io_error'], self.kinds(self.later()))
            self.take(('LIFECYCLE', 'RESUMED_UNPAUSED'))

    def test_a_domain_that_is_not_known(self) -> None:
        self.take(STOPPED, instance=TWO)
        self.assertEqual(['crash'], self.kinds(self.later()))

    def test_gone_before_it_is_told(self) -> None:
        self.take(STOPPED, ('LIFECYCLE', 'UNDEFINED_REMOVED'))
        (found,) = self.later()
        self.assertEqual(('crash', 'guest'), (found.kind, found.name))
        self.assertNotIn(ONE, self.memory.rows)

    def test_flushed(self) -> None:
        self.take(STOPPED)
        self.assertEqual(['crash'], self.kinds(self.grouping.flush()))
        self.assertEqual([], self.later())


class TestStorm(GroupingTestCase):
    def test_one_incident(self) -> None:
        found = []
        for second in range(1000, 4600):
            self.take(('IO_ERROR', 'REPORT'), at=float(second))
            found += self.later()
        self.assertEqual(['io_error'], self.kinds(found))

    def test_another_one_after_it_was_quiet(self) -> None:
        found = []
        for at in (1000.0, 1059.0, 1118.0, 1118.0 + incidents.QUIET):
            self.take(('IO_ERROR', 'REPORT'), at=at)
            found += self.later()
        self.assertEqual(['io_error'] * 2, self.kinds(found))

    def test_after_a_restart(self) -> None:
        self.take(('IO_ERROR', 'REPORT'))
        self.later()
        self.grouping = Grouping(self.memory, HOLD)
        self.take(('IO_ERROR', 'REPORT'), at=1030.0)
        self.assertEqual([], self.later())

    def test_a_clock_that_jumps_back(self) -> None:
        """One incident more, and not a silence of years."""
        self.take(('IO_ERROR', 'REPORT'), at=2e9)
        self.assertEqual(['io_error'], self.kinds(self.later()))
        self.take(('IO_ERROR', 'REPORT'), at=1000.0)
        self.assertEqual(['io_error'], self.kinds(self.later()))
        self.take(('IO_ERROR', 'REPORT'), at=1001.0)
        self.assertEqual([], self.later())

    def test_bounded(self) -> None:
        for number in range(999):
            self.grouping.take(
                event('IO_ERROR', 'REPORT', about=f'disk {number}' * 99), 0.0
            )
        (found,) = self.later()
        self.assertEqual(incidents.MOST_EVENTS, len(found.events))
        self.assertEqual(255, len(found.events[0].about))


class TestControlError(GroupingTestCase):
    def test_of_one_that_runs(self) -> None:
        self.take(('CONTROL_ERROR', ''))
        self.assertEqual([], self.later(HOLD / 2))
        self.assertEqual(['control_error'], self.kinds(self.later(HOLD)))

    def test_of_one_that_is_being_destroyed(self) -> None:
        self.take(
            ('CONTROL_ERROR', ''),
            ('LIFECYCLE', 'SHUTDOWN_HOST'),
            ('LIFECYCLE', 'STOPPED_DESTROYED'),
        )
        self.assertEqual([], self.later(HOLD))
        self.assertEqual([], self.grouping.flush())

    def test_of_one_that_is_started_anew(self) -> None:
        self.take(('CONTROL_ERROR', ''), ('LIFECYCLE', 'STOPPED_DESTROYED'))
        self.start(run=2)
        self.assertEqual([], self.later(HOLD))

    def test_of_one_that_is_off(self) -> None:
        """Its end is known, as by a list; both are told after it."""
        self.take(STOPPED)
        self.assertEqual(['crash'], self.kinds(self.later()))
        self.take(('CONTROL_ERROR', ''), STOPPED)
        self.assertEqual([], self.later(HOLD))

    def test_of_one_that_crashes(self) -> None:
        self.take(('CONTROL_ERROR', ''), STOPPED)
        self.assertEqual(['crash'], self.kinds(self.later()))


EVENTS = [
    (event, detail)
    for event, details in DETAILS.items()
    for detail in details or ('',)
]


class TestAnything(GroupingTestCase):
    @hypothesis.settings(
        derandomize=True,
        database=None,
    )
    @hypothesis.given(
        st.lists(
            st.tuples(st.sampled_from(EVENTS), st.floats(0, 10)), max_size=30
        )
    )
    def test_no_order_does_harm(
        self, told: list[tuple[tuple[str, str], float]]
    ) -> None:
        """Whatever comes, ids differ and all groups are closed."""
        self.make()
        found = []
        for one, pause in told:
            self.take(one)
            found += self.later(pause)
        found += self.later(HOLD)
        self.assertEqual(len(found), len({one.id for one in found}))
        self.assertEqual(set(), self.grouping.open)
        shown = any(
            incidents.kind_of(*one) not in (None, Kind.CONTROL_ERROR)
            for one, _ in told
        )
        if not shown:
            self.assertLessEqual(
                {one.kind for one in found}, {Kind.CONTROL_ERROR}
            )
