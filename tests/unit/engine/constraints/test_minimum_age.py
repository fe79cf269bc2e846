# SPDX-License-Identifier: Apache-2.0
"""Does a young instance stay where it is?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.minimum_age import MinimumAge
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationPhase, PlanningInput
from tests.builders import constraints, scopes

NOW = 10_000.0
SPARED = MigrationPhase.SPREAD, MigrationPhase.PACK


class TestMinimumAge(base.BaseTestCase):
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

    def _built(self, phase: MigrationPhase) -> MinimumAge | None:
        return MinimumAge.build(
            constraints.given(self.snapshot, self.settings, phase)
        )

    def test_pairs(self) -> None:
        constraint = self._built(MigrationPhase.SPREAD)
        assert constraint is not None
        expected = [[True, True], [False, False], [True, True]]
        said = constraints.said(constraint, (3, 2))
        self.assertEqual(expected, said.tolist())
        for mask in constraints.masked(constraint, (3, 2)):
            self.assertEqual(expected, mask.tolist())
        self.assertFalse(constraint.binds_rebuilds)

    def test_phases(self) -> None:
        for phase in MigrationPhase:
            built = self._built(phase)
            self.assertIs(phase in SPARED, built is not None, phase)
        self.snapshot.instances['v'].created = NOW - 600.0
        self.assertIsNone(self._built(MigrationPhase.SPREAD))

    def test_lifted(self) -> None:
        case = PlanningInput(self.snapshot, [], self.settings)
        lifted = MinimumAge.relax(
            case, Reason('', Code.INSTANCE_YOUNG), edits.Pair('v', 'a', 'b')
        )
        self.assertEqual(0.0, lifted.settings.min_age_seconds)
