# SPDX-License-Identifier: Apache-2.0
"""Does the cluster of a forecast have the room that Placement counts?"""

import numpy as np
from oslotest import base

from kronos.extensions.maintenance.planning.cluster import Cluster
from tests.builders import maintained


class TestCluster(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = maintained.cloud(3, 0.5, 1, spares=1)
        self.cluster = Cluster(self.cloud, [])
        self.spare = np.array([3])

    def test_free(self) -> None:
        total = self.cluster.capacity[:, 0]
        for host in range(3):
            need = self.cluster.need[:, self.cluster.on[host]].sum(axis=1)
            free = self.cluster.free[:, host]
            self.assertEqual(total.tolist(), (need + free).tolist())

    def test_a_whole_host_into_a_hole(self) -> None:
        servers = list(self.cluster.on[0])
        self.assertTrue(self.cluster.may_fit(servers, self.spare))
        places = self.cluster.places(servers, self.spare)
        self.assertEqual([3] * len(servers), places)
        self.assertTrue(self.cluster.takes_all(servers, self.spare))
        before = self.cluster.free[:, 0].copy()
        for server in servers:
            self.cluster.move(server, 0, 3)
        self.assertEqual([], self.cluster.on[0])
        self.assertTrue((self.cluster.free[:, 3] == before).all())

    def test_too_many(self) -> None:
        servers = [s for host in range(3) for s in self.cluster.on[host]]
        self.assertFalse(self.cluster.may_fit(servers, self.spare))
        places = self.cluster.places(servers, self.spare)
        self.assertFalse(self.cluster.takes_all(servers, self.spare))
        fitting = len(servers) - places.count(None)
        most = self.cluster.most_that_fit(servers, self.spare)
        self.assertTrue(fitting <= most < len(servers))

    def test_nowhere(self) -> None:
        nowhere = np.array([], dtype=np.intp)
        self.assertEqual([None], self.cluster.places([0], nowhere))
        self.assertEqual(0, self.cluster.most_that_fit([0], nowhere))

    def test_a_host_that_placement_does_not_know(self) -> None:
        """It takes any server, before a host with room for it."""
        self.cloud.hosts['host-001'].headroom = None
        cluster = Cluster(self.cloud, [])
        servers, targets = list(cluster.on[0]), np.array([1, 3])
        self.assertEqual([1] * len(servers), cluster.places(servers, targets))

    def test_those_that_stay(self) -> None:
        uuid = self.cluster.servers[0].uuid
        cluster = Cluster(self.cloud, [uuid])
        self.assertNotIn(uuid, [server.uuid for server in cluster.servers])
