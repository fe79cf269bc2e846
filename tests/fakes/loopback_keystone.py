# SPDX-License-Identifier: Apache-2.0
"""A Keystone on loopback that changes its mind.

A program, since eventlet would stop a thread. It prints its port; then each
line that it reads is its mood from now on, and each that it prints is what it
was asked since the last one.
"""

import http.server
import json
import subprocess
import sys
import threading
from typing import Any, ClassVar

import fixtures
from keystoneauth1 import fixture as ks_fixture

ELSEWHERE = 'http://127.0.0.2:9/v3'
MOODS: dict[str, dict[str, Any]] = {
    '401': {'status': 401, 'body': '{"error": {"code": 401}}'},
    '302': {'status': 302, 'location': ELSEWHERE},
    '503': {'status': 503, 'body': 'no server is available'},
    'HTML': {'status': 200, 'body': '<html><h1>It works!</h1></html>'},
    'silence': {'mute': True},
}
"""In which no command and no service can log in."""
LONG = 30.0
"""Seconds for which a login waits where an answer comes."""
SHORT = 1.0
"""Where none comes."""
_USER = {
    'username': 'kronos',
    'password': 's3cret',
    'user_domain_id': 'default',
    'project_name': 'service',
    'project_domain_id': 'default',
}


def limit_of(mood: str) -> float:
    """Seconds for which a login waits; on a busy machine, too, enough."""
    return SHORT if MOODS.get(mood, {}).get('mute') else LONG


class Keystone(fixtures.Fixture):
    """``auth`` holds the options of the generic plugin ``password``.

    :param endpoints: service type to address
    """

    def __init__(self, endpoints: dict[str, str]) -> None:
        super().__init__()
        self._endpoints = endpoints

    def _setUp(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self._stop)
        assert self._process.stdout is not None
        port = self._process.stdout.readline().strip()
        self.url = f'http://127.0.0.1:{port}'
        self.auth_url = f'{self.url}/v3'
        self.auth = {**_USER, 'auth_url': self.auth_url}
        token = ks_fixture.V3Token(user_name='kronos')
        token.set_project_scope(name='service')
        token.add_role(name='admin')
        for kind, address in self._endpoints.items():
            service = token.add_service(kind)
            service.add_standard_endpoints(public=address, region='one')
        self._tell({'token': token})

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def be(self, mood: str) -> list[str]:
        """Have a mood of :data:`MOODS`; '': be well again.

        :returns: method and path of each request before
        """
        return self._tell({'mood': MOODS.get(mood, {})})

    def _tell(self, state: dict[str, Any]) -> list[str]:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(state) + '\n')
        process.stdin.flush()
        requests: list[str] = json.loads(process.stdout.readline())
        return requests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    state: ClassVar[dict[str, Any]] = {'mood': {}, 'token': {}}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        self.asked.append(f'{self.command} {self.path}')
        mood = self.state['mood']
        if mood.get('mute'):
            threading.Event().wait()
        if not mood:
            mood = {'status': 200, 'body': json.dumps(self._body())}
        self.send_response(mood['status'])
        if 'location' in mood:
            self.send_header('Location', mood['location'])
        body = mood.get('body', '').encode()
        self.send_header('X-Subject-Token', 'a-token')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def _body(self) -> Any:
        if self.path.endswith('/tokens'):
            return self.state['token']
        links = [{'rel': 'self', 'href': '/v3/'}]
        version = {'id': 'v3.14', 'status': 'stable', 'links': links}
        return {'version': version}

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    for line in sys.stdin:
        Handler.state.update(json.loads(line))
        print(json.dumps(Handler.asked), flush=True)
        Handler.asked.clear()


if __name__ == '__main__':
    main()
