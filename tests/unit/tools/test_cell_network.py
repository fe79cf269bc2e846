# SPDX-License-Identifier: Apache-2.0
"""Does the lab's network bind ports as Neutron's binding-extended does?"""

import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit.cells import network  # noqa: E402

ASKED = {
    'device_id': 'server',
    'device_owner': 'compute:zone2',
    'binding:host_id': 'old1',
}


class NetworkTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.file = folder / 'neutron.json'
        self.ports = network.Ports(self.file)
        self.port = self.ports.create(ASKED, 'project')
        self.name = str(self.port['id'])

    def hosts(self) -> dict[str, str]:
        """Whether the port is active, by host that it is bound to."""
        kept = network.Ports(self.file)
        return {one['host']: one['status'] for one in kept.bindings(self.name)}


class TestPorts(NetworkTestCase):
    def test_another_host(self) -> None:
        """It is bound there, then active there, then there alone."""
        self.assertEqual('old1', self.port['binding:host_id'])
        self.ports.bind(self.name, {'host': 'cmp1'})
        self.assertEqual({'old1': 'ACTIVE', 'cmp1': 'INACTIVE'}, self.hosts())
        self.ports.activate(self.name, 'cmp1')
        self.assertEqual({'old1': 'INACTIVE', 'cmp1': 'ACTIVE'}, self.hosts())
        now = self.ports.shown(self.name)
        self.assertEqual('cmp1', now['binding:host_id'])
        for key in ('fixed_ips', 'mac_address', 'device_id'):
            self.assertEqual(self.port[key], now[key])
        self.ports.unbind(self.name, 'old1')
        self.assertEqual({'cmp1': 'ACTIVE'}, self.hosts())

    def test_what_is_so_already(self) -> None:
        same = {'host': 'old1'}
        self.assertRaises(network.Conflict, self.ports.bind, self.name, same)
        self.assertRaises(
            network.Conflict, self.ports.activate, self.name, 'old1'
        )
        self.assertRaises(
            network.NotThere, self.ports.activate, self.name, 'cmp1'
        )

    def test_a_server_leaves_its_port(self) -> None:
        self.ports.update(
            self.name, {'device_id': '', 'binding:host_id': None}
        )
        self.assertEqual({}, self.hosts())
        self.assertEqual('DOWN', self.ports.shown(self.name)['status'])

    def test_addresses_differ(self) -> None:
        other = self.ports.create({}, 'project')
        for key in ('fixed_ips', 'mac_address'):
            self.assertNotEqual(self.port[key], other[key])

    def test_kept_while_the_lab_is_down(self) -> None:
        self.ports.bind(self.name, {'host': 'cmp1'})
        again = network.Ports(self.file)
        self.assertEqual(self.ports.listed(), again.listed())
        self.assertEqual(
            self.ports.bindings(self.name), again.bindings(self.name)
        )


class TestRequests(NetworkTestCase):
    def setUp(self) -> None:
        super().setUp()

        # In a process of its own: whatever else is tested in this one may
        # have had eventlet put its own modules where http.server is.
        command = [sys.executable, '-m', 'labkit.cells.neutron']
        server = subprocess.Popen(
            [*command, '0', self.file],
            cwd=places.TOP / 'tools',
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        port = server.stdout.readline().strip()
        self.url = f'http://127.0.0.1:{port}/v2.0'

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def refusal(self, method: str, path: str, body: Any = None) -> int:
        error = self.assertRaises(
            urllib.error.HTTPError, self.ask, method, path, body
        )
        error.close()
        return int(error.code)

    def test_ports_of_a_server(self) -> None:
        self.ports.create({'device_id': 'another'}, 'project')
        found = self.ask('GET', '/ports?device_id=server&fields=id')['ports']
        self.assertEqual([self.name], [one['id'] for one in found])

    def test_the_extension_is_there(self) -> None:
        found = self.ask('GET', '/extensions')['extensions']
        self.assertIn('binding-extended', {one['alias'] for one in found})

    def test_bindings(self) -> None:
        url = f'/ports/{self.name}/bindings'
        self.ask('POST', url, {'binding': {'host': 'cmp1'}})
        told = self.ask('PUT', f'{url}/cmp1/activate')['binding']
        self.assertEqual('ACTIVE', told['status'])
        self.assertIsNone(self.ask('DELETE', f'{url}/old1'))
        self.assertEqual({'cmp1': 'ACTIVE'}, self.hosts())

    def test_refusals(self) -> None:
        url = f'/ports/{self.name}/bindings'
        same = {'binding': {'host': 'old1'}}
        self.assertEqual(409, self.refusal('POST', url, same))
        self.assertEqual(404, self.refusal('GET', '/ports/none'))
        self.assertEqual(501, self.refusal('POST', '/routers', {}))

    def test_the_rest_is_empty(self) -> None:
        self.assertEqual(
            {'floatingips': []}, self.ask('GET', '/floatingips?port_id=1')
        )
