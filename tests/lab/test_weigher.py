# SPDX-License-Identifier: Apache-2.0
"""A new server lands where the planner would have moved it.

More of it is shown in tests/functional/nova, and in tests/lab/long.
"""

from tests.lab import base, weighing
from tests.lab.weighing import WeigherTestCase

from labkit import topology  # isort: skip

BETA = topology.AGGREGATES['beta']
SERVERS = {
    'cmp1': 3.2,
    'cmp2': 2.4,
    'cmp3': 2.8,
    'cmp4': 4.0,
    'cmp5': 2.0,
    'cmp6': 0.4,
}
"""The cores that the server of a host uses; to Nova all of them are equal,
and cmp4 has the most room."""


class TestStart(WeigherTestCase):
    def test_the_first_server_after_a_restart(self):
        """The scores are there before anybody asks for them.

        Those of an aggregate without exporters are no matter.
        """
        self.boot(
            base.Wanted(f'{host}-0', host, cores, 1024, 'lab.large')
            for host, cores in SERVERS.items()
        )
        loads = self.expected()
        self.cloud.set_exporter(down=list(BETA))
        for host in BETA:
            self.cloud.set_host(host, True)
        self.wait(
            lambda: (
                not any(
                    host in values
                    for values in self.measured().values()
                    for host in BETA
                )
            ),
            'Prometheus to have nothing of the other aggregate',
        )
        combined = {
            host: sum(
                weight * loads[policy][host]
                for policy, weight in weighing.WEIGHTS.items()
            )
            for host in weighing.HOSTS
        }
        self.schedule(with_weigher=True)
        calmest = min(combined, key=combined.__getitem__)
        self.assertEqual([calmest], self.new(['first']), combined)
