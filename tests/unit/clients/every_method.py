# SPDX-License-Identifier: Apache-2.0
"""Every method of every client, and what its service answers when well."""

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib import parse

import pydantic
import requests
from keystoneauth1 import loading
from keystoneauth1.identity import v3
from oslo_config import cfg

from kronos.clients import connection, glance, placement, transport
from kronos.clients import keystone as own
from kronos.clients import watcher as watchers
from kronos.clients.nova import api as nova_api
from kronos.clients.nova import (
    cell_migration,
    live_migration,
    rows,
    server_details,
)
from kronos.clients.nova import client as nova_client
from kronos.clients.prometheus import client
from kronos.common import exceptions

UUID = '11111111-1111-1111-1111-111111111111'
ROOT = '22222222-2222-2222-2222-222222222222'
MOMENT = '2023-11-14T22:05:00.000000'
ARGUMENTS: dict[str, Any] = {
    'uuid': UUID,
    'host': 'cmp1',
    'name': 'cmp1',
    'since': 1699999200.0,
    'key': 'req-1',
    'request_id': 'req-1',
    'requests': ['req-1'],
    'is_resize': True,
    'migration': rows.MigrationStatus(UUID, 'running', 'm1', 1),
    'node': 'cmp1.example',
    'zone': 'az1',
    'flavor': 'f1',
    'consumer': UUID,
    'server': UUID,
    'plan': 'p1',
    'audit': 'a1',
    'fields': {'name': 'a1'},
    'state': 'CANCELLED',
    'query': 'up',
    'time': 0.0,
    'start': 0.0,
    'end': 60.0,
    'step': 15.0,
}
"""Of the methods, by the names of their parameters."""
ALSO: dict[str, list[dict[str, Any]]] = {
    'get_migration_status': [{'key': 'req-1'}, {'key': 'm1'}],
    'is_guest_running': [{}, {'at_once': True}],
    'put_back': [{'migration': 'm1'}],
}
"""What some methods are given instead."""
_HOST = {'id': 'h1', 'hypervisor_hostname': 'cmp1.example'}
_SERVER = {
    'id': UUID,
    'name': 'one',
    'status': 'ACTIVE',
    'tenant_id': 'p',
    'image': {'id': 'i', 'properties': {'hw_cpu_policy': 'dedicated'}},
    'flavor': {
        'vcpus': 2,
        'ram': 2048,
        'disk': 1,
        'ephemeral': 0,
        'swap': 0,
        'extra_specs': {'hw:mem_page_size': 'large'},
    },
    'OS-EXT-SRV-ATTR:host': 'cmp1',
    'OS-EXT-SRV-ATTR:instance_name': 'instance-1',
    'OS-EXT-STS:task_state': None,
    'OS-EXT-STS:power_state': 1,
    'locked': False,
    'metadata': {'a': 'b'},
    'tags': ['c'],
    'addresses': {'net': [{'addr': '10.0.0.4', 'OS-EXT-IPS:type': 'fixed'}]},
    'security_groups': [{'name': 'default'}],
    'server_groups': ['g1'],
    'user_data': 'x' * 99,
}
_GROUP = {
    'id': 'g1',
    'name': 'g',
    'policy': 'anti-affinity',
    'rules': {'max_server_per_host': 2},
    'members': [UUID],
}
_MIGRATION = {
    'id': 1,
    'uuid': 'm1',
    'instance_uuid': UUID,
    'migration_type': 'live-migration',
    'status': 'running',
    'source_compute': 'cmp1',
    'dest_compute': 'cmp2',
    'created_at': MOMENT,
    'updated_at': None,
}
_EVENT = {
    'event': 'conductor_live_migrate_instance',
    'start_time': MOMENT,
    'result': 'Error',
    'details': 'no room',
}
_ACTION = {
    'request_id': 'req-1',
    'requests': ['req-1'],
    'is_resize': True,
    'action': 'live-migration',
    'start_time': MOMENT,
}
_PROVIDER = {'uuid': ROOT, 'name': 'cmp1.example', 'root_provider_uuid': ROOT}
_ALLOCATIONS = {
    'allocations': {ROOT: {'resources': {'MEMORY_MB': 2048}}},
    'consumer_generation': 1,
    'project_id': 'p',
    'user_id': 'u',
}
_AUDIT = {
    'uuid': 'a1',
    'audit_type': 'CONTINUOUS',
    'state': 'ONGOING',
    'parameters': {'run': 'r'},
    'created_at': MOMENT,
}
_ROW = {'metric': {'host': 'cmp1'}}
ANSWERS: dict[str, Any] = {
    r'/os-hypervisors/detail': {
        'hypervisors': [
            {**_HOST, 'hypervisor_type': 'QEMU', 'service': {'host': 'cmp1'}}
        ],
    },
    r'/os-services': {
        'services': [
            {
                'host': 'cmp1',
                'binary': 'nova-compute',
                'state': 'up',
                'status': 'enabled',
                'zone': 'az',
                'disabled_reason': None,
                'forced_down': False,
            }
        ]
    },
    r'/os-aggregates': {
        'aggregates': [
            {
                'id': 1,
                'uuid': 'a',
                'name': 'cmp1',
                'hosts': ['cmp1'],
                'metadata': {'k': 'v'},
                'availability_zone': None,
            }
        ]
    },
    r'/servers/[^/]+/diagnostics': {'state': 'running'},
    r'/os-interface': {
        'interfaceAttachments': [
            {
                'port_id': 'n1',
                'mac_addr': 'fa:16:3e:00:00:01',
                'net_id': 'n',
                'fixed_ips': [{'ip_address': '10.0.0.4', 'subnet_id': 's'}],
            }
        ]
    },
    r'/os-volume_attachments': {
        'volumeAttachments': [{'volumeId': 'v1', 'device': '/dev/vda'}]
    },
    r'/v2/images': {'images': [{'id': 'i1', 'name': 'cmp1'}]},
    r'/servers/detail': {
        'servers': [_SERVER],
        'servers_links': [{'rel': 'next', 'href': 'x'}],
    },
    r'/servers/[^/]+/migrations': {
        'migrations': [{'uuid': 'm1', 'memory_total_bytes': 4096}]
    },
    r'/os-instance-actions/[^/]+': {'instanceAction': {'events': [_EVENT]}},
    r'/os-instance-actions': {'instanceActions': [_ACTION]},
    r'/servers/[^/]+': {'server': _SERVER},
    r'/os-server-groups/[^/]+': {'server_group': _GROUP},
    r'/os-server-groups': {'server_groups': [_GROUP]},
    r'/os-migrations': {'migrations': [_MIGRATION], 'migrations_links': []},
    r'/inventories': {
        'inventories': {
            'VCPU': {'total': 8, 'reserved': 0, 'allocation_ratio': 4.0}
        }
    },
    r'/usages': {'usages': {'VCPU': 1}},
    r'/resource_providers/[^/]+/allocations': {
        'allocations': {UUID: {'resources': {'VCPU': 1}}}
    },
    r'/resource_providers': {'resource_providers': [_PROVIDER]},
    r'/allocation_candidates': {
        'provider_summaries': {
            ROOT: {
                'resources': {'VCPU': {'capacity': 8, 'used': 1}},
                'traits': ['COMPUTE_NODE'],
            }
        }
    },
    r'/allocations/[^/]+': _ALLOCATIONS,
    r'/v1/action_plans/detail': {
        'action_plans': [
            {
                'uuid': 'p1',
                'state': 'ONGOING',
                'audit_uuid': 'a1',
                'created_at': MOMENT,
                'updated_at': None,
            }
        ],
        'next': 'x',
    },
    r'/v1/action_plans/[^/]+': {
        'uuid': 'p1',
        'state': 'ONGOING',
        'strategy_name': 'kronos_spread',
        'efficacy_indicators': [{'name': 'migrations', 'value': 3.0}],
        'global_efficacy': None,
        'status_message': None,
        'created_at': MOMENT,
    },
    r'/v1/audits/detail': {'audits': [_AUDIT], 'next': 'x'},
    r'/v1/audits/[^/]+': {
        'auto_trigger': True,
        'name': 'a',
        'status_message': None,
    },
    r'/v1/actions/detail': {
        'actions': [
            {
                'uuid': 'x1',
                'action_type': 'kronos_live_migrate',
                'state': 'SUCCEEDED',
                'input_parameters': {'resource_id': UUID},
                'status_message': None,
                'created_at': MOMENT,
                'updated_at': None,
            }
        ]
    },
    r'/v1/strategies': {'strategies': [{'name': 'kronos_spread'}]},
    r'/api/v1/query_range': {
        'status': 'success',
        'data': {
            'resultType': 'matrix',
            'result': [{**_ROW, 'values': [[1699999200, '1.5']]}],
        },
    },
    r'/api/v1/query': {
        'status': 'success',
        'warnings': ['slow'],
        'data': {
            'resultType': 'vector',
            'result': [{**_ROW, 'value': [1699999200.5, 'NaN']}],
        },
    },
    r'/api/v1/status/runtimeinfo': {'status': 'success', 'data': {}},
    r'/v2.1/?': {'version': {}},
}
"""Of each path (a regular expression of its end), when all is well."""


