# SPDX-License-Identifier: Apache-2.0
"""Do plans heed the moves of other plans, and those made by hand?"""

import dataclasses

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
)
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', threshold=0.5, capacity_threshold=0.9)


def drained(policy: str = '') -> Snapshot:
    """v is to leave; x is the best host for it, z the next."""
    groups = [ServerGroup('g', policy, ['v', 'w'])] if policy else []
    snapshot = scopes.scope(
        [CPU],
        {'off': [0.1], 'x': [0.0], 'y': [0.2], 'z': [0.1]},
        [vm('v', 'off', [0.05]), vm('w', 'y', [0.05])],
        groups=groups,
    )
    assert snapshot.services is not None
    snapshot.services['off'].status = 'disabled'
    snapshot.taken_at = 10.0
    return snapshot


def on_its_way(origin: Origin, outcome: Outcome) -> Event:
    return Event('w', 'y', 'x', outcome, 9.0, origin)


PLANNED = on_its_way(Origin.WATCHER, Outcome.PLANNED)
STARTED = on_its_way(Origin.WATCHER, Outcome.UNDER_WAY)
CLAIMED = on_its_way(Origin.NOVA, Outcome.UNDER_WAY)


def destination(snapshot: Snapshot) -> str:
    settings = Settings(evacuate=True, rebalance=False, unlimited=True)
    [result] = propose([snapshot], [CPU], settings).scopes
    [step] = result.steps
    return step.destination


def run(snapshot: Snapshot) -> AggregateResult:
    return propose([snapshot], [CPU], Settings(evacuate=True)).scopes[0]


class TestOnTheirWay(base.BaseTestCase):
    def test_a_member_of_the_same_group(self) -> None:
        self.assertEqual('x', destination(drained('anti-affinity')))
        for event in (PLANNED, STARTED, CLAIMED):
            snapshot = drained('anti-affinity')
            snapshot.events = [event]
            self.assertEqual('z', destination(snapshot))

    def test_its_room_is_held(self) -> None:
        """Placement knows it once Nova has begun to migrate."""
        for event, expected in (
            (PLANNED, 'z'),
            (STARTED, 'z'),
            (CLAIMED, 'x'),
        ):
            snapshot = drained()
            scopes.give_room(
                snapshot,
                {host: {'VCPU': 9, 'MEMORY_MB': 1024} for host in 'xz'},
            )
            self.assertEqual('x', destination(snapshot))
            snapshot.events = [event]
            self.assertEqual(expected, destination(snapshot))

    def test_resizes_and_what_is_stuck_leave_the_budget(self) -> None:
        """Tenants resize all the time; a stuck one would count for ever."""
        for change in ({'is_resize': True}, {'at': CLAIMED.at - 86401}):
            snapshot = drained()
            snapshot.taken_at = CLAIMED.at
            snapshot.events = [dataclasses.replace(CLAIMED, **change)]
            warnings = ' '.join(run(snapshot).warnings)
            self.assertNotIn('budget', warnings)
            self.assertEqual('at' in change, 'is stuck' in warnings)

    def test_they_lower_the_budget(self) -> None:
        """And the operator learns of it."""
        snapshot = drained()
        snapshot.events = [PLANNED]
        [warning] = [
            text for text in run(snapshot).warnings if 'budget' in text
        ]
        self.assertEqual(
            'the budget of 3 is reduced by 1: that many instances are already '
            'being migrated from or to its hosts',
            warning,
        )
