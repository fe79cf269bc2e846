# SPDX-License-Identifier: Apache-2.0
"""Is nothing planned outside a window, and no more than fits into it?"""

from oslotest import base

from kronos.engine.eligibility import consent
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    Origin,
    Outcome,
    ScopeWindow,
    Snapshot,
    StopReason,
)
from tests.builders import scopes

CPU = scopes.policy('cpu', threshold=0.01)
LATER = '2026-11-27 22:00 (Europe/Berlin)'


def uneven(state: ScopeWindow | None) -> Snapshot:
    vms = [scopes.vm(f'v{n}', 'a', [0.1]) for n in range(6)]
    snapshot = scopes.scope(
        [CPU], {'a': [0.6], 'b': [0.0], 'c': [0.0]}, vms, name='gpu'
    )
    snapshot.window = state
    return snapshot


def planned(snapshot: Snapshot, **more: object) -> AggregateResult:
    settings = Settings(**{'max_migrations': 9, **more})  # type: ignore
    [result] = propose.propose([snapshot], [CPU], settings).scopes
    return result


def drained(snapshot: Snapshot) -> AggregateResult:
    return planned(
        snapshot,
        evacuate=True,
        rebalance=False,
        drain_hosts=['a'],
        drain_may_exceed_threshold=True,
    )


class TestClosed(base.BaseTestCase):
    def test_closed(self) -> None:
        result = planned(uneven(ScopeWindow(False, LATER)))
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.WINDOW, result.stopped)
        self.assertEqual(f'The window of gpu opens at {LATER}', result.reason)
        self.assertEqual(
            {Code.SCOPE_WINDOW}, {why.code for why in result.stayed.values()}
        )

    def test_never_opens(self) -> None:
        result = planned(uneven(ScopeWindow(False)))
        self.assertIn('does not open within 3 years', result.reason)

    def test_unusable(self) -> None:
        result = planned(uneven(ScopeWindow(False, fault='no such zone')))
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.WINDOW_UNUSABLE, result.stopped)
        self.assertEqual('no such zone', result.reason)

    def test_exempt(self) -> None:
        """It plans the same as without windows."""
        free = drained(uneven(None))
        self.assertEqual(6, len(free.steps))
        for state in (
            ScopeWindow(False, LATER, is_exempt=True),
            ScopeWindow(False, fault='no such zone', is_exempt=True),
            ScopeWindow(True, LATER, is_exempt=True, most_moves=0),
        ):
            self.assertEqual(free.steps, drained(uneven(state)).steps)

    def test_drain_without_metrics(self) -> None:
        """It says why nothing leaves, and nothing of metrics."""
        snapshot = uneven(ScopeWindow(False, LATER))
        snapshot.readings = {}
        result = drained(snapshot)
        self.assertIs(StopReason.WINDOW, result.stopped)
        self.assertEqual('', result.unmeasured)


class TestLimit(base.BaseTestCase):
    def state(self, most: int) -> ScopeWindow:
        return ScopeWindow(True, LATER, move_seconds=20.0, most_moves=most)

    def test_fits(self) -> None:
        """The best moves are taken; the others have a reason."""
        whole = planned(uneven(None))
        self.assertGreater(len(whole.steps), 2)
        result = planned(uneven(self.state(2)))
        self.assertEqual(2, len(result.steps))
        self.assertIs(StopReason.BUDGET, result.stopped)
        text = f'The window of gpu closes at {LATER}; 2 moves of about 20 s'
        self.assertIn(text, result.window_limit)
        self.assertIn(text, result.reason)
        codes = {why.code for why in result.stayed.values()}
        self.assertIn(Code.WINDOW_TOO_SHORT, codes)
        self.assertNotIn(Code.BUDGET_USED, codes)

    def test_drain(self) -> None:
        result = drained(uneven(self.state(2)))
        self.assertEqual(2, len(result.steps))
        [drain] = result.drains
        self.assertEqual(
            {Code.WINDOW_TOO_SHORT},
            {why.code for why in drain.staying.values()},
        )

    def test_long_enough(self) -> None:
        """It changes nothing."""
        free, result = planned(uneven(None)), planned(uneven(self.state(9)))
        self.assertEqual(free.steps, result.steps)
        self.assertEqual(free.reason, result.reason)
        self.assertEqual('', result.window_limit)

    def test_no_move(self) -> None:
        result = planned(uneven(self.state(0)))
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.WINDOW_TOO_SHORT, result.stopped)
        self.assertIn('0 moves of about 20 s can end before', result.reason)

    def test_under_way(self) -> None:
        """What runs already comes first."""
        snapshot = uneven(self.state(2))
        snapshot.events = [
            Event('x', 'a', 'b', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
        ]
        self.assertEqual(1, len(planned(snapshot).steps))


class TestConsent(base.BaseTestCase):
    def test_only_in_a_window(self) -> None:
        """Of an exempt strategy, too."""
        for state, number in (
            (None, 6),
            (ScopeWindow(True, LATER, is_exempt=True), 6),
            (ScopeWindow(False, LATER, is_exempt=True), 5),
        ):
            snapshot = uneven(state)
            snapshot.instances['v0'].metadata = {consent.KEY: 'window'}
            result = drained(snapshot)
            self.assertEqual(number, len(result.steps))
            self.assertEqual(number == 6, snapshot.is_open)
            if number == 5:
                why = result.stayed['v0']
                self.assertIs(Code.INSTANCE_CONSENT, why.code)
                self.assertIn('only while its window is open', why)
