# SPDX-License-Identifier: Apache-2.0
"""The health check of the proxy: whether a node is like the others.

    python -m labkit.ha.clustercheck NODE_PORT:CHECK_PORT ...

Answers 200 if it is, else 503, and says how the node sees itself. Each node
has a connection that is kept: to log in at each look costs more than to ask.
"""

import contextlib
import http.server
import sys
import threading
from typing import Any

import pymysql

from labkit.ha import galera

LOOK_SECONDS = 2
"""A node that says nothing so long is not to be used."""


class Look:
    """The question to one node, over the connection that is kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._link: Any = None

    def __call__(self) -> dict[str, str]:
        try:
            if self._link is None:
                self._link = pymysql.connect(
                    host='127.0.0.1',
                    port=self._port,
                    user='root',
                    connect_timeout=LOOK_SECONDS,
                    read_timeout=LOOK_SECONDS,
                )
            with self._link.cursor() as cursor:
                return galera.read_state(cursor)
        except (OSError, pymysql.Error):
            self._forget()
            return {}

    def _forget(self) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError, pymysql.Error):
                self._link.close()
        self._link = None


def serve(port: int, look: Look) -> http.server.HTTPServer:
    """Answer for one node."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state = look()
            body = ' '.join([*state.values(), '']).encode()
            # The proxy does not wait for a node that says nothing.
            with contextlib.suppress(ConnectionError):
                self.send_response(200 if galera.is_synced(state) else 503)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_request(self, *arguments: object) -> None:
            pass

    return http.server.HTTPServer(('127.0.0.1', port), Handler)


def main(pairs: list[str]) -> None:
    """Answer for all nodes, each in a thread of its own."""
    for pair in pairs:
        node, port = map(int, pair.split(':'))
        server = serve(port, Look(node))
        threading.Thread(target=server.serve_forever).start()


if __name__ == '__main__':
    main(sys.argv[1:])
