# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of a real Nova that end well, or are taken back."""

from unittest import mock

from kronos.extensions.cells.options import CellOptions
from tests.functional.cells import cell_runs

# isort: split
from nova.api.openstack.compute import versions
from nova.policies import servers as policies

KEY = (
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDx8nkQv/zgGgB4rMYmIf+6A4l6Rr+o/6lH'
    'BQdW5aYd44bd8JttDCE/F/pNRr0lRE+PiqSPO8nDPHw0010JeMH9gYgnnFlyY3/OcJ02RhIP'
    'yyxYpv9FhY+2YiUkpwFOcLImyrxEsYXpD/0d3ac30bNH6Sw9JD9UZHYcpSxsIbECHw== test'
)
"""Of Nova's own tests."""


class TestMoves(cell_runs.CellRunTestCase):
    """Half of what can be combined; the other half takes the long run."""

    def test_an_image_backed_one_that_runs(self) -> None:
        uuid = self.made()
        self.is_there(uuid, self.moved(uuid))

    def test_a_volume_backed_one_that_is_stopped(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        self.is_there(uuid, self.moved(uuid))

    def test_back_with_an_image_backed_one_that_is_stopped(self) -> None:
        uuid = self.made(is_stopped=True)
        with self.spawns_otherwise('new1'):
            found = self.moved(uuid)
        self.assertIn('its power state is running', str(found.error))
        self.is_back(uuid, found, 'cell_check_failed')

    def test_back_with_a_volume_backed_one_that_runs(self) -> None:
        uuid = self.made(is_volume_backed=True)
        self.is_healthy = False
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        self.assertIn('cell_verify_query: it gives no', str(found.error))
        self.is_back(uuid, found, 'cell_check_failed')

    def test_the_policy_is_closed(self) -> None:
        """Two servers are refused, and the third is not asked for."""
        uuid = self.made()
        rule = {policies.CROSS_CELL_RESIZE: '!'}
        self.policy.set_rules(rule, overwrite=False)
        found = self.run_(self.told(uuid))
        self.assertIn(policies.CROSS_CELL_RESIZE, str(found.error))
        self.is_back(uuid, found, 'cell_refused')
        faults = []
        for action in cell_runs.NEXT_ACTIONS:
            self.plan = self.standing()
            another = self.server()
            following = self.run_(self.told(another, action_uuid=action))
            self.assertEqual(0, self.requests(another))
            faults.append(following.fault)
        self.assertEqual(['cell_closed', 'plan_refused'], faults)
        self.assertEqual(0, self.requests(uuid))

    def test_a_port_with_a_resource_request(self) -> None:
        """One that came after the audit; Nova is not asked."""
        uuid = self.made()
        self.request_resources(self.neutron.port_1['id'])
        found = self.run_(self.told(uuid))
        self.is_back(uuid, found, 'instance_tied')
        self.assertIn('a port of it has a resource request', str(found.error))
        self.assertEqual({}, self.marks[cell_runs.ACTION])

    def test_it_is_deleted(self) -> None:
        uuid = self.made(is_volume_backed=True)
        self.when('VERIFY_RESIZE', lambda: self.admin_api.delete_server(uuid))
        found = self.moved(
            uuid,
            is_deleted=True,
            verify_query=cell_runs.QUERY,
            verify_seconds=60,
        )
        self.assertEqual('instance_gone', found.fault, found.error)
        self.assertEqual('skipped', found.document['outcome'])
        self.is_gone(uuid, found)


class TestNova33(cell_runs.CellRunTestCase):
    """By its microversion; the rest is that of the installed release."""

    def setUp(self) -> None:
        patched = mock.patch.dict(
            versions.VERSIONS['v2.1'], {'version': '2.103'}
        )
        patched.start()
        self.addCleanup(patched.stop)
        super().setUp()

    def test_a_key_pair_that_nova_loses(self) -> None:
        """A Nova before 34 shows the name of a key that it did not copy."""
        self.admin_api.post_keypair(
            {'keypair': {'name': 'mine', 'type': 'ssh', 'public_key': KEY}}
        )
        uuid = self.made(key_name='mine')
        found = self.run_(self.told(uuid))
        self.is_back(uuid, found, 'instance_tied')
        self.assertIn('it has a key pair', str(found.error))
        found = self.moved(uuid, options=CellOptions(True))
        self.is_there(uuid, found)
        checks = [one['name'] for one in found.document['checks']]
        self.assertIn('metadata', checks)
        self.assertNotIn('key', checks)
