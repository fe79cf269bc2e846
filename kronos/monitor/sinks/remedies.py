# SPDX-License-Identifier: Apache-2.0
"""The remedies of Masakari and Watcher, by how a request of a sink fails.

Each failure has one: of Keystone, which gives a token, or of the service.
"""

from collections.abc import Mapping

from kronos.clients import connection_faults, keystone, login
from kronos.clients.connection_faults import ConnectionFault
from kronos.common import exceptions

KEYSTONE = 'Keystone'
CREDENTIALS = (
    'correct the options of the user and its secret: Keystone does not '
    'accept them'
)
USER_ROLE = 'give the user a role in its project'
AUTH_URL = 'set auth_url to the address of Keystone itself'
CATALOG = (
    'correct region_name and interface, or set endpoint_override: the '
    'Keystone catalog has no such endpoint'
)
ENDPOINT = (
    'correct the endpoint of {0} in the Keystone catalog, or '
    'endpoint_override: another program answers there'
)
TOKENS = 'point {0} to the same Keystone, in its [keystone_authtoken]'
POLICY = 'allow the request to a role of the user, in the policy of {0}'
LIMITED = 'configure {0}, or the proxy in front of it, to accept more requests'
SLOW = (
    'check in the log of {0}, or of the proxy in front of it, why it is slow'
)
BROKEN = (
    'check in the log of {0}, or of the proxy in front of it, why it fails'
)
REFUSES = (
    'check in the log of {0}, or of the proxy in front of it, why it refuses '
    'the request'
)
HTTPS = 'write https:// instead of http:// in {1}'
_CONNECTIONS = {
    ConnectionFault.NAME: 'correct the host in {1}, or have DNS resolve it',
    ConnectionFault.REFUSED: 'start {0}, or correct host and port in {1}',
    ConnectionFault.SILENT: (
        'check that no firewall blocks {1} from this machine; if {0} is '
        'slow, raise timeout'
    ),
    ConnectionFault.HTTP: 'write http:// instead of https:// in {1}',
    ConnectionFault.HTTPS: HTTPS,
    ConnectionFault.CA: (
        'set cafile to the CA that signed the certificate of {0}'
    ),
    ConnectionFault.EXPIRED: (
        'renew the certificate of {0}, or correct the clock of this machine: '
        'the certificate is not valid at the time of this clock'
    ),
    ConnectionFault.OTHER_NAME: (
        'use in {1} the host name in the certificate of {0}'
    ),
    ConnectionFault.CLIENT_CERTIFICATE: (
        'set certfile and keyfile to a certificate that {0} accepts'
    ),
}
_SAID = (login.CORRECT, login.SEE, keystone.AUTH_URL, keystone.ENDPOINT)
"""Remedies that errors of a login, or of a redirect, have already."""
_STATUSES = {
    401: TOKENS,
    403: POLICY,
    408: SLOW,
    429: LIMITED,
    504: SLOW,
    **dict.fromkeys((400, 409, 411, 413, 414, 415, 422, 431), REFUSES),
}
_OF_KEYSTONE = {
    401: CREDENTIALS,
    403: USER_ROLE,
    408: SLOW,
    429: LIMITED,
    504: SLOW,
}


def of(
    error: exceptions.ClientError, service: str, options: Mapping[str, object]
) -> str:
    """What to do about a request that failed; '' if the error says it.

    :param service: that was asked, for people
    :param options: of the sink
    """
    if 'status' not in error.kwargs or any(
        words in str(error) for words in _SAID
    ):
        return ''  # it names an option, or has a remedy
    where = f'the endpoint of {service} in the Keystone catalog'
    if options['endpoint_override']:
        where = 'endpoint_override'
    status = error.kwargs['status']
    if status is not None:
        return of_status(int(status), str(error)).format(service, where)
    refusal = connection_faults.status_of_keystone(error)
    if refusal is not None:
        return _of_keystone(refusal).format(KEYSTONE, 'auth_url')
    fault = connection_faults.of(error)
    if fault is None:
        is_lacking = connection_faults.is_of_catalog(error)
        return CATALOG if is_lacking else ENDPOINT.format(service)
    if str(options['auth_url']).rstrip('/') in str(error):
        service, where = KEYSTONE, 'auth_url'
    return _CONNECTIONS[fault].format(service, where)


def of_status(status: int, text: str) -> str:
    """What to do about the answer of a service: a text with its places.

    :param text: of the error, with the beginning of the answer
    """
    if status == 400 and 'https port' in text.lower():
        return HTTPS
    if status >= 500:
        return _STATUSES.get(status, BROKEN)
    return _STATUSES.get(status, ENDPOINT)


def _of_keystone(status: int) -> str:
    if status >= 500:
        return _OF_KEYSTONE.get(status, BROKEN)
    return _OF_KEYSTONE.get(status, AUTH_URL)
