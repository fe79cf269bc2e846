# SPDX-License-Identifier: Apache-2.0
"""Does an instance stay that was created or moved of late?"""

from typing import Any

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.minimum_stay import MinimumStay
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.planning import propose
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    PlanningInput,
)
from tests.builders import constraints, scopes

NOW = 10_000.0
SPARED = MigrationPhase.SPREAD, MigrationPhase.PACK


class TestMinimumStay(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.settings = Settings(min_age_seconds=600.0)
        self.snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm(uuid, 'a', []) for uuid in 'uvw'],
        )
        self.snapshot.taken_at = NOW
        self.snapshot.instances['v'].created = NOW - 60.0

    def _built(self, phase: MigrationPhase) -> MinimumStay | None:
        return MinimumStay.build(
            constraints.given(
                self.snapshot,
                self.settings,
                phase,
                cooldowns=remember(self.snapshot, self.settings),
            )
        )

    def test_pairs(self) -> None:
        constraint = self._built(MigrationPhase.SPREAD)
        assert constraint is not None
        expected = [[True, True], [False, False], [True, True]]
        self.assertEqual(expected, constraints.pairs(constraint, (3, 2)))
        self.assertFalse(constraint.binds_rebuilds)

    def test_phases(self) -> None:
        for phase in MigrationPhase:
            built = self._built(phase)
            self.assertIs(phase in SPARED, built is not None, phase)
        self.snapshot.instances['v'].created = NOW - 600.0
        self.assertIsNone(self._built(MigrationPhase.SPREAD))

    def test_moved(self) -> None:
        """After a quarter of an hour in the phases of spread and pack."""
        self.snapshot.instances['v'].created = 0.0
        self.settings.instance_cooldown_seconds = 3600.0
        self.snapshot.events = [
            Event('w', 'b', 'a', Outcome.MOVED, NOW - 1000.0, Origin.NOVA)
        ]
        for phase in MigrationPhase:
            is_held = phase in (*SPARED, MigrationPhase.RELIEVE)
            built = self._built(phase)
            self.assertIs(is_held, built is not None, phase)
            if built is not None:
                reason = built.why_not(2, 0)
                self.assertIsNotNone(reason)
                self.assertIs(Code.INSTANCE_COOLDOWN, reason.code)
                self.assertIsNone(built.why_not(1, 0))

    def test_lifted(self) -> None:
        case = PlanningInput(self.snapshot, [], self.settings)
        lifted = MinimumStay.relax(
            case, Reason('', Code.INSTANCE_YOUNG), edits.Pair('v', 'a', 'b')
        )
        self.assertEqual(0.0, lifted.settings.min_age_seconds)
        self.settings.instance_cooldown_seconds = 3600.0
        lifted = MinimumStay.relax(
            case,
            Reason('', Code.INSTANCE_COOLDOWN),
            edits.Pair('v', 'a', 'b'),
        )
        self.assertEqual(0.0, lifted.settings.instance_cooldown_seconds)
        self.assertEqual(600.0, lifted.settings.min_age_seconds)


class TestPlans(base.BaseTestCase):
    def plan(self, age: float, **settings: Any) -> AggregateResult:
        """Of four servers of a host, all of which came so long ago.

        A plan has three moves at most.
        """
        policy = scopes.policy('cpu')
        servers = [scopes.vm(f'v{number}', 'a', [0.2]) for number in range(4)]
        hosts = {'a': [0.8], 'b': [0.0], 'c': [0.0]}
        snapshot = scopes.scope([policy], hosts, servers)
        snapshot.taken_at = NOW
        snapshot.events = [
            Event(
                f'v{number}', 'b', 'a', Outcome.MOVED, NOW - age, Origin.NOVA
            )
            for number in range(4)
        ]
        if settings.get('evacuate'):
            assert snapshot.services is not None
            snapshot.services['a'].status = 'disabled'
        options = Settings(instance_cooldown_seconds=3600.0, **settings)
        return propose.propose([snapshot], [policy], options).scopes[0]

    def test_spread(self) -> None:
        for age, moves in ((60.0, False), (1000.0, False), (3600.0, True)):
            result = self.plan(age)
            self.assertEqual(moves, bool(result.steps), age)
            if not moves:
                self.assertIs(Code.INSTANCE_COOLDOWN, result.stayed['v0'].code)

    def test_drain(self) -> None:
        for age, moves in ((60.0, 0), (1000.0, 3)):
            result = self.plan(
                age,
                evacuate=True,
                rebalance=False,
                drain_may_exceed_threshold=True,
            )
            self.assertEqual(moves, len(result.steps), age)
