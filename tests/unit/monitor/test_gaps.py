# SPDX-License-Identifier: Apache-2.0
"""Is it found what happened while no events came?"""

import testscenarios
from oslotest import base

from kronos.monitor import gaps
from kronos.monitor.domains import Domain, Listing, State
from kronos.monitor.gaps import Comparison
from kronos.monitor.incidents import Gap, Grouping
from kronos.monitor.memory import Memory
from tests.unit.monitor.hypervisor import ONE, TWO, event

GAP = Gap(900.0, 1000.0)


class GapTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.memory = Memory('node1')
        self.see(Domain(ONE, 'guest', State.RUNNING, '', 3), gap=None)

    def see(self, *domains: Domain, gap: Gap | None = GAP) -> Comparison:
        return gaps.compare(self.memory, Listing(1000.0, [*domains]), gap)

    def kinds(self, *domains: Domain) -> list[str]:
        return [one.kind.value for one in self.see(*domains).incidents]


class TestStates(testscenarios.WithScenarios, GapTestCase):
    scenarios = [
        (f'{state} {reason}', {'now': (state, reason, run), 'wanted': wanted})
        for state, reason, run, wanted in (
            (State.SHUTOFF, 'CRASHED', None, ['crash']),
            (State.CRASHED, 'PANICKED', 3, ['panic']),
            (State.PAUSED, 'IOERROR', 3, ['io_error']),
            (State.PAUSED, 'WATCHDOG', 3, ['hang']),
            (State.SHUTOFF, 'SHUTDOWN', None, []),
            (State.SHUTOFF, 'DESTROYED', None, []),
            (State.SHUTOFF, 'MIGRATED', None, []),
            (State.SHUTOFF, 'SAVED', None, []),
            (State.SHUTOFF, 'UNKNOWN', None, []),
            (State.PAUSED, 'USER', 3, []),
            (State.RUNNING, '', 3, []),
            (State.RUNNING, '', 4, []),
        )
    ]
    now: tuple[State, str, int | None]
    wanted: list[str]

    def test_it_ran_before(self) -> None:
        state, reason, run = self.now
        domain = Domain(ONE, 'guest', state, reason, run)
        found = self.see(domain)
        self.assertEqual(self.wanted, [one.kind for one in found.incidents])
        for one in found.incidents:
            self.assertTrue(one.inferred)
            self.assertEqual((GAP, 3, state), (one.gap, one.run, one.state))
        unknown = reason == 'UNKNOWN'
        self.assertEqual([ONE] if unknown else [], found.unexplained)
        self.assertEqual([], self.kinds(domain), 'told once')

    def test_a_first_start_tells_nothing_old(self) -> None:
        state, reason, run = self.now
        self.memory = Memory('node1')
        found = self.see(Domain(ONE, 'guest', state, reason, run), gap=None)
        self.assertEqual(Comparison(), found)

    def test_defined_and_failed_in_the_gap(self) -> None:
        state, reason, run = self.now
        ran = Domain(ONE, 'guest', State.RUNNING, '', 3)
        new = Domain(TWO, 'new', state, reason, run)
        self.assertEqual(self.wanted, self.kinds(ran, new))


class TestKnown(GapTestCase):
    def take(self, *told: tuple[str, str]) -> None:
        grouping = Grouping(self.memory, 5.0)
        for one in told:
            grouping.take(event(*one), 0.0)
        self.assertEqual(1, len(grouping.due(9.0)))

    def test_a_panic_whose_end_was_not_seen(self) -> None:
        self.take(('LIFECYCLE', 'CRASHED_PANICKED'))
        for state, reason, run in (
            (State.CRASHED, 'PANICKED', 3),
            (State.SHUTOFF, 'CRASHED', None),
        ):
            domain = Domain(ONE, 'guest', state, reason, run)
            self.assertEqual([], self.kinds(domain))

    def test_a_watchdog_whose_end_was_not_seen(self) -> None:
        self.take(('WATCHDOG', 'POWEROFF'))
        domain = Domain(ONE, 'guest', State.SHUTOFF, 'CRASHED')
        self.assertEqual([], self.kinds(domain))

    def test_a_pause_whose_event_was_not_seen(self) -> None:
        self.take(('IO_ERROR', 'PAUSE'))
        domain = Domain(ONE, 'guest', State.PAUSED, 'IOERROR', 3)
        self.assertEqual([], self.kinds(domain))

    def test_a_pause_of_another_run(self) -> None:
        self.take(('IO_ERROR', 'PAUSE'))
        domain = Domain(ONE, 'guest', State.PAUSED, 'IOERROR', 4)
        self.assertEqual(['io_error'], self.kinds(domain))

    def test_stopped_before_started_and_crashed_in_the_gap(self) -> None:
        self.memory.follow(event('LIFECYCLE', 'STOPPED_DESTROYED'))
        domain = Domain(ONE, 'guest', State.SHUTOFF, 'CRASHED')
        self.assertEqual(['crash'], self.kinds(domain))

    def test_gone(self) -> None:
        found = self.see()
        self.assertEqual(([ONE], []), (found.vanished, found.incidents))
        self.assertEqual({}, self.memory.rows)
