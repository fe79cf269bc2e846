# SPDX-License-Identifier: Apache-2.0
"""A cell that is down: what is in it reads as unavailable."""

from typing import Any

from nova.tests import fixtures as nova_fixtures

from kronos.common import exceptions
from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Host,
    Reading,
    Sample,
    Snapshot,
    StopReason,
)
from kronos.policies.models import LabelType, Mode, Policy
from kronos.snapshots import collector as collect
from tests.functional.nova import base

POLICY = Policy(
    name='cpu',
    mode=Mode.SPREAD,
    weight=1.0,
    imbalance_query='hosts',
    vm_profile_query='instances',
    vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
)


class Metrics:
    """Answers both queries of the policy."""

    def __init__(
        self, hosts: dict[str, float], instances: dict[str, float]
    ) -> None:
        self._values = {'hosts': hosts, 'instances': instances}

    def instant_query(self, query: str, label_key: str) -> Reading:
        samples = [
            Sample(label, value, 0.0)
            for label, value in self._values[query].items()
        ]
        return Reading(query, samples=samples)


def up_hosts(snapshots: list[Snapshot]) -> list[tuple[str, Host]]:
    return [*snapshots[0].hosts.items()]


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

    def test_scopes_of_the_other_cells_are_planned(self) -> None:
        """Hosts from os-services and Placement, since Nova lists none."""
        for number in range(3):
            self._start_compute(f'more{number}', cell_name='cell1')
        for name, hosts in (
            ('up', ['host1', 'more0', 'more1', 'more2']),
            ('down', ['host2']),
        ):
            aggregate = self.admin_api.post_aggregate(
                {'aggregate': {'name': name}}
            )
            for host in hosts:
                self.admin_api.add_host_to_aggregate(aggregate['id'], host)
        loads = {'host1': 0.9, 'host2': 0.1, 'more0': 0.1, 'more1': 0.5}
        prometheus: Any = Metrics(
            {**loads, 'more2': 0.5},
            {uuid: 0.3 for uuid in (self.here, self.away)},
        )
        collector = collect.Collector(
            self.nova, self.placement_client, prometheus
        )
        settings = Settings(min_host_coverage=0.5)
        snapshots = collector.collect(
            collect.ScopeRequest(['up', 'down']), [POLICY], settings
        ).snapshots
        up, down = propose([*snapshots], [POLICY], settings).scopes
        self.assertEqual(
            [(self.here, 'host1', 'more0')],
            [(s.instance, s.source, s.destination) for s in up.steps],
        )
        self.assertEqual({}, up.unavailable_hosts)
        self.assertIn('a cell is down', ' '.join(up.warnings))
        self.assertIn('has no data about host2', ' '.join(up.warnings))
        self.assertEqual(StopReason.TOO_FEW_HOSTS, down.stopped)
        self.assertIn('its cell is down', down.unavailable_hosts['host2'])
        rooms = {name: host.headroom for name, host in up_hosts(snapshots)}
        self.assertNotIn(None, rooms.values())

        # What an action asks before it moves anything.
        source = self.nova.get_compute_host('host1')
        assert source is not None
        self.assertEqual(
            {source.node}, self.placement_client.nodes_of(self.here)
        )
        empty = self.nova.get_compute_host('more0')
        assert empty is not None
        self.assertEqual('', empty.node)
        self.assertEqual('more0', self.placement_client.node_of('more0'))
        self.assertIsNone(self.nova.get_compute_host('host2'))
        self.assertEqual([], self.nova.list_unfinished_migrations())


class TestTwoCells(base.NovaTestCase):
    NUMBER_OF_CELLS = 2
    hosts = ()

    def test_a_host_in_another_cell_is_refused(self) -> None:
        self._start_compute('host1', cell_name='cell1')
        self._start_compute('host2', cell_name='cell2')
        uuid = self.boot('host1')['id']
        error = self.assertRaises(
            exceptions.NovaClientError,
            self.live_migration.live_migrate,
            uuid,
            'host2',
        )
        self.assertEqual(400, error.kwargs['status'])
        self.assertIn('host2 could not be found', str(error))
