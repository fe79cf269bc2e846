# SPDX-License-Identifier: Apache-2.0
"""Does the answer about a host name what it lacks, and what would help?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import host_slots
from kronos.engine.types import Headroom, Instance
from tests.builders import policies
from tests.unit.engine.slots import test_counting
from tests.unit.engine.slots.test_counting import F4


class TestDocument(base.BaseTestCase):
    """A host of 100 CPUs and 100 MiB."""

    def document(
        self, *servers: Instance, free: tuple[int, int] = (2, 16)
    ) -> dict[str, Any]:
        scope = test_counting.snapshot(a=free)
        scope.instances = {server.uuid: server for server in servers}
        return host_slots.document(scope, 'a', F4, Settings())

    def server(self, uuid: str, vcpus: int, **fields: Any) -> Instance:
        return Instance(uuid, 'a', vcpus=vcpus, memory_mb=1, **fields)

    def test_servers_that_may_move(self) -> None:
        """4 CPUs are required, and 2 are free."""
        answer = self.document(self.server('u', 1), self.server('v', 2))
        self.assertEqual((0, ''), (answer['slots'], answer['closed']))
        [row] = answer['lacking']
        self.assertEqual(
            {
                'resource': 'VCPU',
                'required': 4,
                'free': 2,
                'missing': 2,
                'capacity': 100,
            },
            row,
        )
        self.assertEqual(
            ['v', 'u'], [row['instance'] for row in answer['servers']]
        )
        self.assertEqual({'VCPU': 2}, answer['servers'][0]['amounts'])
        self.assertIn('at least 2 VCPU to other hosts', answer['remedy'])

    def test_servers_that_stay(self) -> None:
        answer = self.document(
            self.server('u', 1), self.server('v', 2, locked=True)
        )
        [reason] = answer['servers'][0]['reasons']
        self.assertEqual('instance_locked', reason['code'])
        self.assertIn('Lift what keeps the others', answer['remedy'])

    def test_what_no_server_uses(self) -> None:
        self.assertIn('other allocations', self.document()['remedy'])

    def test_one_more_than_fit(self) -> None:
        answer = self.document(self.server('u', 9), free=(9, 90))
        self.assertEqual(2, answer['slots'])
        self.assertEqual(3, answer['lacking'][0]['missing'])

    def test_too_small(self) -> None:
        scope = test_counting.snapshot(a=(2, 16))
        scope.hosts['a'].headroom = {'MEMORY_MB': Headroom(100, 0)}
        answer = host_slots.document(scope, 'a', F4, Settings())
        self.assertIn('too little VCPU', answer['remedy'])

    def test_closed(self) -> None:
        scope = test_counting.snapshot(a=(8, 16))
        assert scope.services is not None
        scope.services['a'] = policies.up('a', status='disabled')
        answer = host_slots.document(scope, 'a', F4, Settings())
        self.assertEqual(0, answer['slots'])
        self.assertIn('disabled', answer['closed'])
        self.assertIn('nable', answer['remedy'])
