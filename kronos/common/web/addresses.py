# SPDX-License-Identifier: Apache-2.0
"""The address of a service: how messages show it, and when another is one."""

from urllib import parse

from kronos.common import plain_text

REDIRECTS = frozenset({301, 302, 303, 305, 307, 308})
"""The statuses at which a client may send a request again elsewhere."""
_PORTS = {'http': 80, 'https': 443}
_LONGEST = 200
_INVALID = 'an address that is not valid'


def shown(url: object, path: bool = True) -> str:
    """An address without user, query and fragment.

    :param path: whether its path is shown, which may hold a secret
    """
    try:
        parts = parse.urlsplit(str(url or ''))
    except ValueError:
        return _INVALID
    host = parts.netloc.rpartition('@')[2]
    if not parts.scheme or not host:
        return _INVALID
    text = f'{parts.scheme}://{host}{parts.path if path else ""}'
    return plain_text.line(text)[:_LONGEST]


def target(url: str, location: str) -> str:
    """Where a redirect leads; '' if that is no address.

    :param url: that redirects
    :param location: its header, which may be relative
    """
    try:
        return parse.urljoin(url, location)
    except ValueError:
        return ''


def is_same(url: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port."""
    try:
        return _origin(url) == _origin(other)
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str, int | None]:
    """:raises ValueError: it is no URL"""
    parts = parse.urlsplit(url)
    if not parts.hostname:
        raise ValueError('no host')
    port = _PORTS.get(parts.scheme) if parts.port is None else parts.port
    return parts.scheme, parts.hostname, port
