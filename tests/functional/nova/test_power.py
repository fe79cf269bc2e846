# SPDX-License-Identifier: Apache-2.0
"""Who stopped a server, and its restart, in a real Nova."""

from nova import context
from nova.compute import power_state

from kronos.clients.nova import server_power
from kronos.clients.nova.instance_actions import (
    CONFIRM,
    MIGRATE,
    START,
    InstanceActions,
)
from tests.functional.nova import test_migrations


class TestPower(test_migrations._Migrations):
    def setUp(self) -> None:
        super().setUp()
        self.power = server_power.ServerPower(self.nova.api)

    def is_(self, uuid: str, status: str) -> None:
        def look() -> bool:
            one = self.nova.get_instance(uuid)
            assert one is not None
            return (one.status, one.task_state) == (status, None)

        self.until(f'it is {status}', look)

    def crash(self, uuid: str, host: str) -> None:
        """Its guest is gone, and nova-compute finds that."""
        driver = self.computes[host].manager.driver
        driver.instances[uuid].state = power_state.SHUTDOWN
        self.computes[host].manager._sync_power_states(
            context.get_admin_context()
        )

    def test_nova_stops_what_has_crashed(self) -> None:
        """It has no user then; whoever comes by the API has one."""
        uuid = self.boot('host1')['id']
        self.assertIsNone(self.nova.last_stop(uuid))
        self.crash(uuid, 'host1')
        self.is_(uuid, 'SHUTOFF')
        stop = self.nova.last_stop(uuid)
        assert stop is not None
        self.assertEqual('', stop.user_id)
        self.power.start(uuid)
        self.is_(uuid, 'ACTIVE')
        request = self.power.stop(uuid)
        self.is_(uuid, 'SHUTOFF')
        stop = self.nova.last_stop(uuid)
        assert stop is not None
        self.assertEqual(request, stop.request_id)
        self.assertNotEqual('', stop.user_id)

    def test_elsewhere(self) -> None:
        """Cold migration, confirmation and start of one that is off."""
        uuid = self.boot('host1')['id']
        self.crash(uuid, 'host1')
        self.is_(uuid, 'SHUTOFF')
        request = self.power.migrate(uuid, 'host2')
        self.is_(uuid, 'VERIFY_RESIZE')
        self.assertTrue(self.nova.is_moved_by(uuid, [request]))
        self.assertFalse(self.nova.is_moved_by(uuid, ['req-1']))
        self.assertTrue(self.power.may_be_confirmed(uuid))
        asked = {MIGRATE: request, CONFIRM: self.power.confirm(uuid)}
        self.is_(uuid, 'SHUTOFF')
        asked[START] = self.power.start(uuid)
        self.is_(uuid, 'ACTIVE')
        # Each is found by the name that Nova gives it.
        actions = InstanceActions(self.nova.api)
        for kind, request in asked.items():
            self.assertEqual([request], actions.requests(uuid, (kind,)))
        one = self.nova.get_instance(uuid)
        assert one is not None
        self.assertEqual('host2', one.host)
