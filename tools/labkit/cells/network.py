# SPDX-License-Identifier: Apache-2.0
"""The network of a lab with two cells: its ports, and where each is bound.

A port has a binding for each host it is, or may soon be, on; one of them is
active. Kept in a file, since servers outlive the process. Standard library
only.
"""

import ipaddress
import pathlib
import threading
import uuid
from typing import Any

from labkit import layout

FILE = layout.DATA / 'neutron.json'
SPACE = uuid.UUID('6f1c2f0e-0f5b-4a43-8b5e-3d3a5b0f1c21')
NETWORK, SUBNET, GROUP = (
    str(uuid.uuid5(SPACE, name)) for name in ('network', 'subnet', 'group')
)
NAME = 'lab-net'
ADDRESSES = ipaddress.ip_network('10.31.0.0/16')
FIRST = 16
"""Addresses before that one are not given to ports."""
HOST, PROFILE = 'binding:host_id', 'binding:profile'

Row = dict[str, Any]


class NotThere(Exception):
    """What was asked for does not exist."""


class Conflict(Exception):
    """It is so already."""


def static(kind: str, project: str) -> list[Row]:
    """The rows of a collection that never changes.

    :param project: who asks; everyone has a default security group
    """
    result = {
        'extensions': [
            {'alias': alias, 'name': alias}
            for alias in ('binding', 'binding-extended', 'security-group')
        ],
        'networks': [
            {
                'id': NETWORK,
                'name': NAME,
                'subnets': [SUBNET],
                'shared': True,
                'admin_state_up': True,
                'status': 'ACTIVE',
                'mtu': 1500,
                'router:external': False,
                'port_security_enabled': True,
            }
        ],
        'subnets': [
            {
                'id': SUBNET,
                'name': NAME,
                'network_id': NETWORK,
                'cidr': str(ADDRESSES),
                'ip_version': 4,
                'gateway_ip': str(ADDRESSES[1]),
                'enable_dhcp': False,
                'dns_nameservers': [],
                'host_routes': [],
            }
        ],
        'security_groups': [
            {'id': GROUP, 'name': 'default', 'security_group_rules': []}
        ],
    }.get(kind, [])
    owner = {'tenant_id': project, 'project_id': project}
    return [{**row, **owner} for row in result]


class Ports:
    """All ports with their bindings; safe for threads."""

    def __init__(self, file: pathlib.Path = FILE) -> None:
        self._file = file
        self._lock = threading.RLock()
        known = layout.read_json(file)
        self._ports: dict[str, Row] = known.get('ports', {})
        self._bindings: dict[str, dict[str, Row]] = known.get('bindings', {})
        self._next: int = known.get('next', FIRST)

    def listed(self) -> list[Row]:
        with self._lock:
            return [self._shown(name) for name in self._ports]

    def shown(self, name: str) -> Row:
        with self._lock:
            return self._shown(name)

    def _shown(self, name: str) -> Row:
        port = self._port(name)
        active = self._active(name)
        is_bound = bool(active and active['host'])
        return {
            **port,
            'status': 'ACTIVE' if is_bound and port['device_id'] else 'DOWN',
            HOST: active['host'] if active else '',
            PROFILE: active['profile'] if active else {},
            'binding:vnic_type': 'normal',
            'binding:vif_type': 'ovs' if is_bound else 'unbound',
            'binding:vif_details': {},
        }

    def create(self, asked: Row, project: str) -> Row:
        with self._lock:
            number, self._next = self._next, self._next + 1
            name = str(uuid.uuid4())
            address = {
                'subnet_id': SUBNET,
                'ip_address': str(ADDRESSES[number]),
            }
            self._ports[name] = {
                'id': name,
                'name': asked.get('name', ''),
                'network_id': NETWORK,
                'tenant_id': project,
                'project_id': project,
                'mac_address': asked.get('mac_address') or _mac(number),
                'fixed_ips': [address],
                'device_id': '',
                'device_owner': '',
                'admin_state_up': True,
                'security_groups': [GROUP],
                'port_security_enabled': True,
                'allowed_address_pairs': [],
                'extra_dhcp_opts': [],
                'tags': [],
                'revision_number': 0,
            }
            self._bindings[name] = {}
            return self.update(name, asked)

    def update(self, name: str, asked: Row) -> Row:
        """Change a port; its host is the active binding's."""
        with self._lock:
            port = self._port(name)
            for key in ('name', 'device_id', 'device_owner'):
                port[key] = asked.get(key, port[key])
            if asked.get('security_groups'):
                port['security_groups'] = asked['security_groups']
            if HOST in asked or PROFILE in asked:
                self._rebind(name, asked)
            port['revision_number'] += 1
            self._save()
            return self._shown(name)

    def _rebind(self, name: str, asked: Row) -> None:
        bindings, active = self._bindings[name], self._active(name)
        before = active or _binding('', {})
        host = asked.get(HOST, before['host']) or ''
        profile = asked.get(PROFILE, before['profile']) or {}
        bindings.pop(before['host'], None)
        if host:
            bindings[host] = _binding(host, profile)

    def delete(self, name: str) -> None:
        with self._lock:
            self._port(name)
            del self._ports[name], self._bindings[name]
            self._save()

    def bindings(self, name: str) -> list[Row]:
        with self._lock:
            self._port(name)
            return list(self._bindings[name].values())

    def binding(self, name: str, host: str) -> Row:
        with self._lock:
            self._port(name)
            if host not in self._bindings[name]:
                raise NotThere(f'port {name} has no binding for {host}')
            return self._bindings[name][host]

    def bind(self, name: str, asked: Row) -> Row:
        """Add a binding; it is inactive if another one is active."""
        with self._lock:
            self._port(name)
            host = asked['host']
            if host in self._bindings[name]:
                raise Conflict(f'port {name} has a binding for {host}')
            made = _binding(host, asked.get('profile') or {})
            if self._active(name):
                made['status'] = 'INACTIVE'
            self._bindings[name][host] = made
            self._save()
            return made

    def activate(self, name: str, host: str) -> Row:
        with self._lock:
            wanted = self.binding(name, host)
            if wanted['status'] == 'ACTIVE':
                raise Conflict(f'the binding for {host} is active')
            for one in self._bindings[name].values():
                one['status'] = 'ACTIVE' if one is wanted else 'INACTIVE'
            self._save()
            return wanted

    def unbind(self, name: str, host: str) -> None:
        with self._lock:
            self.binding(name, host)
            del self._bindings[name][host]
            self._save()

    def _port(self, name: str) -> Row:
        if name not in self._ports:
            raise NotThere(f'there is no port {name}')
        return self._ports[name]

    def _active(self, name: str) -> Row | None:
        for one in self._bindings[name].values():
            if one['status'] == 'ACTIVE':
                return one
        return None

    def _save(self) -> None:
        layout.write_json(
            self._file,
            {
                'ports': self._ports,
                'bindings': self._bindings,
                'next': self._next,
            },
        )


def _binding(host: str, profile: Row) -> Row:
    return {
        'host': host,
        'vnic_type': 'normal',
        'vif_type': 'ovs',
        'vif_details': {},
        'profile': profile,
        'status': 'ACTIVE',
    }


def _mac(number: int) -> str:
    return f'fa:16:3e:00:{number // 256:02x}:{number % 256:02x}'
