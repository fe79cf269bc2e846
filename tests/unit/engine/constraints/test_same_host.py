# SPDX-License-Identifier: Apache-2.0
"""Does a move end elsewhere than it starts?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.same_host import SameHost
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from tests.builders import constraints, scopes


class TestSameHost(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm('u', 'a', []), scopes.vm('v', 'b', [])],
        )
        given = constraints.given(self.snapshot)
        self.now = Placement(given.index, given.host_of)
        self.constraint = SameHost(self.now.host_of, 2)

    def test_it_follows_the_placement(self) -> None:
        for expected in ([[False, True], [True, False]], [[True, False]] * 2):
            self.assertEqual(
                expected, constraints.pairs(self.constraint, (2, 2))
            )
            self.now.move(0, 1)

    def test_nothing_lifts_it(self) -> None:
        reason = self.constraint.why_not(0, 0)
        assert reason is not None
        self.assertIs(Code.ALREADY_THERE, reason.code)
        self.assertFalse(SameHost.can_relax)
        self.assertRaises(
            KeyError,
            constraints.relaxed,
            SameHost,
            self.snapshot,
            Settings(),
            reason,
            edits.Pair('u', 'a', 'a'),
        )
