# SPDX-License-Identifier: Apache-2.0
"""The part of Neutron that a Nova without networks needs: empty lists.

Nova asks for extensions before each live migration and for ports in each
delete; no server of the lab has a port.
"""

import http.server
import json
import sys


class EmptyNetwork(http.server.BaseHTTPRequestHandler):
    """Answers every listing with nothing."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        collection = self.path.split('?')[0].rstrip('/').rpartition('/')[2]
        collection = collection.removesuffix('.json')
        body = json.dumps({collection.replace('-', '_'): []}).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """No line per request."""


def main() -> None:
    address = ('127.0.0.1', int(sys.argv[1]))
    http.server.ThreadingHTTPServer(address, EmptyNetwork).serve_forever()


if __name__ == '__main__':
    main()
