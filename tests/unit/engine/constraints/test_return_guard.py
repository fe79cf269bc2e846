# SPDX-License-Identifier: Apache-2.0
"""Does an instance stay away from where it was moved away?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.return_guard import ReturnGuard
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    Snapshot,
)
from tests.builders import constraints, scopes

NOW = 1000.0
LEAVING = MigrationPhase.EVACUATE, MigrationPhase.AFFINITY


class TestReturnGuard(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.settings = Settings(return_guard_seconds=600.0)
        self.snapshot = scopes.scope(
            [],
            {'a': [], 'b': [], 'c': []},
            [scopes.vm(uuid, 'a', []) for uuid in 'uv'],
        )
        self.snapshot.taken_at = NOW
        self.snapshot.events = [
            Event('u', host, 'a', Outcome.MOVED, NOW - 60.0, Origin.NOVA)
            for host in ('b', 'elsewhere')
        ]

    def _built(
        self,
        snapshot: Snapshot,
        settings: Settings,
        phase: MigrationPhase = MigrationPhase.SPREAD,
    ) -> ReturnGuard | None:
        memory = remember(snapshot, settings)
        return ReturnGuard.build(
            constraints.given(snapshot, settings, phase, cooldowns=memory)
        )

    def test_pairs(self) -> None:
        """Of hosts of the scope alone; a rebuild is no return."""
        constraint = self._built(self.snapshot, self.settings)
        assert constraint is not None
        expected = [[True, False, True], [True] * 3]
        self.assertEqual(expected, constraints.pairs(constraint, (2, 3)))
        self.assertFalse(constraint.binds_rebuilds)

    def test_phases(self) -> None:
        """Where a host has to be left, an instance may return."""
        for phase in MigrationPhase:
            guards = phase not in LEAVING
            built = self._built(self.snapshot, self.settings, phase)
            self.assertEqual(guards, built is not None)

    def test_nobody_moved(self) -> None:
        self.snapshot.events = []
        self.assertIsNone(self._built(self.snapshot, self.settings))

    def test_relaxation(self) -> None:
        constraint = self._built(self.snapshot, self.settings)
        assert constraint is not None
        reason = constraint.why_not(0, 1)
        assert reason is not None
        self.assertIn(reason.code, ReturnGuard.codes)
        case = constraints.relaxed(
            ReturnGuard,
            self.snapshot,
            self.settings,
            reason,
            edits.Pair('u', 'a', 'b'),
        )
        self.assertIsNone(self._built(case.snapshot, case.settings))
