# SPDX-License-Identifier: Apache-2.0
"""A session of keystoneauth that Keystone cannot hold up.

Sessions of Watcher and Nova have no time-out unless their options set one;
Kronos takes over what they authenticate with, and bounds every request and
every login: those for tokens and for the versions of an endpoint, too.
"""

import time
from collections.abc import Callable
from typing import Any
from urllib import parse

import requests
from keystoneauth1 import session as ks_session
from oslo_log import log as logging

from kronos.clients import login, redirects, transport
from kronos.clients.transport import Limits, Transport
from kronos.common.web import addresses

LOG = logging.getLogger(__name__)

REDIRECTS = 5
"""So many are followed, each to the same scheme, host and port."""
AUTH_URL = 'Set auth_url to the address of Keystone itself'
ENDPOINT = (
    'Set the endpoint in the Keystone catalog, or the option that overrides '
    'it, to the address of the service itself'
)


class KeystoneSession(ks_session.Session):  # type: ignore[misc]
    """One of keystoneauth, each of whose requests comes to an end.

    :param limits: of each request; a ``timeout`` among the options of the
        session, if there is one, is its silence
    :param warn: logs a request that nobody answers: who asked may only ask
        anew, and say nothing of the time that it took
    :param use_proxies: whether the proxies of the environment are used, which
        is that of a person and not of a service
    :param options: of a session of keystoneauth
    """

    def __init__(
        self,
        auth: Any = None,
        limits: Limits | None = None,
        warn: Callable[..., object] = LOG.warning,
        use_proxies: bool = False,
        **options: Any,
    ) -> None:
        self.limits = limits or Limits()
        options['timeout'] = options.get('timeout') or self.limits.silence
        options.setdefault('redirect', REDIRECTS)
        options.setdefault('app_name', 'kronos')
        options.setdefault('session', transport.Session(use_proxies))
        # One for both, so that what is forgotten is forgotten.
        cache = getattr(auth, '_discovery_cache', None)
        options.setdefault('discovery_cache', cache)
        super().__init__(auth, **options)
        login.guard(auth, self.timeout)
        bounded = _Transport(
            self._is_keystone, warn, self.limits, **_tls_of(self)
        )
        for scheme in list(self.session.adapters):
            self.session.mount(scheme, bounded)

    def _is_keystone(self, url: str) -> bool:
        keystone = getattr(self.auth, 'auth_url', None) or ' '
        return login.is_under_way() or url.startswith(keystone.rstrip('/'))


class _Transport(Transport):
    """Reports a request that nobody answers; follows no redirect elsewhere.

    :param is_keystone: whether Keystone is asked at a URL
    :param warn: see :class:`KeystoneSession`
    """

    def __init__(
        self,
        is_keystone: Callable[[str], bool],
        warn: Callable[..., object],
        limits: Limits,
        **tls: Any,
    ) -> None:
        self._is_keystone = is_keystone
        self._log = warn
        super().__init__(limits, **tls)

    def send(
        self, request: requests.PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        began = time.monotonic()
        try:
            response = super().send(request, *args, **kwargs)
        except transport.NoTime:
            raise
        except requests.Timeout:
            self._warn(request, time.monotonic() - began)
            raise
        if 'Location' in response.headers:
            is_keystone = self._is_keystone(request.url or '')
            redirects.stay(response, AUTH_URL if is_keystone else ENDPOINT)
        return response

    def _warn(self, request: requests.PreparedRequest, seconds: float) -> None:
        url = request.url or ''
        self._log(
            '%s has not answered within %.0f s: %s %s',
            'Keystone'
            if self._is_keystone(url)
            else parse.urlsplit(url).hostname,
            seconds,
            request.method,
            addresses.shown(url),
        )


def own(
    session: Any,
    limits: Limits | None = None,
    warn: Callable[..., object] = LOG.warning,
    use_proxies: bool = False,
) -> KeystoneSession:
    """A session with the credentials of another one.

    :param session: of keystoneauth; its plugin, and with that its token,
        are shared
    :param limits: of each request; if none are given, those that the
        session has
    :param warn: see :class:`KeystoneSession`, like ``use_proxies``
    """
    if isinstance(session, KeystoneSession) and limits in (
        None,
        session.limits,
    ):
        return session
    return KeystoneSession(
        session.auth,
        limits,
        warn,
        use_proxies,
        verify=session.verify,
        cert=session.cert,
        timeout=None if limits else session.timeout,
        original_ip=session.original_ip,
        additional_headers=dict(session.additional_headers),
        **_tls_of(session),
    )


def _tls_of(session: Any) -> dict[str, Any]:
    """Not all versions of keystoneauth have options for these."""
    names = ('tls_ciphers', 'tls_min_version')
    options = {name: getattr(session, name, None) for name in names}
    return {name: value for name, value in options.items() if value}
