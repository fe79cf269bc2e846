# SPDX-License-Identifier: Apache-2.0
"""The authentication to Prometheus, by the operator's options."""

import base64
import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib import parse

import requests
import requests.auth

from kronos.clients import transport
from kronos.common import exceptions, plain_files

GROUP = 'kronos_prometheus'
MAX_BYTES = 64 * 1024
"""Of a file with a token."""
AUTH_OPTIONS = (
    'bearer_token',
    'bearer_token_file',
    'username',
    'password',
    'cafile',
    'certfile',
    'keyfile',
    'proxy',
    'headers',
)
OWN_HEADERS = frozenset(
    {'content-length', 'content-type', 'host', 'transfer-encoding'}
)
"""Those that a request sets itself."""
_CREDENTIAL = re.compile(
    r'^[^:]*(?:auth|cookie|key|pass|secret|token)', re.IGNORECASE
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~\w-]+", re.ASCII)


FILE_OPTIONS = ('cafile', 'certfile', 'keyfile', 'bearer_token_file')


class BearerToken(requests.auth.AuthBase):
    """``Authorization: Bearer``, from a string or a file that rotates.

    :raises ConfigurationError: on use: the file cannot be read, or the
        token cannot be sent
    """

    def __init__(self, token: str = '', path: str = '') -> None:
        self._token = token.strip()
        self._path = path
        self._seen: tuple[int, int, int] | None = None

    @property
    def secret(self) -> str:
        return self._token

    def __call__(
        self, request: requests.PreparedRequest
    ) -> requests.PreparedRequest:
        request.headers['Authorization'] = f'Bearer {self._current()}'
        return request

    def _current(self) -> str:
        if self._path:
            self._read_if_changed()
        source = (
            f'bearer_token_file {self._path}' if self._path else 'bearer_token'
        )
        if not self._token:
            _refuse(f'{source} is empty')
        if not (self._token.isascii() and self._token.isprintable()):
            _refuse(
                f'{source} contains characters that are not allowed in a '
                'header'
            )
        return self._token

    def _read_if_changed(self) -> None:
        try:
            stat = os.stat(self._path)
            now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if now != self._seen:
                with plain_files.opened(self._path) as file:
                    self._token = file.read(MAX_BYTES).decode().strip()
                self._seen = now
        except (OSError, UnicodeDecodeError) as error:
            text = getattr(error, 'strerror', None) or 'not a text file'
            _refuse(f'bearer_token_file {self._path}: {text}')


def split_url(url: str) -> tuple[str, tuple[str, str] | None]:
    """An address without its ``user:password@``, and those two."""
    parts = parse.urlsplit(url)
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        _refuse('url must be http://HOST or https://HOST')
    if parts.query or parts.fragment:
        _refuse('url must end with its path: no "?" and no "#"')
    path = parts.path.rstrip('/')
    if path.endswith(('/api', '/api/v1')):
        _refuse('url must not contain /api/v1: Kronos adds it')
    user = None
    if parts.username is not None:
        user = (
            parse.unquote(parts.username),
            parse.unquote(parts.password or ''),
        )
    host = parts.netloc.rpartition('@')[2]
    return f'{parts.scheme}://{host}{path}', user


def session_from(options: Any) -> requests.Session:
    """A session as ``[kronos_prometheus]`` describes it.

    :raises ConfigurationError: names the options that contradict each
        other, or the file that cannot be read
    """
    values = given_options(options)
    _, user = split_url(options.url)
    _check(options, values, user is not None)
    session = transport.Session()
    if 'cafile' in values:
        session.verify = values['cafile']
    if 'keyfile' in values:
        session.cert = (values['certfile'], values['keyfile'])
    elif 'certfile' in values:
        session.cert = values['certfile']
    if 'bearer_token' in values or 'bearer_token_file' in values:
        session.auth = BearerToken(
            values.get('bearer_token', ''), values.get('bearer_token_file', '')
        )
    elif 'username' in values:
        session.auth = (values['username'], values['password'])
    session.headers.update(headers_from(values))
    if 'proxy' in values:
        session.proxies = dict.fromkeys(('http', 'https'), values['proxy'])
    return session


def headers_from(values: Mapping[str, Any]) -> dict[str, str]:
    """The headers of the options.

    :raises ConfigurationError: one cannot be sent; its value is not shown
    """
    headers: dict[str, str] = {}
    for number, line in enumerate(values.get('headers', []), 1):
        if not line.strip():
            continue  # an option that is left empty
        name, colon, value = (part.strip() for part in line.partition(':'))
        where = f'headers, number {number}'
        if not (colon and value and _HEADER_NAME.fullmatch(name)):
            _refuse(f'{where}: write it as NAME: VALUE')
        if not (value.isascii() and value.isprintable()):
            _refuse(
                f'{where}: {name} has characters that are not allowed in '
                'a header'
            )
        if name.lower() in OWN_HEADERS:
            _refuse(f'{where}: Kronos sets {name} itself; remove it')
        if name.lower() in {header.lower() for header in headers}:
            _refuse(f'{where}: {name} is set twice')
        headers[name] = value
    return headers


