# SPDX-License-Identifier: Apache-2.0
"""Is it found what happened while no events came?"""

import json

import testscenarios
from oslotest import base

from kronos.monitor import gaps
from kronos.monitor.domains import Domain, Gone, Listing, State
from kronos.monitor.events import Kind
from kronos.monitor.gaps import Comparison, Outdated
from kronos.monitor.incidents import Gap, Grouping
from kronos.monitor.memory import Memory, Row
from tests.unit.monitor.hypervisor import ONE, TWO, event
from tests.unit.monitor.migrations import BOOTS, ENDS, End, Listed

GAP = Gap(900.0, 1000.0)


class GapTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.memory = Memory('node1')
        self.see(Domain(ONE, 'guest', State.RUNNING, '', 3), gap=None)

    def see(self, *domains: Domain, gap: Gap | None = GAP) -> Comparison:
        return gaps.compare(self.memory, Listing(1000.0, [*domains]), gap)

    def kinds(self, *domains: Domain) -> list[str]:
        return [
            incident.kind.value for incident in self.see(*domains).incidents
        ]


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
        result = self.see(domain)
        self.assertEqual(self.wanted, [one.kind for one in result.incidents])
        for incident in result.incidents:
            self.assertTrue(incident.inferred)
            self.assertEqual(
                (GAP, 3, state), (incident.gap, incident.run, incident.state)
            )
        unknown = reason == 'UNKNOWN'
        self.assertEqual([ONE] if unknown else [], result.unexplained)
        self.assertEqual([], self.kinds(domain), 'told once')

    def test_a_first_start_tells_nothing_old(self) -> None:
        state, reason, run = self.now
        self.memory = Memory('node1')
        result = self.see(Domain(ONE, 'guest', state, reason, run), gap=None)
        self.assertEqual(Comparison(), result)

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
        result = self.see()
        self.assertEqual(([ONE], []), (result.vanished, result.incidents))
        self.assertEqual({}, self.memory.rows)


class TestOutdated(GapTestCase):
    """A hypervisor that has just started lists what it saw last."""

    def setUp(self) -> None:
        super().setUp()
        self.outdated = Outdated()
        self.list(GAP)

    def list(self, gap: Gap | None) -> None:
        ran = Domain(ONE, 'guest', State.RUNNING, '', 3, is_current=False)
        new = Domain(TWO, 'new', State.RUNNING, '', 4)
        listing = Listing(1000.0, [ran, new])
        gaps.compare(self.memory, listing, gap)
        self.outdated.begin(listing, gap)
        self.assertEqual({ONE}, self.outdated.instances)

    def again(
        self, state: State, reason: str, run: int | None = None, **more: bool
    ) -> Comparison:
        domain = Domain(ONE, 'guest', state, reason, run, **more)
        return self.outdated.compare(self.memory, domain, 1007.0)

    def test_killed(self) -> None:
        (incident,) = self.again(State.SHUTOFF, 'CRASHED').incidents
        self.assertEqual(
            ('crash', 3, 1007.0, Gap(900.0, 1007.0)),
            (incident.kind, incident.run, incident.seen, incident.gap),
        )
        self.assertEqual(set(), self.outdated.instances)
        self.assertEqual(
            Comparison(), self.again(State.PAUSED, 'IOERROR', 3), 'told once'
        )

    def test_not_looked_at_yet(self) -> None:
        for _ in range(3):
            result = self.again(State.RUNNING, '', 3, is_current=False)
            self.assertEqual(Comparison(), result)
        result = self.again(State.PAUSED, 'WATCHDOG', 3)
        (incident,) = result.incidents
        self.assertIs(Kind.HANG, incident.kind)

    def test_as_it_was(self) -> None:
        self.assertEqual(Comparison(), self.again(State.RUNNING, '', 3))
        self.assertEqual(set(), self.outdated.instances)

    def test_off_for_no_reason(self) -> None:
        result = self.again(State.SHUTOFF, 'DAEMON')
        self.assertEqual([ONE], result.unexplained)

    def test_gone(self) -> None:
        result = self.outdated.compare(self.memory, Gone(ONE), 1007.0)
        self.assertEqual(([ONE], []), (result.vanished, result.incidents))
        self.assertEqual([TWO], [*self.memory.rows])
        self.memory.forget(TWO)
        self.outdated.compare(self.memory, Gone(ONE), 1008.0)

    def test_a_first_start_tells_nothing_old(self) -> None:
        self.list(None)
        self.assertEqual([], self.again(State.SHUTOFF, 'CRASHED').incidents)
        self.assertIs(State.SHUTOFF, self.memory.rows[ONE].state)

    def test_what_events_show(self) -> None:
        """A state that they may have overtaken is not taken."""
        for name, detail in (
            ('LIFECYCLE', 'DEFINED_UPDATED'),
            ('LIFECYCLE', 'UNDEFINED_REMOVED'),
            ('REBOOT', ''),
        ):
            self.outdated.follow(event(name, detail))
            self.assertEqual({ONE}, self.outdated.instances, detail)
        self.outdated.follow(event('LIFECYCLE', 'RESUMED_UNPAUSED'))
        self.assertEqual(Comparison(), self.again(State.PAUSED, 'IOERROR', 3))


