# SPDX-License-Identifier: Apache-2.0
"""Nova, Placement and Prometheus in one small HTTP server.

They speak as much of the real APIs as Kronos uses, from one state: a
migration that completes moves the server, its allocation and its metrics.
Unlike Watcher's own emulators it has migrations that take time, fail, hang
and can be aborted.
"""

import dataclasses
import http
import json
import re
import threading
import time
from urllib import parse

import fixtures
from wsgi_intercept import interceptor

URL = 'http://cloud.example:80'
OVER = ('completed', 'error', 'failed', 'cancelled')
HAPPY = ('accepted', 'queued', 'preparing', 'running', 'completed')
ABORTABLE = ('queued', 'preparing', 'running')


@dataclasses.dataclass
class Server:
    uuid: str
    host: str
    name: str
    cpu: float = 0.1
    memory: float = 0.1
    vcpus: int = 1
    ram: int = 1024
    status: str = 'ACTIVE'
    task_state: str | None = None
    locked: bool = False
    metadata: dict = dataclasses.field(default_factory=dict)
    script: tuple = HAPPY
    """What a migration is at each look; the last one stays."""
    refusal: str = ''
    """Nova's word on why the conductor refuses."""


@dataclasses.dataclass
class Migration:
    id: int
    uuid: str
    request: str
    server: Server
    source: str
    destination: str
    script: list
    began: float
    updated: float
    aborted: bool = False

    @property
    def status(self):
        return self.script[0]

    def row(self):
        refused = self.server.refusal and self.status == 'error'
        return {
            'id': self.id,
            'uuid': self.uuid,
            'instance_uuid': self.server.uuid,
            'status': self.status,
            'migration_type': 'live-migration',
            'source_compute': self.source,
            'dest_compute': None if refused else self.destination,
            'created_at': stamp(self.began),
            'updated_at': stamp(self.updated),
        }


