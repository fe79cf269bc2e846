# SPDX-License-Identifier: Apache-2.0
"""Is a move refused that an audit would not plan any more?"""

import pathlib

import fixtures
import requests_mock
from keystoneauth1 import adapter, noauth, session

from kronos.clients import neutron
from kronos.common import exceptions
from kronos.engine.reasons import Code
from kronos.extensions.cells.actions import preflight
from kronos.snapshots.cells import CellSource
from tests.fakes.two_cells.cold_moves import ColdServer
from tests.unit.extensions.cells.actions import base

NOVA = '/nova/v2.1'
NEUTRON = 'http://neutron.example'


class PreflightTestCase(base.CellMoveTestCase):
    def check(self):
        preflight.check(self.settings, self.context)

    def refused(self, fault, *words, error=exceptions.PreFlightError):
        """It must be, by this fault, and nothing was asked for."""
        raised = self.assertRaises(error, self.check)
        self.assertEqual(fault, raised.kwargs['fault'].value, raised)
        for word in words:
            self.assertIn(word, str(raised))
        self.assertEqual([], self.requests)

    def skipped(self, fault, *words):
        self.refused(fault, *words, error=exceptions.StaleTask)

    def add_server(self, number, host):
        uuid = f'00000000-0000-0000-0000-{number:012d}'
        self.cloud.servers[uuid] = ColdServer(uuid, host, f'more{number}')
        return uuid

    def group(self, policy, *others):
        self.cloud.groups = [
            {
                'id': 'g1',
                'name': 'db',
                'policy': policy,
                'rules': {},
                'members': [base.UUID, *others],
            }
        ]

    def row(self, **more):
        """What Nova tells of the server besides."""
        real = self.cloud.server_row
        self.cloud.server_row = lambda one: real(one) | more

    def flavor(self, **more):
        """What Nova tells of its flavor besides."""
        real = self.cloud.server_row

        def row(one):
            found = real(one)
            return found | {'flavor': found['flavor'] | more}

        self.cloud.server_row = row

    def close_source(self):
        for host in ('o1', 'o2'):
            self.cloud.services[host]['status'] = 'disabled'