class TestMigrations(testscenarios.WithScenarios, base.BaseTestCase):
    """A gap anywhere in a migration changes nothing of what is told."""

    scenarios = [(name, {'end': end}) for name, end in ENDS.items()]
    end: End

    def test_a_gap(self) -> None:
        steps = self.end.steps
        for first in range(len(steps) + 1):
            for last in range(first, len(steps) + 1):
                seen = first >= self.end.least or last < len(steps)
                if seen and not self.hides_a_start(first, last):
                    self.assertEqual(
                        [*self.end.kinds],
                        self.follow(first, last),
                        f'no events from {first} to {last}',
                    )

    def hides_a_start(self, first: int, last: int) -> bool:
        """Whether only a kept row could tell that a server leaves."""
        hidden = self.end.steps[first:last]
        return BOOTS in hidden and len(hidden) > 1

    def follow(self, first: int, last: int) -> list[str]:
        self.memory = Memory('node1')
        self.found: list[str] = []
        gaps.compare(self.memory, Listing(900.0, []), None)
        self.take(0, first)
        # The agent, too, may have been started anew.
        self.memory = Memory(
            'node1',
            {
                name: Row.of(json.loads(json.dumps(row.document())))
                for name, row in self.memory.rows.items()
            },
        )
        listed = self.end.steps[last - 1][1] if last else None
        listing = Listing(1000.0, self.listed(listed, last))
        self.found += [
            incident.kind.value
            for incident in gaps.compare(self.memory, listing, GAP).incidents
        ]
        self.take(last, len(self.end.steps))
        return self.found

    def take(self, start: int, end: int) -> None:
        grouping = Grouping(self.memory, 5.0)
        for number in range(start, end):
            detail, listed = self.end.steps[number]
            grouping.take(
                event('LIFECYCLE', detail, run=self.number(number + 1)), 0.0
            )
            if listed is None:
                grouping.gone(ONE)
            self.found += [one.kind.value for one in grouping.due(99.0)]

    def number(self, steps: int) -> int:
        """The number of the run after some steps."""
        return 7 + sum(
            detail.startswith('STARTED_')
            for detail, _ in self.end.steps[:steps]
        )

    def listed(self, listed: Listed, steps: int) -> list[Domain]:
        if listed is None:
            return []
        state, reason = listed
        run = None if state is State.SHUTOFF else self.number(steps)
        return [Domain(ONE, 'guest', state, reason, run)]


class TestGone(GapTestCase):
    """What a migration has left is told of once more, after the list."""

    def test_after_the_list(self) -> None:
        for details in (
            ('STARTED_MIGRATED',),
            ('SUSPENDED_MIGRATED',),
            ('SUSPENDED_MIGRATED', 'SUSPENDED_POSTCOPY'),
        ):
            self.see(Domain(ONE, 'guest', State.RUNNING, '', 3))
            grouping = Grouping(self.memory, 5.0)
            for detail in details:
                grouping.take(event('LIFECYCLE', detail, run=3), 0.0)
            result = self.see()
            self.assertEqual(([], []), (result.vanished, result.incidents))
            grouping.take(event('LIFECYCLE', 'STOPPED_FAILED'), 1.0)
            self.assertEqual([], grouping.due(99.0), details)
            self.see()
            self.assertEqual({}, self.memory.rows)

    def test_a_failure_before_it(self) -> None:
        """It goes with its server."""
        self.memory.rows[ONE].failed = 'io_error'
        self.memory.follow(event('LIFECYCLE', 'SUSPENDED_MIGRATED'))
        self.see()
        self.assertEqual('', self.memory.rows[ONE].failed)
