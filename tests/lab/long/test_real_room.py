# SPDX-License-Identifier: Apache-2.0
"""Real guests move so that larger ones can be created."""

import uuid
from typing import ClassVar

from tests.lab import real, rooms

from labkit.real import topology  # isort: skip

NUMBER = 2
LARGE, LARGE_MB = 'real.256', 256
LEFT_MB = LARGE_MB
"""Of each host, beside what another service has reserved in Placement: a small
guest and as much again, and so no room for a large one."""
PLACEMENT = '1.36'


class TestReal(real.RealTestCase, rooms.RoomTestCase):
    options: ClassVar = {
        **real.RealTestCase.options,
        **rooms.RoomTestCase.options,
    }
    number: ClassVar = len(topology.NAMES)
    aggregate: ClassVar = topology.AGGREGATE
    scope_hosts: ClassVar = topology.NAMES
    large: ClassVar = LARGE
    image: ClassVar = 'real-guest'

    def test_guests_answer_throughout(self) -> None:
        """Two small guests move, and two larger ones start."""
        self.add_flavor(LARGE, 1, LARGE_MB)
        self.reserve()
        names = [f'{host}-small' for host in self.scope_hosts]
        self.boot_guests({name: name.partition('-')[0] for name in names})
        self.wait_for_samples(self.cloud.servers().values())
        self.assert_refused()
        plan, actions = self.make_room(NUMBER)
        self.assertEqual(NUMBER, len(actions))
        self.carried_out(plan)
        self.assert_alive(*names)
        self.assert_taken(NUMBER)
        self.assert_alive(*names)

    def reserve(self) -> None:
        """Leave so little of the hosts, which Nova finds as large as this one.

        Nova warns of such allocations, and leaves them alone.
        """
        placement = self.cloud.connection.placement
        for provider, host in self.cloud.providers().items():
            if host not in self.scope_hosts:
                continue
            url = f'/resource_providers/{provider}/inventories'
            row = placement.get(url, microversion=PLACEMENT).json()
            memory = row['inventories']['MEMORY_MB']
            whole = memory['total'] - memory['reserved']
            rest = int(whole * memory['allocation_ratio']) - LEFT_MB
            while rest > 0:
                part = min(rest, memory['max_unit'])
                self.allocate(provider, part)
                rest -= part

    def allocate(self, provider: str, memory_mb: int) -> None:
        placement = self.cloud.connection.placement
        resources = {'resources': {'MEMORY_MB': memory_mb}}
        url = f'/allocations/{uuid.uuid4()}'
        answer = placement.put(
            url,
            json={
                'allocations': {provider: resources},
                'consumer_generation': None,
                'project_id': 'reserved',
                'user_id': 'reserved',
            },
            microversion=PLACEMENT,
        )
        self.assertTrue(answer.ok, answer.text)
        self.addCleanup(placement.delete, url, microversion=PLACEMENT)
