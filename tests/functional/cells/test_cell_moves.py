# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of a real Nova that end well, or are taken back."""

from nova.policies import servers as policies

from tests.functional.cells import cell_runs


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
        """One request, and none for the next move of the plan."""
        uuid = self.made()
        rule = {policies.CROSS_CELL_RESIZE: '!'}
        self.policy.set_rules(rule, overwrite=False)
        found = self.run_(self.told(uuid))
        self.assertIn(policies.CROSS_CELL_RESIZE, str(found.error))
        self.is_back(uuid, found, 'cell_closed')
        self.plan = self.standing()
        following = self.run_(
            self.told(uuid, action_uuid=cell_runs.NEXT_ACTION)
        )
        self.is_back(uuid, following, 'plan_refused')
        self.assertEqual(0, self.requests(uuid))

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
