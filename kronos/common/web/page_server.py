# SPDX-License-Identifier: Apache-2.0
"""The server of a page of metrics: HTTP, or HTTPS where it has a certificate.

The instance monitor and the exporter serve their metrics by it.
"""

import ssl
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.common import plain_files
from kronos.common.web import http_server

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Address:
    """Where the metrics are served; '' for no file."""

    host: str
    port: int
    certfile: str = ''
    keyfile: str = ''
    client_cafile: str = ''

    @property
    def files(self) -> tuple[str, str, str]:
        return self.certfile, self.keyfile, self.client_cafile


class PageServer:
    """Serves a WSGI application, by the certificate as it is now.

    :raises OSError: the address is taken, or a file is no good
    """

    def __init__(self, address: Address, application: Any) -> None:
        self._address = address
        self._versions = plain_files.versions(*address.files)
        self._server = http_server.HttpServer(
            address.host, address.port, application, _context(address)
        )

    @property
    def port(self) -> int:
        return self._server.port

    def refresh(self) -> None:
        """Take a rotated certificate; who is connected keeps the old one."""
        versions = plain_files.versions(*self._address.files)
        if versions == self._versions:
            return
        self._versions = versions
        try:
            self._server.context = _context(self._address)
        except OSError as error:
            LOG.error(
                'The metrics are served with the old certificate: %s: %s',
                self._address.certfile,
                getattr(error, 'strerror', None) or error,
            )

    def close(self) -> None:
        self._server.close()


def _context(address: Address) -> ssl.SSLContext | None:
    """The certificate, and whose certificates clients need.

    :raises OSError: a file cannot be read, or holds something else
    """
    if not address.certfile:
        return None
    plain_files.require(*address.files)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # A password would be asked for on the terminal.
    context.load_cert_chain(
        address.certfile, address.keyfile or None, password=lambda: ''
    )
    if address.client_cafile:
        context.load_verify_locations(address.client_cafile)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