def stamp(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000000', time.gmtime(seconds))


class Answer(Exception):  # noqa: N818
    def __init__(self, status, body=None, headers=()):
        self.status, self.body, self.headers = status, body, dict(headers)


class Cloud(fixtures.Fixture):
    """The cloud; its state may be changed at any time.

    ``down`` holds (method, path prefix) pairs that answer 503, and
    ``calls`` every request as (method, path).
    """

    def __init__(self, hosts, aggregates, servers, capacity=(16, 32768)):
        super().__init__()
        self.hosts = list(hosts)
        self.aggregates = dict(aggregates)
        self.aggregate_metadata = {}
        self.servers = {one.uuid: one for one in servers}
        self.capacity = capacity
        self.services = {
            name: {'state': 'up', 'status': 'enabled', 'reason': None}
            for name in self.hosts
        }
        self.groups = []
        self.migrations = []
        self.down = set()
        self.calls = []
        self.bodies = []
        self.on_look = lambda migration: None
        self.most = {'all': 0, 'out': 0, 'into': 0}
        self._lock = threading.RLock()

    def _setUp(self):
        """Serve in process: requests to this host come to us.

        Watcher's own harness reaches its API in the same way, which takes
        hold of every connection of the process.
        """
        intercept = interceptor.RequestsInterceptor(
            lambda: self.application, url=f'{URL}/'
        )
        intercept.install_intercept()
        self.addCleanup(intercept.uninstall_intercept)
        self.nova_url = f'{URL}/nova/v2.1'
        self.placement_url = f'{URL}/placement'
        self.prometheus_url = f'{URL}/prometheus'

    def application(self, environ, start_response):
        """The WSGI application."""
        length = int(environ.get('CONTENT_LENGTH') or 0)
        raw = environ['wsgi.input'].read(length)
        body = None
        if raw and 'json' in environ.get('CONTENT_TYPE', ''):
            body = json.loads(raw)
        elif raw:
            body = dict(parse.parse_qsl(raw.decode()))
        path = environ['SCRIPT_NAME'] + environ['PATH_INFO']
        query = dict(parse.parse_qsl(environ.get('QUERY_STRING', '')))
        method = environ['REQUEST_METHOD']
        try:
            answer = Answer(200, self.answer(method, path, query, body))
        except Answer as early:
            answer = early
        data = b'' if answer.body is None else json.dumps(answer.body).encode()
        phrase = http.HTTPStatus(answer.status).phrase
        start_response(
            f'{answer.status} {phrase}',
            [
                *answer.headers.items(),
                ('Content-Type', 'application/json'),
                ('Content-Length', str(len(data))),
            ],
        )
        return [data]

    # What all three share

    def answer(self, method, path, query, body):
        with self._lock:
            self.calls.append((method, path))
            if body is not None:
                self.bodies.append(body)
            if any(
                method == verb and path.startswith(prefix)
                for verb, prefix in self.down
            ):
                raise Answer(503, {'error': {'message': 'away for now'}})
            for verb, pattern, function in ROUTES:
                match = re.fullmatch(pattern, path)
                if match and verb == method:
                    return function(self, *match.groups(), q=query, body=body)
            raise Answer(404, {'itemNotFound': {'message': f'no {path}'}})

    def find(self, uuid):
        if uuid not in self.servers:
            raise Answer(
                404, {'itemNotFound': {'message': f'no server {uuid}'}}
            )
        return self.servers[uuid]

    def usage(self, host):
        there = [s for s in self.servers.values() if s.host == host]
        # A migration holds its destination's room from its start.
        there += [m.server for m in self.running() if m.destination == host]
        return {
            'VCPU': sum(s.vcpus for s in there),
            'MEMORY_MB': sum(s.ram for s in there),
        }

    def running(self):
        return [m for m in self.migrations if m.status not in OVER]

    # Nova

    def discovery(self, q, body):
        return {
            'version': {
                'id': 'v2.1',
                'status': 'CURRENT',
                'version': '2.104',
                'min_version': '2.1',
                'updated': '2013-07-23T11:33:21Z',
                'links': [{'rel': 'self', 'href': f'{self.nova_url}/'}],
            }
        }

    def hypervisors(self, q, body):
        rows = [
            {
                'id': f'00000000-0000-0000-0000-{n:012d}',
                'hypervisor_hostname': f'{name}.example.org',
                'hypervisor_type': 'QEMU',
                'state': self.services[name]['state'],
                'status': self.services[name]['status'],
                'service': {'id': str(n), 'host': name},
            }
            for n, name in enumerate(self.hosts)
        ]
        return {'hypervisors': rows}

    def os_services(self, q, body):
        rows = [
            {
                'id': str(n),
                'binary': 'nova-compute',
                'host': name,
                'zone': 'nova',
                'state': self.services[name]['state'],
                'status': self.services[name]['status'],
                'disabled_reason': self.services[name]['reason'],
                'forced_down': False,
            }
            for n, name in enumerate(self.hosts)
            if q.get('host', name) == name
        ]
        return {'services': rows}

    def os_aggregates(self, q, body):
        rows = [
            {
                'id': n,
                'uuid': f'a0000000-0000-0000-0000-{n:012d}',
                'name': name,
                'hosts': hosts,
                'metadata': self.aggregate_metadata.get(name, {}),
                'availability_zone': None,
            }
            for n, (name, hosts) in enumerate(self.aggregates.items(), 1)
        ]
        return {'aggregates': rows}

    def server_list(self, q, body):
        rows = [
            self.server_row(one)
            for one in self.servers.values()
            if q.get('host', one.host) == one.host and 'marker' not in q
        ]
        return {'servers': rows}

    def server_show(self, uuid, q, body):
        return {'server': self.server_row(self.find(uuid))}

    def server_row(self, one):
        return {
            'id': one.uuid,
            'name': one.name,
            'status': 'MIGRATING' if one.task_state else one.status,
            'tenant_id': 'project',
            'metadata': one.metadata,
            'tags': [],
            'image': '',
            'flavor': {
                'vcpus': one.vcpus,
                'ram': one.ram,
                'disk': 0,
                'ephemeral': 0,
                'swap': 0,
                'original_name': 'small',
                'extra_specs': {},
            },
            'locked': one.locked,
            'OS-EXT-SRV-ATTR:host': one.host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': one.host,
            'OS-EXT-SRV-ATTR:instance_name': f'instance-{one.name}',
            'OS-EXT-STS:vm_state': one.status.lower(),
            'OS-EXT-STS:task_state': one.task_state,
            'OS-EXT-STS:power_state': 1,
            'OS-EXT-AZ:availability_zone': 'nova',
            'pinned_availability_zone': None,
        }

    def live_migrate(self, uuid, q, body):
        one = self.find(uuid)
        wanted = body['os-migrateLive']['host']
        if one.task_state or one.status != 'ACTIVE':
            raise Answer(
                409, {'conflictingRequest': {'message': 'wrong state'}}
            )
        if wanted not in self.hosts:
            raise Answer(
                400,
                {
                    'badRequest': {
                        'message': f'Compute host {wanted} could not be found.'
                    }
                },
            )
        number = len(self.migrations) + 1
        migration = Migration(
            id=number,
            uuid=f'b0000000-0000-0000-0000-{number:012d}',
            request=f'req-00000000-0000-0000-0000-{number:012d}',
            server=one,
            source=one.host,
            destination=wanted,
            script=list(one.script),
            began=time.time(),
            updated=time.time(),
        )
        self.migrations.append(migration)
        one.task_state = 'migrating'
        self._count()
        self._reach(migration)
        raise Answer(202, None, {'x-compute-request-id': migration.request})

    def _count(self):
        running = self.running()
        for name, key in (('out', 'source'), ('into', 'destination')):
            ends = [getattr(m, key) for m in running]
            most = max((ends.count(end) for end in ends), default=0)
            self.most[name] = max(self.most[name], most)
        self.most['all'] = max(self.most['all'], len(running))

    def _advance(self, migration):
        self.on_look(migration)
        if len(migration.script) > 1:
            migration.script.pop(0)
            migration.updated = time.time()
        self._reach(migration)

    def _reach(self, migration):
        """Let the server follow its migration's status."""
        if migration.status not in OVER:
            return
        one = migration.server
        if one.task_state == 'migrating':
            one.task_state = None
        if migration.status == 'completed' and one.host == migration.source:
            one.host = migration.destination

    def os_migrations(self, q, body):
        rows = []
        for migration in reversed(self.migrations):
            if migration.server.uuid not in self.servers:
                continue
            if q.get('instance_uuid', migration.server.uuid) != (
                migration.server.uuid
            ):
                continue
            if 'instance_uuid' in q and migration.status not in OVER:
                self._advance(migration)
            if q.get('status', migration.status) != migration.status:
                continue
            if stamp(migration.updated) < q.get('changes-since', ''):
                continue
            rows.append(migration.row())
        return {'migrations': [] if 'marker' in q else rows}

    def server_migrations(self, uuid, q, body):
        return {
            'migrations': [
                {
                    **m.row(),
                    'server_uuid': uuid,
                    'memory_total_bytes': 100,
                    'memory_remaining_bytes': 25,
                }
                for m in self.running()
                if m.server.uuid == uuid
            ]
        }

    def abort(self, uuid, number, q, body):
        migration = self.migrations[int(number) - 1]
        if self.find(uuid).task_state != 'migrating':
            raise Answer(
                409, {'conflictingRequest': {'message': 'not migrating'}}
            )
        if migration.status not in ABORTABLE:
            text = f'Migration {number} state is {migration.status}'
            raise Answer(400, {'badRequest': {'message': text}})
        migration.aborted = True
        migration.script[1:] = ['cancelled']
        raise Answer(202)

    def instance_action(self, uuid, request, q, body):
        self.find(uuid)
        for migration in self.migrations:
            if migration.request == request:
                break
        else:
            raise Answer(404, {'itemNotFound': {'message': 'no action'}})
        events = [
            {
                'event': 'conductor_live_migrate_instance',
                'start_time': stamp(migration.began),
                'finish_time': None,
                'result': 'Success',
                'details': None,
            }
        ]
        if migration.status == 'error':
            events[0]['result'] = 'Error'
            events[0]['details'] = migration.server.refusal
        if migration.status == 'failed':
            events.append(
                {
                    'event': 'compute_live_migration',
                    'start_time': stamp(migration.began + 1),
                    'finish_time': None,
                    'result': 'Error',
                    'details': 'the connection to the host was lost',
                }
            )
        return {
            'instanceAction': {
                'action': 'live-migration',
                'request_id': request,
                'instance_uuid': uuid,
                'events': events,
            }
        }

    def server_groups(self, q, body):
        return {'server_groups': self.groups[int(q.get('offset', 0)) :]}

    # Placement

    def placement(self, q, body):
        return {
            'versions': [
                {
                    'id': 'v1.0',
                    'status': 'CURRENT',
                    'max_version': '1.39',
                    'min_version': '1.0',
                    'links': [{'rel': 'self', 'href': ''}],
                }
            ]
        }

    def providers(self, q, body):
        rows = [
            {
                'uuid': f'00000000-0000-0000-0000-{n:012d}',
                'name': f'{name}.example.org',
                'parent_provider_uuid': None,
                'root_provider_uuid': f'00000000-0000-0000-0000-{n:012d}',
                'generation': 1,
            }
            for n, name in enumerate(self.hosts)
        ]
        return {'resource_providers': rows}

    def candidates(self, q, body):
        summaries = {}
        for n, name in enumerate(self.hosts):
            used = self.usage(name)
            uuid = f'00000000-0000-0000-0000-{n:012d}'
            summaries[uuid] = {
                'parent_provider_uuid': None,
                'root_provider_uuid': uuid,
                'traits': ['COMPUTE_NODE'],
                'resources': {
                    resource: {'capacity': size, 'used': used[resource]}
                    for resource, size in zip(
                        ('VCPU', 'MEMORY_MB'), self.capacity, strict=True
                    )
                },
            }
        return {'allocation_requests': [], 'provider_summaries': summaries}

    # Prometheus: "<what>_<kind>", such as cpu_host and memory_instance

    def query(self, q, body):
        what, kind = (q.get('query') or body['query']).split('_')
        now = time.time()
        if kind == 'host':
            values = dict.fromkeys(self.hosts, 0.0)
            for one in self.servers.values():
                values[one.host] += getattr(one, what)
            rows = [
                {'metric': {'host': name}, 'value': [now, str(min(v, 1.0))]}
                for name, v in values.items()
            ]
        else:
            rows = [
                {
                    'metric': {'instance_name': f'instance-{one.name}'},
                    'value': [now, str(getattr(one, what))],
                }
                for one in self.servers.values()
            ]
        return {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': rows},
        }


NOVA = '/nova/v2.1'
ROUTES = [
    ('GET', f'{NOVA}/?', Cloud.discovery),
    ('GET', f'{NOVA}/os-hypervisors/detail', Cloud.hypervisors),
    ('GET', f'{NOVA}/os-services', Cloud.os_services),
    ('GET', f'{NOVA}/os-aggregates', Cloud.os_aggregates),
    ('GET', f'{NOVA}/servers/detail', Cloud.server_list),
    ('GET', f'{NOVA}/servers/([^/]+)', Cloud.server_show),
    ('POST', f'{NOVA}/servers/([^/]+)/action', Cloud.live_migrate),
    ('GET', f'{NOVA}/os-migrations', Cloud.os_migrations),
    ('GET', f'{NOVA}/servers/([^/]+)/migrations', Cloud.server_migrations),
    ('DELETE', f'{NOVA}/servers/([^/]+)/migrations/([^/]+)', Cloud.abort),
    (
        'GET',
        f'{NOVA}/servers/([^/]+)/os-instance-actions/([^/]+)',
        Cloud.instance_action,
    ),
    ('GET', f'{NOVA}/os-server-groups', Cloud.server_groups),
    ('GET', '/placement/?', Cloud.placement),
    ('GET', '/placement/resource_providers', Cloud.providers),
    ('GET', '/placement/allocation_candidates', Cloud.candidates),
    ('GET', '/prometheus/api/v1/query', Cloud.query),
    ('POST', '/prometheus/api/v1/query', Cloud.query),
]
