# SPDX-License-Identifier: Apache-2.0
"""A Watcher on loopback that acts out a script, for clients of their own.

A program: its argument is the script as JSON. It prints its port, and then a
line for each request before it answers it.
"""

import http.server
import json
import pathlib
import queue
import subprocess
import sys
import threading
from typing import IO, Any, ClassVar

import fixtures

if __name__ == '__main__':
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from tests.fakes import watcher_script

LIMIT_SECONDS = 120.0
"""In which a request arrives, however busy the machine is."""


class LoopbackWatcher(fixtures.Fixture):
    """``url`` is its address.

    :param script: what happens
    """

    def __init__(self, script: watcher_script.Script) -> None:
        super().__init__()
        self._script = script
        self.requests: list[str] = []
        """Those that :meth:`await_request` has seen."""

    def _setUp(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, json.dumps(vars(self._script))],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        assert self._process.stdout is not None
        self.url = (
            f'http://127.0.0.1:{self._process.stdout.readline().strip()}'
        )
        reader = threading.Thread(
            target=self._read, args=[self._process.stdout], daemon=True
        )
        reader.start()
        self.addCleanup(reader.join, LIMIT_SECONDS)
        self.addCleanup(self._process.wait)
        self.addCleanup(self._process.kill)

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line.strip())

    def await_request(self, expected: str, count: int = 1) -> None:
        """Wait until it has come so many times, counted from the last call.

        :raises queue.Empty: it does not come
        """
        while count:
            line = self._lines.get(timeout=LIMIT_SECONDS)
            self.requests.append(line)
            count -= line == expected


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    watcher: ClassVar[watcher_script.WatcherScript]
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_GET(self) -> None:
        length = int(self.headers.get('Content-Length') or 0)
        body = json.loads(self.rfile.read(length) or b'null')
        with self.lock:
            status, document = self.watcher.answer(
                self.command, self.path, body
            )
            print(self.watcher.requests[-1], flush=True)
        answer = json.dumps(document).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PATCH = do_GET

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    script = watcher_script.Script(**json.loads(sys.argv[1]))
    Handler.watcher = watcher_script.WatcherScript(script)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
