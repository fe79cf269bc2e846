# SPDX-License-Identifier: Apache-2.0
"""A cell that is down: what is in it reads as unavailable (E14)."""

from nova.tests import fixtures as nova_fixtures

from kronos.common import exceptions
from kronos.engine.types import ComputeService
from tests.functional.nova import base


class TestDownCell(base.NovaTestCase):
    NUMBER_OF_CELLS = 2
    hosts = ()

    def setUp(self) -> None:
        super().setUp()
        # As Nova ships: its tests refuse the parts of a server that a
        # down cell leaves.
        self.flags(response_validation='warn', group='api')
        self._start_compute('host1', cell_name='cell1')
        self._start_compute('host2', cell_name='cell2')
        self.here = self.boot('host1')['id']
        self.away = self.boot('host2')['id']
        self.assertEqual(
            {'host1', 'host2'},
            {h for h, s in self.services().items() if s.is_available},
        )
        self.useFixture(
            nova_fixtures.DownCellFixture([self.cell_mappings['cell2']])
        )

    def services(self) -> dict[str, ComputeService]:
        return self.nova.list_compute_services()

    def test_what_is_left(self) -> None:
        services = self.services()
        self.assertTrue(services['host1'].is_available)
        self.assertFalse(services['host2'].is_available)
        self.assertIsNone(services['host2'].state)

        # Nova's API cannot list hypervisors then: nothing is planned.
        error = self.assertRaises(
            exceptions.NovaClientError, self.nova.list_compute_hosts
        )
        self.assertEqual(500, error.kwargs['status'])
        found = [instance.uuid for instance in self.nova.list_instances()]
        self.assertEqual([self.here], found)
        error = self.assertRaises(
            exceptions.NovaClientError, self.nova.get_instance, self.away
        )
        self.assertIn('cell is down', str(error))
        self.assertTrue(error.kwargs['transient'])


class TestTwoCells(base.NovaTestCase):
    NUMBER_OF_CELLS = 2
    hosts = ()

    def test_a_host_in_another_cell_is_refused(self) -> None:
        self._start_compute('host1', cell_name='cell1')
        self._start_compute('host2', cell_name='cell2')
        uuid = self.boot('host1')['id']
        error = self.assertRaises(
            exceptions.NovaClientError, self.nova.live_migrate, uuid, 'host2'
        )
        self.assertEqual(400, error.kwargs['status'])
        self.assertIn('host2 could not be found', str(error))
