# SPDX-License-Identifier: Apache-2.0
"""All of a server that a move has to keep, at the wire."""

import json
from typing import Any

from kronos.clients.nova.server_details import (
    Details,
    FlavorDetails,
    Port,
    ServerDetails,
    Volume,
)
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import NovaTestCase, server

SERVER = f'{NOVA}/servers/vm'
PORTS = f'{SERVER}/os-interface'
VOLUMES = f'{SERVER}/os-volume_attachments'


def whole(**more: Any) -> dict[str, Any]:
    return server(
        'vm',
        **{
            'addresses': {
                'net': [
                    {
                        'addr': '10.0.0.4',
                        'version': 4,
                        'OS-EXT-IPS:type': 'fixed',
                    },
                    {'addr': '192.0.2.9', 'OS-EXT-IPS:type': 'floating'},
                ]
            },
            'security_groups': [{'name': 'web'}, {'name': 'a'}, {'name': 'a'}],
            'key_name': 'k',
            'config_drive': 'True',
            'description': 'd',
            'metadata': {'secret': 's3cret', 'twin': 's3cret'},
            'tags': ['z', 'b'],
            'user_data': 'czNjcmV0',
            'OS-EXT-AZ:availability_zone': 'az1',
            'OS-EXT-SRV-ATTR:hypervisor_hostname': 'cmp1.example.org',
            'OS-EXT-STS:vm_state': 'active',
            'OS-SRV-USG:launched_at': '2026-01-01T00:00:00.000000',
            'pinned_availability_zone': 'az1',
            **more,
        },
    )


class TestGet(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.details = ServerDetails(self.nova.api)
        self.wire.get(
            PORTS,
            json={
                'interfaceAttachments': [
                    {
                        'port_id': 'p2',
                        'mac_addr': 'fa:16:3e:00:00:02',
                        'fixed_ips': None,
                    },
                    {
                        'port_id': 'p1',
                        'mac_addr': 'fa:16:3e:00:00:01',
                        'net_id': 'n',
                        'port_state': 'ACTIVE',
                        'fixed_ips': [
                            {'ip_address': '10.0.0.4', 'subnet_id': 's'}
                        ],
                    },
                ]
            },
        )
        self.wire.get(
            VOLUMES,
            json={
                'volumeAttachments': [
                    {
                        'volumeId': 'v2',
                        'device': '/dev/vdb',
                        'tag': 't',
                        'delete_on_termination': True,
                        'attachment_id': 'x',
                    },
                    {'volumeId': 'v1', 'device': None, 'tag': None},
                ]
            },
        )

    def found(self, **more: Any) -> Details:
        self.wire.get(SERVER, json={'server': whole(**more)})
        result = self.details.get('vm')
        assert result is not None
        return result

    def test_what_is_told(self) -> None:
        result = self.found()
        self.assertEqual({'secret', 'twin'}, set(result.metadata))
        expected = Details(
            uuid='vm',
            name='name-vm',
            status='ACTIVE',
            vm_state='active',
            power_state=1,
            host='cmp1',
            node='cmp1.example.org',
            internal_name='instance-vm',
            flavor=FlavorDetails('', 2, 2048, 10, 5, 1500),
            zone='az1',
            pinned_zone='az1',
            addresses=['net 10.0.0.4 fixed', 'net 192.0.2.9 floating'],
            ports=[
                Port('p1', 'fa:16:3e:00:00:01', 'n', ['10.0.0.4']),
                Port('p2', 'fa:16:3e:00:00:02'),
            ],
            volumes=[Volume('v1'), Volume('v2', '/dev/vdb', 't', True)],
            tags=['b', 'z'],
            metadata=result.metadata,
            key_name='k',
            image='image-1',
            security_groups=['a', 'web'],
            launched_at='2026-01-01T00:00:00.000000',
            config_drive=True,
            description='d',
            project_id='project-1',
        )
        self.assertEqual(expected, result)
        self.assertFalse(result.is_volume_backed)
        self.assertTrue(self.found(image='').is_volume_backed)

    def test_what_is_secret(self) -> None:
        """Values of metadata and user data stay with Nova."""
        result = self.found()
        text = json.dumps(result.document())
        self.assertNotIn('s3cret', text)
        self.assertNotIn('czNjcmV0', text)
        # Nor is it told that two values are the same one.
        self.assertNotEqual(result.metadata['secret'], result.metadata['twin'])
        self.assertEqual(result.metadata, self.found().metadata)
        other = self.found(metadata={'secret': 'other'})
        self.assertNotEqual(
            result.metadata['secret'], other.metadata['secret']
        )

    def test_document(self) -> None:
        """It comes back from Watcher's database as it went there."""
        result = self.found()
        result.held = {'cmp1.example.org': {'VCPU': 2}}
        again = Details.from_document(
            json.loads(json.dumps(result.document()))
        )
        self.assertEqual(result, again)
        wrong: Any
        for wrong in ({}, None, [], {'uuid': 'a', 'ports': [{}]}):
            self.assertRaises(ValueError, Details.from_document, wrong)

    def test_gone(self) -> None:
        """Also if it goes in between."""
        self.wire.get(SERVER, status_code=404)
        self.assertIsNone(self.details.get('vm'))
        self.wire.get(SERVER, json={'server': whole()})
        self.wire.get(VOLUMES, status_code=404)
        self.assertIsNone(self.details.get('vm'))

    def test_its_cell_is_down(self) -> None:
        row = whole()
        del row['OS-EXT-SRV-ATTR:host']
        self.wire.get(SERVER, json={'server': row})
        error = self.fails(self.details.get, 'vm')
        self.assertIn('its cell is down', str(error))
        self.assertTrue(error.kwargs['transient'])

    def test_refused(self) -> None:
        self.wire.get(SERVER, json={'server': whole()})
        self.wire.get(PORTS, status_code=403)
        self.assertEqual(
            403, self.fails(self.details.get, 'vm').kwargs['status']
        )
