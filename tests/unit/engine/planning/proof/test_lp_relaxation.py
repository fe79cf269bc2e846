# SPDX-License-Identifier: Apache-2.0
"""Is all in it that a plan may do, and no more than need be?"""

from oslotest import base

from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from kronos.engine.settings import Settings
from kronos.engine.types import Headroom, ServerGroup
from tests.builders import scopes
from tests.unit.engine.oracles import reachable

HOSTS = {'a': [0.9], 'b': [0.1], 'c': [0.5]}


class TestRelaxedScope(base.BaseTestCase):
    def _of(self, largest: int = 100) -> LpRelaxation:
        simulation = reachable.begun(
            self.snapshot, [self.cpu], Settings(max_migrations=1)
        )
        assert simulation is not None
        return LpRelaxation.of(simulation, largest)

    def setUp(self) -> None:
        super().setUp()
        self.cpu = scopes.policy('cpu')
        vms = [
            scopes.vm('one', 'a', [0.4], memory_mb=2048),
            scopes.vm('two', 'b', [0.1], memory_mb=1024),
        ]
        self.snapshot = scopes.scope([self.cpu], HOSTS, vms)

    def test_room_that_may_be_made(self) -> None:
        """Of 1 GiB on b there are 2 once its instance has left."""
        host = self.snapshot.hosts['b']
        host.headroom = {'MEMORY_MB': Headroom(2048, 1024)}
        self.assertTrue(self._of().entrances[1][0])
        host.headroom = {'MEMORY_MB': Headroom(1500, 1024)}
        self.assertFalse(self._of().entrances[1][0])

    def test_a_group_that_is_together(self) -> None:
        """Neither can be the first on another host."""
        self.snapshot.groups = [
            ServerGroup('g', 'affinity', ['one', 'two'], name='g')
        ]
        entrances = self._of().entrances
        self.assertEqual([False, True], entrances[0].tolist())
        self.assertEqual([False, False], entrances[2].tolist())

    def test_hosts_that_may_be_lowest(self) -> None:
        """Of a large scope; with one move two."""
        self.assertEqual({1, 2}, set(self._of(largest=0).entrances))
        self.assertEqual({0, 1, 2}, set(self._of().entrances))

    def test_mean(self) -> None:
        self.assertAlmostEqual(0.5, float(self._of().means()[0][0]))
