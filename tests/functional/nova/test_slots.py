# SPDX-License-Identifier: Apache-2.0
"""Does a real Nova create as many servers as slots are counted?"""

from typing import Any

from kronos.osc import slot_rows
from tests.functional.nova import base


class TestSlots(base.NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.big = self._create_flavor(name='big', vcpu=1, memory_mb=2500)

    def slots(self) -> Any:
        """By host, as the client counts them."""
        question = slot_rows.Question(['big'], [], hypervisor_types=['fake'])
        [counted] = slot_rows.read(
            self.nova, self.placement_client, question
        ).slots
        return counted

    def test_nova_creates_as_many(self) -> None:
        """A disabled host takes none; room for part of one is no slot."""
        self.set_service('host3', status='disabled')
        self.boot('host1', flavor_id=self.flavor())
        before = self.slots()
        self.assertEqual(['host1', 'host2'], [*before.hosts])
        self.assertEqual(['host3'], [*before.closed])
        self.assertGreater(before.total, 1)
        for _ in range(before.total):
            self.boot(flavor_id=self.big)
        self.assertEqual({'host1': 0, 'host2': 0}, self.slots().hosts)
        server = self._create_server(
            flavor_id=self.big, networks='none', expected_state='ERROR'
        )
        self.assertIn('No valid host', server['fault']['message'])