def answer_to(url: str) -> Any:
    """What a service that is well answers to a read of an address."""
    parts = parse.urlsplit(url)
    if int(parse.parse_qs(parts.query).get('offset', ['0'])[0]):
        # The only listing that is paged so.
        return {'server_groups': []}
    for pattern, body in ANSWERS.items():
        if re.search(f'{pattern}$', parts.path):
            return body
    return {}


@dataclass
class Method:
    """One method of one client, with arguments for it."""

    client: str
    name: str
    arguments: dict[str, Any]
    returned: Any

    def __str__(self) -> str:
        return f'{self.client}.{self.name}'

    def call(self, clients: dict[str, Any]) -> Any:
        """Call it; what it gives one by one is taken whole."""
        result = getattr(clients[self.client], self.name)
        if callable(result):
            result = result(**self.arguments)
        return list(result) if isinstance(result, Iterator) else result

    def check(self, found: Any) -> None:
        """:raises PydanticSerializationError: not what it says it returns"""
        if typing.get_origin(self.returned) is not Iterator:
            adapter = pydantic.TypeAdapter(self.returned)
            adapter.dump_python(found, warnings='error')


CLIENTS: dict[str, tuple[type, type[exceptions.ClientError]]] = {
    'NovaClient': (nova_client.NovaClient, exceptions.NovaClientError),
    'LiveMigration': (
        live_migration.LiveMigration,
        exceptions.NovaClientError,
    ),
    'CellMigration': (
        cell_migration.CellMigration,
        exceptions.NovaClientError,
    ),
    'ServerDetails': (
        server_details.ServerDetails,
        exceptions.NovaClientError,
    ),
    'GlanceClient': (glance.GlanceClient, exceptions.GlanceClientError),
    'PlacementClient': (
        placement.PlacementClient,
        exceptions.PlacementClientError,
    ),
    'WatcherClient': (watchers.WatcherClient, exceptions.ClientError),
    'PrometheusClient': (
        client.PrometheusClient,
        exceptions.PrometheusError,
    ),
}
"""With the error that alone may leave it."""


