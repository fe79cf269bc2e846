# SPDX-License-Identifier: Apache-2.0
"""A Prometheus that answers nonsense, or not at all, when it is told to.

Asked by GET it is an Aetos, which may refuse the token.
"""

import http.server
import json
import threading
import urllib.error
import urllib.request
from typing import Any

UNAUTHORIZED = 'unauthorized'
TROUBLES = ('NaN', '1e308', 'twice', 'HTML', 'silent', 'broken')


class Troubled(http.server.ThreadingHTTPServer):
    """Stands before the lab's Prometheus; it is a context, too.

    :param url: of that
    """

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(('127.0.0.1', 0), _Handler)
        self.behind = url
        self.trouble = ''
        """One of ``TROUBLES``, or '' for none."""
        self.asked: list[str] = []
        """The trouble of each query."""
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self.server_address[1]}'

    def end(self) -> None:
        self.over.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Troubled

    def do_GET(self) -> None:
        self.server.asked.append(self.server.trouble)
        if self.server.trouble == UNAUTHORIZED:
            self._answer(401, b'{}')
            return
        url = self.server.behind + self.path
        with urllib.request.urlopen(url, timeout=10) as answer:
            self._answer(200, answer.read())

    def do_POST(self) -> None:
        size = int(self.headers.get('Content-Length', 0))
        body = self.rfile.read(size)
        trouble = self.server.trouble
        self.server.asked.append(trouble)
        if trouble == 'silent':
            # Until the end: who asks has to give up.
            self.server.over.wait()
        elif trouble == 'broken':
            self._answer(503, b'{"status": "error"}')
        elif trouble == 'HTML':
            self._answer(200, b'<html>Welcome</html>', 'text/html')
        else:
            self._pass_on(trouble, body)

    def _pass_on(self, trouble: str, body: bytes) -> None:
        try:
            self._answer(200, self._spoiled(trouble, self._ask(body)))
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read())
        except OSError:
            self._answer(502, b'nobody behind it')

    def _ask(self, body: bytes) -> Any:
        request = urllib.request.Request(
            self.server.behind + self.path,
            body,
            {'Content-Type': self.headers['Content-Type']},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    @staticmethod
    def _spoiled(trouble: str, answer: Any) -> bytes:
        series = answer['data']['result']
        if trouble == 'twice':
            answer['data']['result'] = [
                {**one, 'metric': {**one['metric'], 'copy': copy}}
                for one in series
                for copy in ('1', '2')
            ]
        elif trouble:
            for one in series:
                one['value'][1] = trouble
        return json.dumps(answer).encode()

    def _answer(
        self, status: int, body: bytes, kind: str = 'application/json'
    ) -> None:
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: stderr is the test's."""
