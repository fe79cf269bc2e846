# SPDX-License-Identifier: Apache-2.0
"""Where does a forecast find the hosts of a run?"""

from oslotest import base

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.planning import starts
from kronos.extensions.maintenance.planning.cluster import Cluster
from tests.builders import maintained


class TestStart(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = maintained.cloud(5, 0.3, 1, 1)
        self.names = sorted(self.cloud.hosts)
        self.asked = Maintenance('r', tuple(self.names[:5]), work_time=600)

    def close(self, host: str, step: Step, seconds: float) -> None:
        reason = ClosingReason(
            'r', step, self.cloud.taken_at - seconds, maintained.AUDIT
        )
        self.disable(host, str(reason))

    def disable(self, host: str, reason: str) -> None:
        assert self.cloud.services is not None
        self.cloud.services[host] = ComputeService(
            host, state='up', status='disabled', disabled_reason=reason
        )

    def empty(self, host: str) -> None:
        for uuid, server in [*self.cloud.instances.items()]:
            if server.host == host:
                del self.cloud.instances[uuid]

    def start(self) -> starts.Start:
        states = host_states.of(self.cloud, self.asked)
        cluster = Cluster(self.cloud, ())
        return starts.of(self.cloud, self.asked, states, cluster)

    def test_nothing_has_begun(self) -> None:
        start = self.start()
        self.assertEqual([0, 1, 2, 3, 4], sorted(start.to_do))
        self.assertEqual({5}, start.clean)
        self.assertEqual(
            ([], {}, 0), (start.emptied, start.returns, start.lost)
        )

    def test_halfway(self) -> None:
        self.close(self.names[0], Step.EMPTYING, 100)
        self.close(self.names[1], Step.HANDED_OVER, 200)
        self.empty(self.names[1])
        self.disable(self.names[2], 'disk is broken')
        self.cloud.beside[maintenance.NAME] = RunView(
            done=frozenset({self.names[3]})
        )
        start = self.start()
        self.assertEqual(1, start.lost)
        self.cloud.beside[maintenance.NAME].missing.append('gone')
        start = self.start()
        self.assertEqual([0], start.emptied)
        self.assertEqual({1: 400.0}, start.returns)
        self.assertEqual([4], start.to_do)
        self.assertEqual({3, 5}, start.clean)
        self.assertEqual(2, start.lost)
        self.assertEqual(3, start.zones.total())

    def test_in_hand(self) -> None:
        """A host that a started plan is about to close."""
        view = RunView(in_hand=[self.names[2]])
        self.cloud.beside[maintenance.NAME] = view
        start = self.start()
        self.assertEqual([2], start.emptied)
        self.assertEqual([0, 1, 3, 4], sorted(start.to_do))

    def test_work_that_takes_longer(self) -> None:
        self.close(self.names[1], Step.HANDED_OVER, 700)
        self.empty(self.names[1])
        self.assertEqual({1: 0.0}, self.start().returns)

    def test_servers_on_hosts_that_are_handed_over(self) -> None:
        """They leave again, unless the host is about to be opened."""
        back = self.names[2]
        for name in self.names[:3]:
            self.close(name, Step.HANDED_OVER, 200)
        self.empty(self.names[1])
        done = frozenset({back})
        view = RunView(done=done, ready=done)
        self.cloud.beside[maintenance.NAME] = view
        start = self.start()
        self.assertEqual([0], start.emptied)
        self.assertEqual({1: 400.0, 2: 0.0}, start.returns)
        self.assertEqual(0, start.lost)