def methods() -> list[Method]:
    """All that are public, found by looking."""
    found = []
    for client_name, (kind, _) in CLIENTS.items():
        for name, member in inspect.getmembers(kind):
            if name.startswith('_') or name in (
                'address',
                'endpoint',
                'hidden',
            ):
                continue
            if isinstance(member, property):
                found.append(Method(client_name, name, {}, str))
                continue
            given = {
                parameter.name: ARGUMENTS[parameter.name]
                for parameter in inspect.signature(member).parameters.values()
                if parameter.name != 'self'
                and parameter.default is parameter.empty
            }
            returned = typing.get_type_hints(member)['return']
            found += [
                Method(client_name, name, {**given, **more}, returned)
                for more in ALSO.get(name, [{}])
            ]
    return found


def conf() -> Any:
    """Options of a process in which keystoneauth would try writes again."""
    found = cfg.ConfigOpts()
    for group in connection.GROUPS:
        loading.register_adapter_conf_options(found, group)
    found([], default_config_files=[])
    for group in connection.GROUPS:
        found.set_override('status_code_retries', 3, group)
        found.set_override('connect_retries', 3, group)
        found.set_override('valid_interfaces', ['public'], group)
    return found


def session_at(auth_url: str) -> Any:
    """As a host process has one: without any time-out."""
    return own.ks_session.Session(
        v3.Password(
            auth_url,
            username='kronos',
            password='s3cret',
            user_domain_id='default',
            project_name='service',
            project_domain_id='default',
        )
    )


class Options:
    """``[kronos_prometheus]``."""

    url = ''
    interface = 'public'
    region_name = None
    timeout = 30.0
    max_retries = 1
    retry_backoff = 0.0
    staleness_threshold = 300.0

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


def one(
    name: str,
    session: Any,
    limits: transport.Limits | None = None,
    **options: Any,
) -> Any:
    """A client as the plugins and commands of Kronos make it.

    :raises ClientError: Keystone does not lead to its service
    """
    kind, error = CLIENTS[name]
    host = connection.HostProcess(lambda: session, conf(), limits)
    if name == 'NovaClient':
        return kind(host.adapter('compute', error), **options)
    if name == 'GlanceClient':
        return kind(host.adapter('image', error), **options)
    if name in ('CellMigration', 'LiveMigration', 'ServerDetails'):
        return kind(nova_api.Api(host.adapter('compute', error), **options))
    if name == 'PlacementClient':
        return kind(host.adapter('placement', error), **options)
    if name == 'WatcherClient':
        return watchers.find(own.own(session, limits), **options)
    options.pop('max_retries', None)
    told = {'timeout': options.pop('timeout', 30.0)}
    return client.from_options(
        Options(**told), session, clock=lambda: 1699999210.0, **options
    )


def by_url(url: str, **options: Any) -> Any:
    """A Prometheus without Keystone, as most have it."""
    return client.PrometheusClient(
        url, requests.Session(), clock=lambda: 1699999210.0, **options
    )