def is_readable(options: Any) -> bool:
    """Whether anybody on the way to Prometheus can read its credentials."""
    url = options.url or ''
    parts = parse.urlsplit(url)
    names = ('bearer_token', 'bearer_token_file', 'password')
    values = given_options(options)
    sends = (
        parts.username is not None
        or values.keys() & {*names}
        or any(_CREDENTIAL.search(line) for line in values.get('headers', []))
    )
    return bool(
        parts.scheme == 'http' and sends and not _is_loopback(parts.hostname)
    )


def _is_loopback(host: str | None) -> bool:
    try:
        return ipaddress.ip_address(host or '').is_loopback
    except ValueError:
        return host == 'localhost'


def given_options(options: Any) -> dict[str, Any]:
    """The options of the connection to ``url`` that have a value."""
    values = {name: getattr(options, name, None) for name in AUTH_OPTIONS}
    # To oslo.config an option that is left empty is one empty line.
    values['headers'] = [
        line for line in values['headers'] or [] if line.strip()
    ]
    return {name: value for name, value in values.items() if value}


def secrets_of(session: Any) -> list[str]:
    """What no message may hold."""
    secrets = _secret_headers(session)
    login = getattr(session, 'auth', None)
    if isinstance(login, BearerToken):
        return [*secrets, login.secret] if login.secret else secrets
    if not isinstance(login, tuple) or not login[1]:
        return secrets
    sent = base64.b64encode(':'.join(login).encode()).decode()
    return [*secrets, login[1], parse.quote(login[1], safe=''), sent]


def _secret_headers(session: Any) -> list[str]:
    """The values of the headers that the options have set."""
    usual = requests.utils.default_headers()
    headers = getattr(session, 'headers', None) or {}
    values = [
        str(value) for name, value in headers.items() if name not in usual
    ]
    # Of "Bearer TOKEN" the token alone is repeated, too.
    return values + [
        value.rpartition(' ')[2] for value in values if ' ' in value
    ]


def contradictions(options: Any) -> dict[str, str]:
    """What the options of the connection alone show to be wrong.

    :param options: the group of oslo.config, or any object with its attributes
    :returns: fault to remedy
    """
    values = given_options(options)
    if not options.url:
        names = ', '.join(values)
        fault = f'url is not set, but {names}'
        return {fault: f'set url, or remove {names}'} if values else {}
    try:
        _, user = split_url(options.url)
    except exceptions.ConfigurationError as error:
        fault = str(error.kwargs['reason']).removeprefix(f'[{GROUP}] ')
        return {fault: 'correct url'}
    return _contradictions(values, user is not None)


def unreadable(options: Any) -> dict[str, str]:
    """The files that cannot be read here, by their option."""
    values = given_options(options)
    return {
        name: values[name]
        for name in FILE_OPTIONS
        if name in values and not os.access(values[name], os.R_OK)
    }


def _contradictions(
    values: Mapping[str, Any], user_in_url: bool
) -> dict[str, str]:
    ways = [
        name
        for name in ('bearer_token', 'bearer_token_file', 'username')
        if name in values
    ]
    if 'authorization' in map(str.lower, headers_from(values)):
        ways.append('Authorization of headers')
    if user_in_url:
        ways.append('the user in url')
    faults = {}
    if len(ways) > 1:
        fault = f'{" and ".join(ways)} exclude each other; set one of them'
        faults[fault] = f'remove {" or ".join(ways)}'
    return faults | {
        f'{name} is set, but {other} is not': f'set {other}, or remove {name}'
        for name, other in (
            ('username', 'password'),
            ('password', 'username'),
            ('keyfile', 'certfile'),
        )
        if name in values and other not in values and name not in ways[1:]
    }


def _check(options: Any, values: Mapping[str, Any], user_in_url: bool) -> None:
    faults = [*_contradictions(values, user_in_url)]
    faults += [
        f'{name} {path} cannot be read'
        for name, path in unreadable(options).items()
        # A token is read on use, since it may come later.
        if name != 'bearer_token_file'
    ]
    if faults:
        _refuse('; '.join(faults))


def _refuse(reason: str) -> None:
    raise exceptions.ConfigurationError(reason=f'[{GROUP}] {reason}')
