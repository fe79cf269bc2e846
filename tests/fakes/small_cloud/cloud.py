# SPDX-License-Identifier: Apache-2.0
"""Nova, Placement and Prometheus in one small HTTP server.

They speak as much of the real APIs as Kronos uses, from one state: a
migration that completes moves the server, its allocation and its metrics.
Unlike Watcher's own emulators it has migrations that take time, fail, hang
and can be aborted.
"""

import collections
import http.client
import json
import re
import threading
import time
from urllib import parse

import fixtures
from urllib3 import connectionpool
from urllib3 import exceptions as urllib3_exceptions
from wsgi_intercept import interceptor

from kronos.clients import transport
from kronos.extensions.recovery import conf as recovery_conf
from tests.fakes.small_cloud import nova, placement
from tests.fakes.small_cloud.state import Answer, Migration, Server

__all__ = ['REFUSED', 'RESET', 'URL', 'Answer', 'Cloud', 'Migration', 'Server']

URL = 'http://cloud.example:80'
# wsgi_intercept breaks connections before a response has it. Python 3.13 tells
# on stderr, whoever reads that then, what fails when one is collected.
http.client.HTTPResponse.fp = None
RESET = 'reset'
REFUSED = 'refused'
PHRASES = {status.value: status.phrase for status in http.HTTPStatus}


class Broken(Exception):
    """There is no answer at all; the argument says why."""


class Cloud(nova.Nova, placement.Placement, fixtures.Fixture):
    """The cloud; its state may be changed at any time.

    Faults, by (method, path prefix); a path that begins so is concerned:

    - ``down``: a set; they answer 503
    - ``answers``: what the next requests get instead of being done
    - ``lost``: what the next requests get although they were done

    The latter two map to lists that are used up: of a status, (status,
    headers), ``RESET`` (the connection breaks), ``REFUSED`` (there is none)
    or None (nothing is wrong this time).

    ``calls`` holds every request as (method, path), ``leftovers`` what
    Placement has besides: resources by host by consumer, ``capacities``
    (VCPUs, MiB) of single hosts, ``unmeasured`` uuids of servers of which
    Prometheus has no samples, ``faulty`` values of the metric ``faulty`` by
    its label ``host``, which is the only one, ``versions`` of
    hypervisors that are not 8.2.0, ``failed`` the kinds of failure
    of servers, as kronos-instance-monitor tells them, ``dirty`` values of the
    metric ``dirty`` by its label ``uuid``, ``beside_data`` what answers of
    Prometheus have beside ``data``.
    """

    def __init__(self, hosts, aggregates, servers, capacity=(16, 32768)):
        super().__init__()
        self.hosts = list(hosts)
        self.aggregates = dict(aggregates)
        self.aggregate_metadata = {}
        self.servers = {server.uuid: server for server in servers}
        self.deleted = {}
        self.versions = {}
        self.capacity = capacity
        self.services = {
            name: {'state': 'up', 'status': 'enabled', 'reason': None}
            for name in self.hosts
        }
        self.groups = []
        self.flavors = {'small': (1, 1024), 'large': (2, 4096)}
        self.shared = set()
        self.migrations = []
        self.cold_migrations = []
        self.aborts = []
        self.permits_post_copy = False
        self.leftovers = {}
        self.swapped = {}
        self.capacities = {}
        self.unmeasured = set()
        self.faulty = {}
        self.failed = {}
        self.dirty = {}
        self.beside_data = {}
        self.requests = 0
        self.on_step = lambda server, name: None
        self.down = set()
        self.answers = {}
        self.lost = {}
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
        # What takes hold of the pools of urllib3 misses those of Kronos.
        taken = connectionpool.HTTPConnectionPool.ConnectionCls
        self.useFixture(
            fixtures.MockPatchObject(transport._Pool, 'ConnectionCls', taken)
        )
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
        except Broken as broken:
            return _breaking(*broken.args)
        data = b'' if answer.body is None else json.dumps(answer.body).encode()
        phrase = PHRASES.get(answer.status, 'Odd')
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
            _fail(self.answers, method, path)
            try:
                return self._done(method, path, query, body)
            finally:
                _fail(self.lost, method, path)

    def _done(self, method, path, query, body):
        return self.route(ROUTES, method, path, query, body)

    def route(self, routes, method, path, query, body):
        for verb, pattern, function in routes:
            match = re.fullmatch(pattern, path)
            if match and verb == method:
                return function(self, *match.groups(), q=query, body=body)
        raise Answer(404, {'itemNotFound': {'message': f'no {path}'}})

    # Prometheus: "<what>_<kind>", such as cpu_host and memory_instance

    def query(self, q, body):
        text = q.get('query') or body['query']
        what, _, kind = text.partition('_')
        now = time.time()
        if text == recovery_conf.HOST_FAULT_QUERY:
            rows = self._hosts_at_fault(now)
        elif text == recovery_conf.SERVER_FAULT_QUERY:
            rows = [
                {
                    'metric': {
                        'host': self.servers[uuid].host,
                        'instance_uuid': uuid,
                        'kind': failure,
                    },
                    'value': [now, f'{now:.3f}'],
                }
                for uuid, failure in self.failed.items()
            ]
        elif what == 'faulty':
            rows = [
                {'metric': {'host': name}, 'value': [now, str(value)]}
                for name, value in self.faulty.items()
            ]
        elif what == 'dirty':
            rows = [
                {'metric': {'uuid': uuid}, 'value': [now, str(value)]}
                for uuid, value in self.dirty.items()
            ]
        elif kind == 'host':
            values = dict.fromkeys(self.hosts, 0.0)
            for server in self.servers.values():
                values[server.host] += getattr(server, what)
            rows = [
                {'metric': {'host': name}, 'value': [now, str(min(v, 1.0))]}
                for name, v in values.items()
            ]
        else:
            rows = [
                {
                    'metric': {'instance_name': f'instance-{server.name}'},
                    'value': [now, str(getattr(server, what))],
                }
                for server in self.servers.values()
                if server.uuid not in self.unmeasured
            ]
        return {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': rows},
            **self.beside_data,
        }

    def _hosts_at_fault(self, now):
        """As the default query says: two I/O errors or more."""
        counts = collections.Counter(
            self.servers[uuid].host
            for uuid, kind in self.failed.items()
            if kind == 'io_error'
        )
        return [
            {'metric': {'host': host}, 'value': [now, str(count)]}
            for host, count in counts.items()
            if count >= 2
        ]


def _fail(faults, method, path):
    """Use up the next fault that is meant for a request, if any."""
    for (verb, prefix), queue in faults.items():
        if verb == method and path.startswith(prefix) and queue:
            fault = queue.pop(0)
            break
    else:
        return
    if fault is None:
        return
    if fault in (RESET, REFUSED):
        raise Broken(fault)
    status, headers = fault if isinstance(fault, tuple) else (fault, {})
    body = {'error': {'message': 'away for now'}} if status >= 400 else None
    raise Answer(status, body, headers)


def _breaking(how):
    """The body of an answer of which not even the start arrives."""
    if how == REFUSED:
        raise urllib3_exceptions.NewConnectionError(None, 'refused')
    raise ConnectionResetError(104, 'Connection reset by peer')
    yield


ROUTES = [
    *nova.ROUTES,
    *placement.ROUTES,
    ('GET', '/prometheus/api/v1/query', Cloud.query),
    ('POST', '/prometheus/api/v1/query', Cloud.query),
]