class TestServer(PreflightTestCase):
    def test_all_is_well(self):
        self.check()
        self.stop_server()
        self.check()

    def test_gone(self):
        self.cloud.delete(base.UUID)
        self.skipped('instance_gone', 'is gone')

    def test_elsewhere(self):
        for host in ('n1', 'o2', 'n2'):
            self.server.host = host
            self.skipped('instance_elsewhere', f'it is on {host} now')

    def test_status(self):
        for status in ('PAUSED', 'SUSPENDED', 'RESCUE', 'ERROR', 'SHELVED'):
            self.server.status = status
            self.refused('instance_not_active', f'its status is {status}')
        self.server.status = 'VERIFY_RESIZE'
        self.refused('instance_not_active', 'confirm or revert its resize')
        self.server.status, self.server.power = 'ACTIVE', 4
        self.refused('instance_not_active', 'its guest does not run')

    def test_busy(self):
        """A task passes by itself: it is told before the rest."""
        self.server.task_state, self.server.locked = 'rebooting', True
        self.refused('instance_busy', 'task state rebooting')

    def test_forbidden(self):
        self.server.locked = True
        self.refused('instance_locked', 'it is locked')
        self.server.locked = False
        self.server.metadata = {'kronos:pin': ''}
        self.refused('instance_pinned', 'metadata key kronos:pin')

    def test_hard_affinity(self):
        """Not even a group of one member."""
        self.group('affinity')
        self.refused('group_rule', 'server group db of the policy affinity')

    def test_what_nova_loses(self):
        for more, what in (
            ({'ephemeral': 1}, 'an ephemeral disk'),
            ({'swap': 512}, 'a swap disk'),
            ({'extra_specs': {'hw:tpm_version': '2.0'}}, 'a vTPM'),
        ):
            real = self.cloud.server_row
            self.flavor(**more)
            self.refused('instance_tied', f'it has {what}')
            self.settings.options.cell_move_lossy = True
            self.check()
            self.settings.options.cell_move_lossy = False
            self.cloud.server_row = real

    def test_shares(self):
        """They are asked for only where they keep it."""
        self.cloud.shared = {base.UUID}
        self.refused('instance_tied', 'it has a Manila share')
        self.cloud.calls.clear()
        self.settings.options.cell_move_lossy = True
        self.check()
        asked = [path for _, path in self.cloud.calls]
        self.assertNotIn(f'{base.SERVER}/shares', asked)

    def test_a_key_pair(self):
        """Nova before 34 does not take it along."""
        self.cloud.newest = '2.103'
        self.refused('instance_tied', 'it has a key pair')
        self.context.sources.keeps_keys = True
        self.check()
        self.context.sources.keeps_keys = False
        self.settings.options.cell_move_lossy = True
        self.check()
        self.settings.options.cell_move_lossy = False
        self.row(key_name=None)
        self.check()

    @requests_mock.Mocker(real_http=True)
    def test_ports(self, wire):
        ports = f'{NEUTRON}/v2.0/ports'
        row = {'id': 'p', 'device_id': base.UUID}
        request = {'resource_request': {'resources': {'x': 1}}}
        wire.get(ports, json={'ports': [row | request]})
        network = adapter.Adapter(
            session.Session(noauth.NoAuth()),
            service_type='network',
            endpoint_override=NEUTRON,
        )
        self.context.sources.tied_ports = lambda servers: neutron.tied(
            network, servers
        )
        self.refused('instance_tied', 'a port of it has a resource request')
        wire.get(ports, json={'ports': [row]})
        self.check()
        # Nova refuses it at once, and nothing is lost.
        wire.get(ports, status_code=403)
        self.check()

    def test_a_closed_policy(self):
        """A resize is refused late, so it is not asked for."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'p.yaml')
        self.context.sources.policy_files = [str(path)]
        path.write_text('"compute:servers:resize:cross_cell": "!"')
        self.refused('cell_closed', 'Nova lets no server leave its cell')
        path.write_text('"compute:servers:resize:cross_cell": "role:admin"')
        self.check()

    def test_special_extra_spec(self):
        self.flavor(extra_specs={'pci_passthrough:alias': 'gpu:1'})
        self.refused('instance_tied', 'extra spec pci_passthrough:alias')
        self.settings.allowed_extra_specs = ['pci_passthrough:*']
        self.check()

    def test_slow_snapshot(self):
        self.flavor(disk=200)
        self.refused('instance_tied', 'would take 34 min at 100 MB/s')
        self.settings.options.long_rpc_timeout_seconds = 2100.0
        self.check()
        self.settings.options.long_rpc_timeout_seconds = 1800.0
        self.row(image='')
        self.check()

    def test_pinned_to_its_zone(self):
        self.server.pinned = 'az-old'
        self.refused('zone_pinned', 'az-old, the host is in az-new')
        self.task.unpins = True
        self.check()
        self.task.unpins, self.server.pinned = False, 'az-new'
        self.check()

    def test_another_flavor(self):
        self.server.flavor = 'large'
        self.refused('flavor_gone', 'its flavor is large now, and was small')


class TestHosts(PreflightTestCase):
    def test_source(self):
        """A disabled one may be left."""
        self.cloud.services['o1']['status'] = 'disabled'
        self.check()
        self.cloud.services['o1']['state'] = 'down'
        self.refused('source_not_up', 'source o1 is down')

    def test_destination(self):
        self.cloud.services['n1']['status'] = 'disabled'
        self.refused('destination_disabled', 'destination n1 is disabled')
        self.cloud.services['n1'] |= {'state': 'down', 'status': 'enabled'}
        self.refused('destination_not_up', 'destination n1 is down')

    def test_cells(self):
        self.cloud.aggregate_metadata['new'] = {'kronos:cell': 'third'}
        self.refused('destination_cell', 'n1 is in third, not in new')
        self.cloud.aggregate_metadata = {}
        self.refused('host_left_scope', 'o1 is in no known cell, not in old')

    def test_cells_by_zone(self):
        self.settings.cell_source = CellSource.AZ
        self.refused('host_left_scope', 'o1 is in az-old, not in old')
        self.task.source_cell, self.task.destination_cell = 'az-old', 'az-new'
        self.check()

    def test_allocations(self):
        self.cloud.leftovers = {base.UUID: {'o2': {'MEMORY_MB': 1024}}}
        self.refused('instance_allocations', 'heal_allocations')

    def test_room(self):
        self.cloud.capacities['n1'] = (16, 512)
        self.refused('destination_full', 'it needs 1024 MEMORY_MB, 512 are')

    def test_anti_affinity(self):
        self.group('anti-affinity', self.add_server(2, 'n2'))
        self.check()
        self.group('anti-affinity', self.add_server(3, 'n1'))
        self.refused('group_rule', '1 of at most 1')

    def test_soft_groups(self):
        """Nova refuses none, and no plan does."""
        for policy in ('soft-anti-affinity', 'soft-affinity'):
            self.group(policy, self.add_server(3, 'n1'))
            self.check()

    def test_exclusion(self):
        self.context.exclusions = lambda hosts: {'n1': 2.0}
        self.refused('destination_excluded', 'exclude_hosts_query gives 2')

    def test_services_that_are_away(self):
        for path, error in (
            (f'{NOVA}/os-services', exceptions.NovaClientError),
            (f'{NOVA}/os-aggregates', exceptions.NovaClientError),
            (f'{base.SERVER}/shares', exceptions.NovaClientError),
            ('/placement/allocations', exceptions.PlacementClientError),
        ):
            self.cloud.down = {('GET', path)}
            self.assertRaises(error, self.check)
        self.cloud.down = set()
        self.check()


class TestResize(PreflightTestCase):
    def setUp(self):
        super().setUp()
        self.resizes()
        self.close_source()

    def test_all_is_well(self):
        """The planned host is a forecast: how it is does not matter."""
        self.cloud.services['n1']['state'] = 'down'
        self.cloud.capacities['n1'] = (0, 0)
        self.check()

    def test_nova_would_resize_it_inside(self):
        self.cloud.services['o2']['status'] = 'enabled'
        self.skipped(
            'host_not_closed', 'Nova resizes it inside the cell', 'o2'
        )

    def test_host_of_another_type(self):
        """It takes no server of this one."""
        self.cloud.services['o2']['status'] = 'enabled'
        self.settings.hypervisor_types = ['ironic']
        self.check()

    def test_no_host_takes_servers(self):
        for host in ('n1', 'n2'):
            self.cloud.services[host]['status'] = 'disabled'
        self.refused('destination_not_up', 'no host of new takes servers')

    def test_flavor_is_gone(self):
        self.task.destination_flavor_id = '9'
        self.refused('flavor_gone', 'there is no flavor large')

    def test_flavor_has_a_smaller_disk(self):
        self.flavor(disk=5)
        self.refused('flavor_gone', 'root disk of flavor large has 1 GiB')

    def test_another_flavor(self):
        self.server.flavor = 'large'
        self.refused('flavor_gone', 'no entry for its flavor large')

    def test_quota(self):
        left = {'limit': 10, 'in_use': 9, 'reserved': 1}
        self.cloud.quota_set = lambda project, q, body: {
            'quota_set': {'cores': left, 'ram': left | {'limit': -1}}
        }
        self.cloud.quota_sets_asked = 0
        real = self.cloud.answer

        def answer(method, path, query, body):
            if 'os-quota-sets' in path:
                return self.cloud.quota_set('project', query, body)
            return real(method, path, query, body)

        self.cloud.answer = answer
        self.refused('quota_exceeded', 'needs 1 more of the quota cores')
        left['limit'] = 11
        self.check()

    def test_pinned_zone(self):
        self.server.pinned = 'az-old'
        self.refused('zone_pinned', 'pinned to availability zone az-old')
        self.server.pinned = 'az-new'
        self.check()


class TestTable(base.base.BaseTestCase):
    def test_each_reason_that_only_a_cell_move_has(self):
        """But for what an audit alone asks for, and knows of actions."""
        codes = {code for code in Code if code.name.startswith('CELL_')}
        of_hosts = {Code.CELL_SOURCE, Code.CELL_CROSSED}
        left = codes - of_hosts - set(preflight.OF_REASON)
        audits = {Code.CELL_STOPPED, Code.CELL_BEGUN, Code.CELL_UNCONFIRMED}
        self.assertEqual(audits, left)
