# SPDX-License-Identifier: Apache-2.0
"""The faults of a connection: why it was not made, or broke off.

Whoever knows what was asked, and which options say how, has a remedy for each.
"""

import http.client
import socket
import ssl
from enum import StrEnum

import requests
from keystoneauth1 import exceptions as ks_exceptions

from kronos.clients import transport


class ConnectionFault(StrEnum):
    NAME = 'name'
    """DNS does not know the host."""
    REFUSED = 'refused'
    """Nothing listens, or what does hangs up."""
    SILENT = 'silent'
    """No answer in time."""
    HTTP = 'http'
    """It was asked by TLS, and speaks HTTP."""
    HTTPS = 'https'
    """It was asked by HTTP, and speaks something else."""
    CA = 'ca'
    """Its certificate is signed by a CA that is not trusted."""
    EXPIRED = 'expired'
    """Its certificate is not valid now."""
    OTHER_NAME = 'other name'
    """Its certificate is for another host."""
    CLIENT_CERTIFICATE = 'client certificate'
    """It refuses ours, or wants one."""


_TLS = (
    ('WRONG_VERSION_NUMBER', ConnectionFault.HTTP),
    ('HTTP_REQUEST', ConnectionFault.HTTP),
    ('UNKNOWN_PROTOCOL', ConnectionFault.HTTP),
    ('RECORD_LAYER_FAILURE', ConnectionFault.HTTP),
    ('CERTIFICATE_REQUIRED', ConnectionFault.CLIENT_CERTIFICATE),
    ('HANDSHAKE_FAILURE', ConnectionFault.CLIENT_CERTIFICATE),
    ('BAD_CERTIFICATE', ConnectionFault.CLIENT_CERTIFICATE),
    ('CERTIFICATE_EXPIRED', ConnectionFault.CLIENT_CERTIFICATE),
    ('UNKNOWN_CA', ConnectionFault.CLIENT_CERTIFICATE),
    ('UNEXPECTED_EOF', ConnectionFault.REFUSED),
)
"""Part of a reason of OpenSSL, with what it comes of."""
_CERTIFICATES = {
    9: ConnectionFault.EXPIRED,
    10: ConnectionFault.EXPIRED,
    62: ConnectionFault.OTHER_NAME,
    64: ConnectionFault.OTHER_NAME,
}
"""OpenSSL's codes of a certificate that is not taken; others are the CA's."""
_KINDS: tuple[tuple[type[BaseException], ConnectionFault], ...] = (
    (socket.gaierror, ConnectionFault.NAME),
    (ConnectionRefusedError, ConnectionFault.REFUSED),
    (requests.Timeout, ConnectionFault.SILENT),
    (TimeoutError, ConnectionFault.SILENT),
    (ks_exceptions.ConnectTimeout, ConnectionFault.SILENT),
    (http.client.RemoteDisconnected, ConnectionFault.REFUSED),
    (http.client.BadStatusLine, ConnectionFault.HTTPS),
    (ks_exceptions.ConnectionError, ConnectionFault.REFUSED),
    (requests.ConnectionError, ConnectionFault.REFUSED),
)


def of(error: BaseException) -> ConnectionFault | None:
    """The fault that an error came of; None if it is of no connection."""
    causes = transport.causes(error)
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return _of_tls(cause)
    for kind, fault in _KINDS:
        if any(isinstance(cause, kind) for cause in causes):
            return fault
    return None


def status_of_keystone(error: BaseException) -> int | None:
    """The status with which Keystone refused a token, if it did.

    Of a service the clients raise errors of their own.
    """
    for cause in transport.causes(error):
        if isinstance(cause, ks_exceptions.HttpError):
            return int(cause.http_status)
    return None


def is_of_catalog(error: BaseException) -> bool:
    """Whether the catalog of Keystone has no endpoint of the service."""
    kinds = (ks_exceptions.CatalogException, ks_exceptions.EndpointNotFound)
    return 'catalog' in str(error) or any(
        isinstance(cause, kinds) for cause in transport.causes(error)
    )


def _of_tls(error: ssl.SSLError) -> ConnectionFault:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(error.verify_code, ConnectionFault.CA)
    reason = getattr(error, 'reason', None) or ''
    if isinstance(error, ssl.SSLEOFError) and not reason:
        # By TLS 1.3 it hangs up while we write: it had no certificate of us.
        return ConnectionFault.CLIENT_CERTIFICATE
    faults = (fault for part, fault in _TLS if part in reason)
    return next(faults, ConnectionFault.CA)
