# SPDX-License-Identifier: Apache-2.0
"""A cloud of any size at the wire: what its APIs answer, over HTTP.

Run it as ``python -m tests.fakes.large_cloud HOSTS INSTANCES``: it prints
its port, and serves on the loopback until its standard input is closed.
Keystone gives a token to anybody. Nova pages as it does: 1,000 rows, then a
link.
"""

import contextlib
import http.server
import json
import math
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib import parse

from tests import places

PAGE = 1000
"""``max_limit`` of ``[api]`` in nova.conf."""
PER_AGGREGATE = 100
WAVES = 64
"""Of values over time, among all series."""
POLICIES = [
    {
        'name': name,
        'mode': 'spread',
        'weight': 0.5,
        'imbalance_query': f'{name}_of_host',
        'vm_profile_query': f'{name}_of_server',
        'vm_profile_label': 'uuid',
        'vm_profile_label_type': 'nova_instance_uuid',
        'capacity_query': f'{name}_capacity',
    }
    for name in ('cpu', 'ram')
]
Json = dict[str, Any]


class WholeCloud:
    """What the services answer; rows are as long as Nova's are.

    :param page: rows that Nova gives at once
    """

    def __init__(self, hosts: int, instances: int, page: int = PAGE) -> None:
        self.hosts = [f'cmp{n:04}' for n in range(hosts)]
        self._page = page
        self._servers = [self._server(n) for n in range(instances)]
        self._places = {
            server['id']: index for index, server in enumerate(self._servers)
        }
        self._gone = self._dead(instances // 10)
        self._moves = self._moved(instances // 10)
        ids = [server['id'] for server in self._servers]
        self._groups = [
            {
                'id': f'99999999-0000-4000-8000-{n:012}',
                'name': f'group{n}',
                'policy': 'anti-affinity',
                'rules': {},
                'members': ids[n * 16 : n * 16 + 2],
            }
            for n in range(instances // 16)
        ]

    def get(self, path: str, query: dict[str, str], base: str) -> Any:
        """The body of an answer; None if there is no such thing."""
        parts: dict[str, Callable[[], Any]] = {
            '/identity/v3': lambda: {'version': self._identity(base)},
            '/compute/v2.1': lambda: {
                'version': _version(f'{base}/compute/v2.1', '2.100')
            },
            '/placement': lambda: {
                'versions': [_version(f'{base}/placement', '1.39')]
            },
            '/compute/v2.1/os-services': self._services,
            '/compute/v2.1/os-aggregates': self._aggregates,
            '/compute/v2.1/os-hypervisors/detail': lambda: self._paged(
                'hypervisors', self._hypervisors(), query, base
            ),
            '/compute/v2.1/servers/detail': lambda: self._paged(
                'servers',
                self._gone if 'changes-since' in query else self._servers,
                query,
                base,
            ),
            '/compute/v2.1/os-server-groups': lambda: {
                'server_groups': self._slice(self._groups, query)
            },
            '/compute/v2.1/os-migrations': lambda: {
                'migrations': [
                    row
                    for row in self._moves
                    if row['updated_at'] >= query.get('changes-since', '')
                ]
                if 'changes-since' in query
                else []
            },
            '/placement/resource_providers': self._providers,
            '/placement/allocation_candidates': self._candidates,
            '/watcher/v1/action_plans/detail': lambda: {'action_plans': []},
            '/watcher/v1/actions/detail': lambda: {'actions': []},
        }
        answer = parts.get(path.rstrip('/'))
        return answer() if answer else None

    def post(self, path: str, text: str, base: str) -> Any:
        if path == '/identity/v3/auth/tokens':
            return self._token(base)
        parameters = dict(parse.parse_qsl(text))
        if path.endswith('query_range'):
            return self._past(parameters)
        count = re.fullmatch(
            r'count\((?:\((.*)\) > 0|(.*))\)', parameters['query']
        )
        query = (count[1] or count[2]) if count else parameters['query']
        result = self._series(query)
        if count:
            value = [time.time(), str(len(result))]
            result = [{'metric': {}, 'value': value}]
        return {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': result},
        }

    def _past(self, parameters: dict[str, str]) -> bytes:
        """The series of a query over time: a wave for each."""
        start, end, step = (
            float(parameters[name]) for name in ('start', 'end', 'step')
        )
        ticks = range(int((end - start) / step + 1e-9) + 1)
        moments = [start + tick * step for tick in ticks]
        waves = []
        for shift in range(WAVES):
            values = ','.join(
                f'[{moment:.0f},"{self._wave(moment, shift)}"]'
                for moment in moments
            )
            waves.append(f'"values":[{values}]')
        rows = ','.join(
            f'{{"metric":{json.dumps(row["metric"])},{waves[number % WAVES]}}}'
            for number, row in enumerate(self._series(parameters['query']))
        )
        head = '{"status":"success","data":{"resultType":"matrix","result":['
        return f'{head}{rows}]}}}}'.encode()

    @staticmethod
    def _wave(moment: float, shift: int) -> str:
        """As many digits as Prometheus writes."""
        return repr(0.02 + 0.01 * math.sin(moment / 2000 + shift))

    def _paged(
        self, key: str, rows: list[Json], query: dict[str, str], base: str
    ) -> Json:
        first = 0
        if 'marker' in query:
            places = self._places
            if rows is not self._servers:
                places = {row['id']: index for index, row in enumerate(rows)}
            first = places[query['marker']] + 1
        page = rows[first : first + self._page]
        if 'sort_key' in query:
            # The opposite order is all that is ever asked for.
            first = len(rows) - first + 1 if 'marker' in query else 0
            page = rows[::-1][first : first + self._page]
        body: Json = {key: page}
        if first + self._page < len(rows):
            last = page[-1]['id']
            body[f'{key}_links'] = [
                {'rel': 'next', 'href': f'{base}/compute?marker={last}'}
            ]
        return body

    def _slice(self, rows: list[Json], query: dict[str, str]) -> list[Json]:
        first = int(query.get('offset', 0))
        limit = min(int(query.get('limit', self._page)), self._page)
        return rows[first : first + limit]

    def _identity(self, base: str) -> Json:
        links = [{'rel': 'self', 'href': f'{base}/identity/v3'}]
        return {'id': 'v3.14', 'status': 'stable', 'links': links}

    def _token(self, base: str) -> Json:
        catalog = []
        for kind, path in (
            ('compute', '/compute/v2.1'),
            ('placement', '/placement'),
            ('infra-optim', '/watcher'),
        ):
            endpoint = {
                'id': kind,
                'interface': 'public',
                'region': 'one',
                'region_id': 'one',
                'url': base + path,
            }
            catalog.append({'type': kind, 'id': kind, 'endpoints': [endpoint]})
        domain = {'id': 'default', 'name': 'Default'}
        return {
            'token': {
                'methods': ['password'],
                'expires_at': '2999-01-01T00:00:00.000000Z',
                'issued_at': '2020-01-01T00:00:00.000000Z',
                'user': {'id': 'u', 'name': 'kronos', 'domain': domain},
                'project': {'id': 'p', 'name': 'service', 'domain': domain},
                'roles': [{'id': 'r', 'name': 'admin'}],
                'catalog': catalog,
            }
        }

    def _services(self) -> Json:
        return {
            'services': [
                {
                    'id': f'5e7-{host}',
                    'binary': 'nova-compute',
                    'host': host,
                    'zone': 'nova',
                    'status': 'enabled',
                    'state': 'up',
                    'disabled_reason': None,
                    'forced_down': False,
                    'updated_at': '2026-01-01T00:00:00.000000',
                }
                for host in self.hosts
            ]
        }

    def _aggregates(self) -> Json:
        rows = []
        for first in range(0, len(self.hosts), PER_AGGREGATE):
            number = first // PER_AGGREGATE + 1
            rows.append(
                {
                    'id': number,
                    'uuid': f'aaaaaaaa-0000-4000-8000-{number:012}',
                    'name': f'rack{number}',
                    'hosts': self.hosts[first : first + PER_AGGREGATE],
                    'metadata': {},
                    'availability_zone': None,
                }
            )
        return {'aggregates': rows}

    def _hypervisors(self) -> list[Json]:
        return [
            {
                'id': f'cccccccc-0000-4000-8000-{n:012}',
                'hypervisor_hostname': f'{host}.example.org',
                'hypervisor_type': 'QEMU',
                'hypervisor_version': 8002000,
                'state': 'up',
                'status': 'enabled',
                'service': {'host': host, 'id': f'5e7-{host}'},
            }
            for n, host in enumerate(self.hosts)
        ]

    def _server(self, number: int) -> Json:
        host = self.hosts[number * 7 % len(self.hosts)]
        return {
            'id': f'00000000-0000-4000-8000-{number:012}',
            'name': f'server-{number}',
            'status': 'ACTIVE',
            'tenant_id': f'{number % 97:032}',
            'user_id': 'b' * 32,
            'hostId': 'c' * 56,
            'key_name': None,
            'user_data': 'I2Nsb3VkLWNvbmZpZwpwYXNzd29yZDogczNjcmV0Cg==',
            'created': '2026-01-01T00:00:00Z',
            'updated': '2026-01-01T00:00:00Z',
            'OS-EXT-SRV-ATTR:host': host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': f'{host}.example.org',
            'OS-EXT-SRV-ATTR:instance_name': f'instance-{number:08x}',
            'OS-EXT-STS:task_state': None,
            'OS-EXT-STS:vm_state': 'active',
            'OS-EXT-STS:power_state': 1,
            'OS-EXT-AZ:availability_zone': 'nova',
            'pinned_availability_zone': None,
            'image': {'id': 'd' * 36, 'properties': {}},
            'flavor': {
                'original_name': 'm1.small',
                'vcpus': 1 << number % 4,
                'ram': 2048 << number % 4,
                'disk': 20,
                'ephemeral': 0,
                'swap': 0,
                'extra_specs': {'hw:cpu_sockets': '1'},
            },
            'addresses': {
                'private': [
                    {
                        'version': 4,
                        'addr': f'10.{number >> 16}.{number >> 8 & 255}.1',
                        'OS-EXT-IPS:type': 'fixed',
                        'OS-EXT-IPS-MAC:mac_addr': 'fa:16:3e:00:00:01',
                    }
                ]
            },
            'metadata': {'role': 'web', 'owner': f'team{number % 31}'},
            'tags': [],
            'locked': False,
            'security_groups': [{'name': 'default'}],
            'os-extended-volumes:volumes_attached': [],
            'config_drive': '',
            'description': None,
        }

    def _dead(self, count: int) -> list[Json]:
        """Servers that lived yesterday."""
        return [
            self._server(number)
            | {
                'id': f'11111111-0000-4000-8000-{number:012}',
                'status': 'DELETED',
                'created': _moment(30),
                'updated': _moment(1),
                'OS-SRV-USG:terminated_at': _moment(24 - number % 12),
            }
            for number in range(count)
        ]

    def _moved(self, count: int) -> list[Json]:
        """Moves of yesterday, each from the host before in the list."""
        moves = []
        for number, server in enumerate(self._servers[:count]):
            host = server['OS-EXT-SRV-ATTR:host']
            before = self.hosts[self.hosts.index(host) - 1]
            moves.append(
                {
                    'id': number,
                    'uuid': f'22222222-0000-4000-8000-{number:012}',
                    'status': 'completed',
                    'migration_type': 'live-migration',
                    'instance_uuid': server['id'],
                    'source_compute': before,
                    'dest_compute': host,
                    'created_at': _moment(24),
                    'updated_at': _moment(24),
                }
            )
        return moves

    def _providers(self) -> Json:
        rows = [
            {
                'uuid': f'dddddddd-0000-4000-8000-{n:012}',
                'root_provider_uuid': f'dddddddd-0000-4000-8000-{n:012}',
                'name': f'{host}.example.org',
            }
            for n, host in enumerate(self.hosts)
        ]
        return {'resource_providers': rows}

    def _candidates(self) -> Json:
        resources = {
            'VCPU': {'capacity': 512, 'used': 80},
            'MEMORY_MB': {'capacity': 1048576, 'used': 163840},
            'DISK_GB': {'capacity': 20000, 'used': 400},
        }
        traits = [f'HW_CPU_X86_{n}' for n in range(40)]
        return {
            'allocation_requests': [],
            'provider_summaries': {
                row['uuid']: {
                    'resources': resources,
                    'traits': ['COMPUTE_NODE', *traits],
                }
                for row in self._providers()['resource_providers']
            },
        }

    def _series(self, query: str) -> list[Json]:
        """An uneven cloud: hosts between 0.2 and 0.8, servers at 0.02."""
        if 'kronos_vm_failed' in query:
            return []
        if query.endswith('_of_server'):
            rows: Iterable[tuple[str, str, float]] = (
                ('uuid', server['id'], 0.02) for server in self._servers
            )
        else:
            rows = (
                ('host', host, 0.2 + 0.6 * (n * 37 % 100) / 100)
                for n, host in enumerate(self.hosts)
            )
        now = time.time()
        return [
            {'metric': {label: name, 'job': 'x'}, 'value': [now, str(value)]}
            for label, name, value in rows
        ]


def _moment(hours: float) -> str:
    """A time so many hours ago."""
    moment = time.gmtime(time.time() - hours * 3600)
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', moment)


def _version(url: str, newest: str) -> Json:
    return {
        'id': 'v2.1' if newest.startswith('2') else 'v1.0',
        'status': 'CURRENT',
        'version': newest,
        'max_version': newest,
        'min_version': '1.0' if newest.startswith('1') else '2.1',
        'links': [{'rel': 'self', 'href': url}],
    }


def handler(cloud: WholeCloud) -> type[http.server.BaseHTTPRequestHandler]:
    """What answers the requests to a cloud."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self) -> None:  # noqa: N802
            url = parse.urlsplit(self.path)
            query = dict(parse.parse_qsl(url.query))
            self._answer(cloud.get(url.path, query, self._base()))

        def do_POST(self) -> None:  # noqa: N802
            size = int(self.headers.get('Content-Length', 0))
            text = self.rfile.read(size).decode()
            self._answer(cloud.post(self.path, text, self._base()))

        def _base(self) -> str:
            return f'http://{self.headers["Host"]}'

        def _answer(self, body: Any) -> None:
            data = body
            if not isinstance(body, bytes):
                text = json.dumps(body or {'error': 'no such thing'})
                data = text.encode()
            self.send_response(404 if body is None else 200)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(data)))
            if re.search('auth/tokens$', self.path):
                self.send_header('X-Subject-Token', 'tok3n-of-the-cloud')
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def configuration(port: int, policies: str) -> str:
    """A kronos.conf for the cloud that listens on a port."""
    return (
        f'[kronos]\npolicies_file = {policies}\n'
        '[kronos_prometheus]\n'
        f'url = http://127.0.0.1:{port}/prometheus\n'
        '[nova]\nauth_type = password\n'
        f'auth_url = http://127.0.0.1:{port}/identity/v3\n'
        'username = kronos\npassword = pa55word-of-kronos\n'
        'user_domain_id = default\nproject_name = service\n'
        'project_domain_id = default\nregion_name = one\n'
    )


@contextlib.contextmanager
def process(*sizes: int) -> Iterator[int]:
    """A process that serves it, until the end of the context.

    :param sizes: hosts, servers, and rows of a page
    :returns: its port
    """
    words = [sys.executable, '-m', __name__, *map(str, sizes)]
    with subprocess.Popen(
        words,
        cwd=places.TOP,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        yield int(child.stdout.readline())


def main() -> None:
    hosts, instances, *page = map(int, sys.argv[1:])
    cloud = WholeCloud(hosts, instances, *page)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler(cloud))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == '__main__':
    main()
