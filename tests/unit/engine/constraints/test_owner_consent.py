# SPDX-License-Identifier: Apache-2.0
"""Does an instance stay whose owner refuses the phase?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.owner_consent import OwnerConsent
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationPhase, PlanningInput
from tests.builders import constraints, scopes

BALANCE = {MigrationPhase.RELIEVE, MigrationPhase.SPREAD, MigrationPhase.PACK}


class TestOwnerConsent(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.settings = Settings()
        self.snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm(uuid, 'a', []) for uuid in 'uvw'],
        )
        server = self.snapshot.instances['v']
        server.metadata = {'kronos:consent': 'drain', 'tier': 'web'}
        server.tags = ['kronos:consent:window', 'kronos:pin']

    def built(self, phase: MigrationPhase) -> OwnerConsent | None:
        return OwnerConsent.build(
            constraints.given(self.snapshot, self.settings, phase)
        )

    def test_pairs(self) -> None:
        constraint = self.built(MigrationPhase.SPREAD)
        assert constraint is not None
        expected = [[True, True], [False, False], [True, True]]
        self.assertEqual(expected, constraints.pairs(constraint, (3, 2)))
        self.assertFalse(constraint.binds_rebuilds)

    def test_phases(self) -> None:
        for phase in MigrationPhase:
            is_bound = self.built(phase) is not None
            self.assertIs(phase in BALANCE, is_bound, phase)

    def test_lifted(self) -> None:
        case = PlanningInput(self.snapshot, [], self.settings)
        reason = Reason('', Code.INSTANCE_CONSENT)
        lifted = OwnerConsent.relax(case, reason, edits.Pair('v', 'a', 'b'))
        server = lifted.snapshot.instances['v']
        self.assertEqual({'tier': 'web'}, server.metadata)
        self.assertEqual(['kronos:pin'], server.tags)
        self.assertIn('kronos:consent', self.snapshot.instances['v'].metadata)
