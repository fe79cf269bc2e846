# SPDX-License-Identifier: Apache-2.0
"""Does the health check of database nodes answer as the proxy expects?"""

import pathlib
import sys
import threading

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from labkit.ha import clustercheck, proxy  # noqa: E402

SYNCED = {
    'wsrep_local_state': '4',
    'wsrep_cluster_status': 'Primary',
    'wsrep_cluster_size': '3',
}


class TestHealthCheck(base.BaseTestCase):
    def test_the_health_check(self) -> None:
        states = [SYNCED, {**SYNCED, 'wsrep_local_state': '2'}, {}]
        server = clustercheck.serve(0, lambda: states.pop(0))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        ports = {'db1_check': server.server_port}
        looks = [proxy.look('db1', ports) for _ in range(3)]
        self.assertEqual(['200 4 Primary 3', '503 2 Primary 3', '503'], looks)
        self.assertEqual([], states)
