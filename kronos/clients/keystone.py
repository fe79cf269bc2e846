# SPDX-License-Identifier: Apache-2.0
"""A session of keystoneauth that Keystone cannot hold up.

Sessions of Watcher and Nova have no time-out unless their options set one;
Kronos takes over what they authenticate with, and bounds every request:
those for tokens and for the versions of an endpoint, too.
"""

import time
from collections.abc import Callable
from typing import Any
from urllib import parse

import requests
from keystoneauth1 import session as ks_session
from oslo_log import log as logging

from kronos.clients.transport import Limits, Transport

LOG = logging.getLogger(__name__)

REDIRECTS = 5
"""So many are followed, by reads alone."""


class Session(ks_session.Session):  # type: ignore[misc]
    """One of keystoneauth, each of whose requests comes to an end.

    :param limits: of each request; a ``timeout`` among the options of the
        session, if there is one, is its silence
    :param tell: logs a request that nobody answers: who asked may only ask
        anew, and say nothing of the time that it took
    :param options: of a session of keystoneauth
    """

    def __init__(
        self,
        auth: Any = None,
        limits: Limits | None = None,
        tell: Callable[..., object] = LOG.warning,
        **options: Any,
    ) -> None:
        self.limits = limits or Limits()
        options['timeout'] = options.get('timeout') or self.limits.silence
        options.setdefault('redirect', REDIRECTS)
        options.setdefault('app_name', 'kronos')
        super().__init__(auth, **options)
        transport = _Telling(self._tell, self.limits, **_tls_of(self))
        self._say = tell
        for scheme in list(self.session.adapters):
            self.session.mount(scheme, transport)

    def _tell(self, request: requests.PreparedRequest, seconds: float) -> None:
        url = parse.urlsplit(request.url or '')
        keystone = getattr(self.auth, 'auth_url', None) or ' '
        is_keystone = (request.url or '').startswith(keystone.rstrip('/'))
        self._say(
            '%s has not answered within %.0f s: %s %s',
            'Keystone' if is_keystone else url.hostname,
            seconds,
            request.method,
            url._replace(
                netloc=url.netloc.rpartition('@')[2], query=''
            ).geturl(),
        )


class _Telling(Transport):
    """Tells of a request that nobody answers.

    :param tell: is given it and the seconds that it took
    """

    def __init__(
        self,
        tell: Callable[[requests.PreparedRequest, float], None],
        limits: Limits,
        **tls: Any,
    ) -> None:
        self._tell = tell
        super().__init__(limits, **tls)

    def send(
        self, request: requests.PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        began = time.monotonic()
        try:
            return super().send(request, *args, **kwargs)
        except requests.Timeout:
            self._tell(request, time.monotonic() - began)
            raise


def own(
    session: Any,
    limits: Limits | None = None,
    tell: Callable[..., object] = LOG.warning,
) -> Session:
    """A session with the credentials of another one.

    :param session: of keystoneauth; its plugin, and with that its token,
        are shared
    :param limits: of each request; if none are given, those that the
        session has
    :param tell: see :class:`Session`
    """
    if isinstance(session, Session) and limits in (None, session.limits):
        return session
    return Session(
        session.auth,
        limits,
        tell,
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
    found = {name: getattr(session, name, None) for name in names}
    return {name: value for name, value in found.items() if value}
