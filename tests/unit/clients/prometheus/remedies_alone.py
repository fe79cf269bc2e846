# SPDX-License-Identifier: Apache-2.0
"""Is it seen on a socket what is wrong with the address of Prometheus?"""

import http.server
import socket
import threading
from typing import Any

from oslotest import base

from kronos.clients import transport
from kronos.clients.prometheus import client, remedies


class Page(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        body = b'{"status": "success", "data": {}}'
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


class TestConnections(base.BaseTestCase):
    def remedy(self, url: str, **options: Any) -> str:
        session = transport.Session()
        session.trust_env = False
        self.addCleanup(session.close)
        for name, value in options.items():
            setattr(session, name, value)
        reading = client.PrometheusClient(
            url, session, max_retries=0, timeout=20
        ).instant_query('up')
        self.assertNotEqual('', reading.error)
        return reading.remedy

    def serve(self) -> int:
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Page)
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return int(server.server_port)

    def test_https_to_a_port_of_http(self) -> None:
        result = self.remedy(f'https://127.0.0.1:{self.serve()}')
        self.assertEqual(remedies.HTTP, result)

    def test_nothing_listens(self) -> None:
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
            result = self.remedy(f'http://127.0.0.1:{port}')
        self.assertEqual(remedies.LISTENING, result)

    def test_a_proxy_that_is_none(self) -> None:
        proxies = {'http': 'http://127.0.0.1:1'}
        result = self.remedy('http://p.example.org', proxies=proxies)
        self.assertEqual(remedies.PROXY, result)
