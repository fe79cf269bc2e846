# SPDX-License-Identifier: Apache-2.0
"""The services in Keystone: users, roles, endpoints.

Done at each ``up``, and only what is not so yet: ports may have changed.
"""

from collections.abc import Sequence
from typing import Any

from labkit import layout
from labkit.cells import choice

USERS = ('nova', 'placement', 'glance', 'watcher')
INTERFACES = ('public', 'internal', 'admin')
PEOPLE = 'internal'
"""The interface that leads people to the services themselves."""


def endpoints(ports: dict[str, int]) -> dict[str, tuple[str, str]]:
    """Service type to name and address."""
    here = 'http://127.0.0.1'
    found = {
        'identity': ('keystone', f'{here}:{ports["keystone"]}/v3'),
        'placement': ('placement', f'{here}:{ports["placement"]}'),
        'image': ('glance', f'{here}:{ports["glance"]}'),
        'compute': ('nova', f'{here}:{ports["nova_api"]}/v2.1'),
        'infra-optim': ('watcher', f'{here}:{ports["watcher_api"]}'),
    }
    if choice.read():
        found['network'] = ('neutron', f'{here}:{ports["neutron"]}')
    return found


def public(ports: dict[str, int]) -> dict[str, str]:
    """Service type to the public address, where that is another one."""
    if layout.COHORT.watcher < 17:  # Kronos asks the catalog there
        return {'compute': f'http://127.0.0.1:{ports["nova_proxy"]}/v2.1'}
    return {}


def ensure(connection: Any, ports: dict[str, int], password: str) -> None:
    """Make users and endpoints what they should be.

    :param connection: an openstacksdk connection of the administrator
    """
    _users(connection.identity, USERS, password)
    _services(connection.identity, endpoints(ports), public(ports))


def ensure_service(
    identity: Any, kind: str, name: str, url: str, password: str
) -> None:
    """Make a service that only some labs have: its user and its endpoints.

    :param kind: its type in the catalog
    """
    _users(identity, [name], password)
    _services(identity, {kind: (name, url)}, {})


def ensure_project(identity: Any, name: str) -> None:
    """Make a project in which the administrator may act."""
    if identity.find_project(name) is not None:
        return
    project = identity.create_project(name=name, domain_id='default')
    admin = identity.find_user('admin', ignore_missing=False)
    role = identity.find_role('admin', ignore_missing=False)
    identity.assign_project_role_to_user(project, admin, role)


def _users(identity: Any, names: Sequence[str], password: str) -> None:
    project = identity.find_project('service')
    if project is None:
        project = identity.create_project(name='service', domain_id='default')
    have = {user.name for user in identity.users()}
    roles = {role.name: role for role in identity.roles()}
    for name in names:
        if name in have:
            continue
        user = identity.create_user(
            name=name, password=password, domain_id='default'
        )
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(project, user, roles[role])


def _services(
    identity: Any,
    wanted: dict[str, tuple[str, str]],
    public: dict[str, str],
) -> None:
    have = {service.type: service for service in identity.services()}
    placed = {
        (endpoint.service_id, endpoint.interface): endpoint
        for endpoint in identity.endpoints()
    }
    for kind, (name, address) in wanted.items():
        service = have.get(kind) or identity.create_service(
            type=kind, name=name
        )
        for interface in INTERFACES:
            url = address
            if interface == 'public':
                url = public.get(kind, address)
            endpoint = placed.get((service.id, interface))
            if endpoint is None:
                identity.create_endpoint(
                    service_id=service.id,
                    interface=interface,
                    url=url,
                    region_id='RegionOne',
                )
            elif endpoint.url != url:
                identity.update_endpoint(endpoint, url=url)
