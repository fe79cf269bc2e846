# SPDX-License-Identifier: Apache-2.0
"""A Prometheus of our own: a program, since eventlet would stop a thread.

It prints its port. A PUT tells it what to answer; a GET asks it how often
it was asked, and from which ports.
"""

import http.server
import json
import threading
import time
from typing import ClassVar


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    state: ClassVar = {'loads': [], 'status': 200, 'body': '', 'mute': False}
    seen: ClassVar = {'asked': 0, 'callers': set()}

    def do_PUT(self):
        self.state.update(json.loads(self._read()))
        self._send(200, '')

    def do_GET(self):
        seen = {**self.seen, 'callers': sorted(self.seen['callers'])}
        self._send(200, json.dumps(seen))

    def do_POST(self):
        self._read()
        self.seen['callers'].add(self.client_address[1])
        self.seen['asked'] += 1
        if self.state['mute']:
            threading.Event().wait()
        self._send(self.state['status'], self.state['body'] or self._vector())

    def _vector(self):
        result = [
            {
                'metric': {'host': host, 'nth': str(nth)},
                'value': [time.time(), str(value)],
            }
            for nth, (host, value) in enumerate(self.state['loads'])
        ]
        data = {'resultType': 'vector', 'result': result}
        return json.dumps({'status': 'success', 'data': data})

    def _read(self):
        return self.rfile.read(int(self.headers['Content-Length']))

    def _send(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        """Say nothing."""


def main():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
