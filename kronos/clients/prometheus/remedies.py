# SPDX-License-Identifier: Apache-2.0
"""The remedies of a connection to Prometheus, by how it fails.

What a query alone is refused for has none here: its policy is to be corrected.
"""

import re
import ssl
from urllib import parse

import requests

from kronos.clients import connection_faults, transport
from kronos.clients.connection_faults import ConnectionFault
from kronos.common import exceptions

GROUP = 'kronos_prometheus'
ADDRESS = (
    f'set [{GROUP}] url to the address of Prometheus itself, with its prefix '
    'if it has one, without /graph and /api/v1'
)
LOGIN = (
    f'set username and password, or bearer_token_file, in [{GROUP}] to '
    'credentials that Prometheus, or the proxy in front of it, accepts'
)
TENANT = f'set [{GROUP}] headers = X-Scope-OrgID: TENANT'
BEHIND = (
    'check in the log of Prometheus, or of the proxy at this address, why it '
    'does not answer'
)
LIMITED = (
    'configure Prometheus, or the proxy in front of it, to accept more '
    'requests at a time'
)
LISTENING = f'start Prometheus, or correct host and port of [{GROUP}] url'
NAME = f'correct the host in [{GROUP}] url, or have DNS resolve it'
SILENT = (
    f'check that no firewall blocks [{GROUP}] url from this machine; if '
    f'Prometheus is slow, raise [{GROUP}] timeout'
)
HTTP = f'write http:// instead of https:// in [{GROUP}] url'
HTTPS = f'write https:// instead of http:// in [{GROUP}] url'
CA = (
    f'set [{GROUP}] cafile to the CA that signed the certificate of Prometheus'
)
EXPIRED = (
    'renew the certificate of Prometheus, or correct the clock of this '
    'machine: the certificate is not valid at the time of this clock'
)
CERTIFICATE_NAME = (
    f'use in [{GROUP}] url the host name in the certificate of Prometheus'
)
CLIENT_CERTIFICATE = (
    f'set certfile and keyfile in [{GROUP}] to a certificate that Prometheus '
    'accepts'
)
PROXY = f'correct [{GROUP}] proxy'
OPTION = f'correct the option of [{GROUP}] that the error names'
ENDPOINT = (
    f'set [{GROUP}] url, or correct the endpoint of metric-storage in the '
    f'Keystone catalog, or region_name and interface in [{GROUP}]'
)
ROLE = 'give the user a role that may read the metrics of all projects'

_CONNECTIONS = {
    ConnectionFault.NAME: NAME,
    ConnectionFault.REFUSED: LISTENING,
    ConnectionFault.SILENT: SILENT,
    ConnectionFault.HTTP: HTTP,
    ConnectionFault.HTTPS: HTTPS,
    ConnectionFault.CA: CA,
    ConnectionFault.EXPIRED: EXPIRED,
    ConnectionFault.OTHER_NAME: CERTIFICATE_NAME,
    ConnectionFault.CLIENT_CERTIFICATE: CLIENT_CERTIFICATE,
}
_OPTIONS: tuple[tuple[type[BaseException], str], ...] = (
    (exceptions.ConfigurationError, OPTION),
    (requests.exceptions.ProxyError, PROXY),
)
_LOGIN = re.compile(
    r'log-?[io]n|sign-?in|oauth|\bauth\b|\bsso\b|saml|password', re.IGNORECASE
)
"""What an address or a page is told by that wants a login first."""


def of_status(status: int, text: str, by_keystone: bool = False) -> str:
    """What to do about an answer that Prometheus itself did not give.

    :param text: the body of the answer
    """
    if status in (401, 403):
        return ROLE if by_keystone else LOGIN
    if status == 407:
        return PROXY
    if status == 429:
        return LIMITED
    if status >= 500:
        return BEHIND
    if by_keystone:
        return ENDPOINT
    return HTTPS if status == 400 and 'https' in text.lower() else ADDRESS


def of_redirect(url: str, target: str) -> str:
    """What to do about a redirect.

    :param url: that was asked
    :param target: without secrets
    """
    old, new = parse.urlsplit(url), parse.urlsplit(target)
    if _LOGIN.search(f'{new.netloc}{new.path}'):
        return LOGIN
    if old.path == new.path and old.scheme != new.scheme:
        return HTTPS if new.scheme == 'https' else HTTP
    base, _, rest = target.partition('/api/v1/')
    is_elsewhere = (old.netloc, old.path) != (new.netloc, new.path)
    return f'set [{GROUP}] url to {base}' if rest and is_elsewhere else ADDRESS


def of_page(text: str) -> str:
    """What to do about a page of HTML, or whatever else is not JSON."""
    return LOGIN if _LOGIN.search(text) else ADDRESS


def of_error(error: BaseException, by_keystone: bool = False) -> str:
    """What to do about a connection that was not made, or broke off.

    :returns: '' if its length is the reason, which is the query's
    """
    causes = transport.causes(error)
    fault = connection_faults.of(error)
    if fault is not None and any(isinstance(x, ssl.SSLError) for x in causes):
        return _CONNECTIONS[fault]
    if any(isinstance(cause, transport.TooLong) for cause in causes):
        return ''
    if by_keystone:
        return ENDPOINT
    for kind, remedy in _OPTIONS:
        if any(isinstance(cause, kind) for cause in causes):
            return remedy
    return _CONNECTIONS[fault] if fault else LISTENING
