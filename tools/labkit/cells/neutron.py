# SPDX-License-Identifier: Apache-2.0
"""The part of Neutron that takes a server's ports to another cell.

Ports of one network, with a binding for each host (``binding-extended``).
Whatever else is asked for is an empty list. The rules of migrations.json
hold here for the phase ``binding``; by uuid, since a port does not tell the
name of its server.
"""

import http.server
import json
import pathlib
import sys
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any

from labkit import faults
from labkit.cells import network

PREFIX = 'v2.0'
TICK = 0.25
IGNORED = {'fields', 'limit', 'marker', 'sort_key', 'sort_dir', 'page_reverse'}


@dataclass(frozen=True)
class Bound:
    """A server as its port knows it."""

    uuid: str
    display_name: str = ''


class Refused(Exception):
    """A request that has no answer but an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for all of Neutron."""

    protocol_version = 'HTTP/1.1'
    ports: network.Ports

    def _answer(self) -> None:
        size = int(self.headers.get('Content-Length') or 0)
        text = self.rfile.read(size)
        url = urllib.parse.urlsplit(self.path)
        words = [one for one in url.path.split('/') if one and one != PREFIX]
        if words:
            words[-1] = words[-1].removesuffix('.json')
        filters = urllib.parse.parse_qs(url.query)
        try:
            asked = json.loads(text) if text else {}
            status, body = self._do(words, filters, asked)
        except network.NotThere as error:
            status, body = 404, _error('PortNotFound', error)
        except network.Conflict as error:
            status, body = 409, _error('PortBindingAlreadyActive', error)
        except Refused as error:
            status, body = error.status, _error('LabFault', error)
        self._give(status, body)

    do_GET = do_POST = do_PUT = do_DELETE = _answer

    def _do(
        self, words: list[str], filters: dict[str, list[str]], asked: Any
    ) -> tuple[int, Any]:
        if not words:
            return 200, _versions(self.headers.get('Host', ''))
        if words[0] == 'ports':
            if words[2:3] == ['bindings']:
                return self._bindings(words[1], words[3:], asked)
            if words[1:] or self.command != 'GET':
                return self._port(words[1:], asked)
            return 200, {'ports': _chosen(self.ports.listed(), filters)}
        if self.command != 'GET':
            raise Refused(501, f'{self.command} {self.path}')
        if words[0] == 'quotas':
            return 200, {'quota': {'port': -1, 'network': -1}}
        kind = words[0].replace('-', '_')
        rows = network.static(kind, self._project(filters))
        if words[1:]:
            rows = [row for row in rows if row.get('id') == words[1]]
            if not rows:
                raise Refused(404, f'there is no {self.path}')
            return 200, {kind.removesuffix('s'): rows[0]}
        return 200, {kind: _chosen(rows, filters)}

    def _port(self, words: list[str], asked: Any) -> tuple[int, Any]:
        if self.command == 'POST':
            wanted = asked['port']
            project = wanted.get('tenant_id') or wanted.get('project_id')
            return 201, {'port': self.ports.create(wanted, project or '')}
        [name] = words
        if self.command == 'PUT':
            return 200, {'port': self.ports.update(name, asked['port'])}
        if self.command == 'DELETE':
            self.ports.delete(name)
            return 204, None
        return 200, {'port': self.ports.shown(name)}

    def _bindings(
        self, name: str, words: list[str], asked: Any
    ) -> tuple[int, Any]:
        if self.command == 'POST':
            self._let_go_wrong(name, asked['binding']['host'])
            return 201, {'binding': self.ports.bind(name, asked['binding'])}
        if not words:
            return 200, {'bindings': self.ports.bindings(name)}
        if self.command == 'PUT' and words[1:] == ['activate']:
            return 200, {'binding': self.ports.activate(name, words[0])}
        if self.command == 'DELETE':
            self.ports.unbind(name, words[0])
            return 204, None
        return 200, {'binding': self.ports.binding(name, words[0])}

    def _let_go_wrong(self, name: str, host: str) -> None:
        """Take the time that the rule says, and fail if it says so."""
        port = self.ports.shown(name)
        begin = time.monotonic()
        while True:
            server = Bound(port['device_id'])
            rule = faults.rule_for(server, port[network.HOST], host)
            seconds = rule.get('binding_seconds', 0)
            passed = time.monotonic() - begin
            if seconds is not None and passed >= seconds:
                break
            time.sleep(TICK)
        if rule.get('fail') == 'binding':
            raise Refused(500, faults.BROKEN.format('binding'))

    @staticmethod
    def _project(filters: dict[str, list[str]]) -> str:
        given = filters.get('tenant_id') or filters.get('project_id') or ['']
        return given[0]

    def _give(self, status: int, body: Any) -> None:
        content = b'' if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """No line per request."""


def _chosen(
    rows: list[network.Row], filters: dict[str, list[str]]
) -> list[network.Row]:
    """The rows that all filters let through."""
    wanted = {k: v for k, v in filters.items() if k not in IGNORED}
    return [
        row
        for row in rows
        if all(_fits(row, key, values) for key, values in wanted.items())
    ]


def _fits(row: network.Row, key: str, values: list[str]) -> bool:
    if key not in row:
        return True
    return str(row[key]) in values or (
        isinstance(row[key], bool) and str(row[key]).lower() in values
    )


def _error(kind: str, error: Exception) -> Any:
    told = {'type': kind, 'message': str(error), 'detail': ''}
    return {'NeutronError': told}


def _versions(host: str) -> Any:
    links = [{'rel': 'self', 'href': f'http://{host}/{PREFIX}/'}]
    return {
        'versions': [{'id': PREFIX, 'status': 'CURRENT', 'links': links}],
        'resources': [],
    }


def main() -> None:
    """Serve at a port; a file to keep the ports in may follow."""
    Handler.ports = network.Ports(*map(pathlib.Path, sys.argv[2:]))
    address = ('127.0.0.1', int(sys.argv[1]))
    server = http.server.ThreadingHTTPServer(address, Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
