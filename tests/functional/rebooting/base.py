# SPDX-License-Identifier: Apache-2.0
"""What the tests of rebooting share: a host, and a Prometheus."""

import http.server
import json
import os
import pathlib
import threading
from typing import Any
from urllib import parse

import fixtures
from oslotest import base

from tests import places

EXAMPLES = places.TOP / 'examples'
NODE = os.uname().nodename


class Prometheus:
    """Answers one query after the other: a status and a number of series."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.answers: list[tuple[int, int]] = []
        """The last one stays."""
        prometheus = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                prometheus.answer(self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), Handler
        )
        self.url = f'http://127.0.0.1:{self._server.server_port}'
        threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        ).start()

    def answer(self, request: Any) -> None:
        fields = parse.parse_qs(parse.urlsplit(request.path).query)
        self.queries += fields['query']
        status, number = self.answers[0]
        if len(self.answers) > 1:
            del self.answers[0]
        row = {'metric': {'host': NODE}, 'value': [0, '1']}
        body = {
            'status': 'success' if status == 200 else 'error',
            'data': {'resultType': 'vector', 'result': [row] * number},
        }
        # As compact as Prometheus writes it.
        data = json.dumps(body, separators=(',', ':')).encode()
        request.send_response(status)
        request.send_header('Content-Type', 'application/json')
        request.send_header('Content-Length', str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class RebootingTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.required = self.folder / 'reboot-required'
        self.required.touch()

    def prometheus(self, *answers: tuple[int, int]) -> Prometheus:
        source = Prometheus()
        source.answers = [*answers]
        self.addCleanup(source.close)
        return source
