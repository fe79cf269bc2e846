# SPDX-License-Identifier: Apache-2.0
"""A session of keystoneauth that Keystone cannot hold up.

Sessions of Watcher and Nova have no time-out unless their options set one;
Kronos takes over what they authenticate with, and bounds every request:
those for tokens and for the versions of an endpoint, too.
"""

from typing import Any

from keystoneauth1 import session as ks_session

from kronos.clients.transport import Limits, Transport

REDIRECTS = 5
"""So many are followed, by reads alone."""


class Session(ks_session.Session):  # type: ignore[misc]
    """One of keystoneauth, each of whose requests comes to an end.

    :param limits: of each request; a ``timeout`` among the options of the
        session, if there is one, is its silence
    :param options: of a session of keystoneauth
    """

    def __init__(
        self,
        auth: Any = None,
        limits: Limits | None = None,
        **options: Any,
    ) -> None:
        self.limits = limits or Limits()
        options['timeout'] = options.get('timeout') or self.limits.silence
        options.setdefault('redirect', REDIRECTS)
        options.setdefault('app_name', 'kronos')
        super().__init__(auth, **options)
        transport = Transport(self.limits, **_tls_of(self))
        for scheme in list(self.session.adapters):
            self.session.mount(scheme, transport)


def own(session: Any, limits: Limits | None = None) -> Session:
    """A session with the credentials of another one.

    :param session: of keystoneauth; its plugin, and with that its token,
        are shared
    :param limits: of each request; if none are given, those that the
        session has
    """
    if isinstance(session, Session) and limits in (None, session.limits):
        return session
    return Session(
        session.auth,
        limits,
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
