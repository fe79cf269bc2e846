# SPDX-License-Identifier: Apache-2.0
"""Who stopped a server, and its restart, in a real Nova."""

from nova import context
from nova.compute import power_state

from kronos.actions import server_restart
from kronos.actions.migration.context import Patience
from kronos.actions.migration.task import MigrationTask
from kronos.clients.nova import server_power
from kronos.clients.nova.instance_actions import (
    CONFIRM,
    MIGRATE,
    START,
    InstanceActions,
)
from kronos.engine.types import UNASSIGNED
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
        self.power.confirm(uuid)
        self.is_(uuid, 'SHUTOFF')
        self.power.start(uuid)
        self.is_(uuid, 'ACTIVE')
        one = self.nova.get_instance(uuid)
        assert one is not None
        self.assertEqual('host2', one.host)

    def restart(self, uuid: str, host: str) -> server_restart.ServerRestart:
        return server_restart.ServerRestart(
            server_restart.RestartSettings(
                MigrationTask(uuid, 'host1', host, 'evacuate', UNASSIGNED),
                failed_at=1.0,
                poll_interval=0.2,
                require_headroom=False,
            ),
            server_restart.Asked(
                nova=self.nova,
                power=self.power,
                placement=self.placement_client,
                failures=lambda: {uuid: 2.0},
                acts=self.ids.append,
                moves=self.ids.append,
            ),
            Patience(is_cancelled=lambda: False, tell=lambda text: None),
        )

    def test_a_whole_restart(self) -> None:
        """Each step is found by the name that Nova gives it."""
        self.ids: list[str] = []
        uuid = self.boot('host1')['id']
        self.crash(uuid, 'host1')
        self.is_(uuid, 'SHUTOFF')
        self.restart(uuid, 'host2').carry_out()
        one = self.nova.get_instance(uuid)
        assert one is not None
        self.assertEqual(('ACTIVE', 'host2'), (one.status, one.host))
        self.assertEqual(['', '?'], self.ids[:2])
        actions = InstanceActions(self.nova.api)
        self.assertEqual(self.ids[2:], actions.requests(uuid, (MIGRATE,)))
        for kind in (CONFIRM, START):
            self.assertEqual(1, len(actions.requests(uuid, (kind,))), kind)
