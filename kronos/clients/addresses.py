# SPDX-License-Identifier: Apache-2.0
"""The address of a service: how messages show it, and when another is one.

A request carries a password, a token or a client certificate. It may follow a
redirect only to the same scheme, host and port.
"""

from urllib import parse

import requests

from kronos.clients import transport
from kronos.common import plain_text

FOLLOWED = frozenset({301, 302, 303, 305, 307, 308})
"""The statuses at which keystoneauth sends a request again elsewhere."""
_PORTS = {'http': 80, 'https': 443}
_LONGEST = 200


class Elsewhere(requests.RequestException):
    """A redirect to another address, which is not followed."""


def lasting(error: BaseException) -> BaseException | None:
    """What an error came of, if another try would end in the same way.

    An answer without end, or a redirect elsewhere.
    """
    kinds = (transport.TooLong, Elsewhere)
    causes = transport.causes(error)
    return next((one for one in causes if isinstance(one, kinds)), None)


def shown(url: object, path: bool = True) -> str:
    """An address without user, query and fragment.

    :param path: whether its path is shown, which may hold a secret
    """
    try:
        parts = parse.urlsplit(str(url or ''))
        host = parts.netloc.rpartition('@')[2]
    except ValueError:
        return 'an address that is not valid'
    if not parts.scheme or not host:
        return 'an address that is not valid'
    text = f'{parts.scheme}://{host}{parts.path if path else ""}'
    return plain_text.line(text)[:_LONGEST]


def target(url: str, location: str) -> str:
    """Where a redirect leads, for messages.

    :param url: that redirects
    :param location: its header
    """
    try:
        return shown(parse.urljoin(url, location))
    except ValueError:
        return shown('')


def is_same(one: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port."""
    try:
        return _origin(one) == _origin(other)
    except ValueError:
        return False


def stay(response: requests.Response, remedy: str) -> None:
    """Let a redirect lead to the same address only.

    A relative one becomes absolute, which keystoneauth needs.

    :param remedy: what corrects the address that was asked, for the error
    :raises Elsewhere: it leads to another address
    """
    target = response.headers.get('Location')
    if response.status_code not in FOLLOWED or target is None:
        return
    url = response.request.url or ''
    try:
        whole = parse.urljoin(url, target)
    except ValueError:
        whole = target
    if not is_same(url, whole):
        raise Elsewhere(
            f'HTTP {response.status_code}: {shown(url, path=False)} '
            f'redirects to {shown(whole, path=False)}, where Kronos does not '
            f'send credentials. {remedy}',
            response=response,
        )
    response.headers['Location'] = whole


def _origin(url: str) -> tuple[str, str, int | None]:
    """:raises ValueError: it is no URL"""
    parts = parse.urlsplit(url)
    if not parts.hostname:
        raise ValueError('no host')
    port = _PORTS.get(parts.scheme) if parts.port is None else parts.port
    return parts.scheme, parts.hostname, port
