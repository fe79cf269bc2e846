# SPDX-License-Identifier: Apache-2.0
"""Are hosts read without their servers, and strictly where that is wanted?"""

from kronos.clients import connection
from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.common import exceptions
from kronos.snapshots.host_reader import HostReader
from tests.fakes.keystone import PLACEMENT
from tests.unit.clients.nova.test_client import SERVICES
from tests.unit.snapshots import test_collector


class TestHostReader(test_collector.CollectTestCase):
    def reader(self, is_strict: bool = False) -> HostReader:
        cloud = connection.connect(self.keystone.session, 'one')
        return HostReader(
            NovaClient(cloud.compute, max_retries=0),
            PlacementClient(cloud.placement, max_retries=0),
            is_strict=is_strict,
            report=self.reports.append,
        )

    def fill(self) -> None:
        super().fill()
        self.reports: list[str] = []

    def test_hosts(self) -> None:
        reader = self.reader()
        gathered = reader.begin()
        reader.fill_in(gathered)
        self.assertEqual(6, len(gathered.cloud.hosts))
        self.assertEqual(['metal'], [*gathered.cloud.other_hosts])
        headroom = gathered.cloud.hosts['a1'].headroom or {}
        self.assertEqual(8, headroom['VCPU'].capacity)
        self.assertEqual([], gathered.instances)
        self.assertEqual(
            ['7 hosts in 4 aggregates', 'headroom of the hosts'], self.reports
        )

    def test_placement_is_away(self) -> None:
        url = f'{PLACEMENT}/resource_providers'
        self.wire.get(url, status_code=404, json={})
        gathered = self.reader().begin()
        self.reader().fill_in(gathered)
        [warning] = gathered.warnings
        self.assertIn('the headroom of the hosts is not known', warning)
        self.assertRaises(
            exceptions.PlacementClientError,
            self.reader(is_strict=True).fill_in,
            gathered,
        )

    def test_services_are_not_known(self) -> None:
        self.wire.get(SERVICES, status_code=404, json={})
        self.assertIsNone(self.reader().begin().services)
        self.assertRaises(
            exceptions.NovaClientError, self.reader(is_strict=True).begin
        )
