# SPDX-License-Identifier: Apache-2.0
"""The login of a plugin of keystoneauth: one thread at a time, with an end.

A plugin holds a lock while it logs in. A generic one asks for Keystone's
versions meanwhile, and if the answer is 401, keystoneauth asks again with a
token: the plugin then waits for its own lock, for ever. Every other thread
waits behind it, and behind a session without any time-out.
"""

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import plugin as ks_plugin

from kronos.clients import answers, transport
from kronos.common import durations
from kronos.common.web import addresses, timed_response

_LOCK = '_lock'
"""Where all plugins that log in have it."""
_FOUND = '_plugin'
"""Where a generic one has that of the version which it found."""
_VERSIONS = '_discovery_cache'
_PAUSE = 1 / 3
"""Share of the limit for which a Keystone that says nothing is left alone:
whoever asks next would wait as long for the same."""
_TIMEOUTS = (ks_exceptions.ConnectTimeout,)
_OTHERS = (
    ks_exceptions.InvalidResponse,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""Of an answer that Keystone would not give; keystoneauth stumbles over it."""
_WORDED = (
    ks_exceptions.BadRequest,
    ks_exceptions.MethodNotAllowed,
    ks_exceptions.NotFound,
)
"""With no words in the body they are not Keystone's."""
CORRECT = 'Correct auth_url'
SEE = 'Check that auth_url is correct, and that Keystone answers'
"""The remedies, which end the errors."""


class Lock:
    """Takes the place of a plugin's own lock.

    :param plugin: of keystoneauth
    :param limit: seconds for which a thread waits and logs in
    """

    def __init__(
        self,
        plugin: Any,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plugin = plugin
        self._auth_url = addresses.shown(getattr(plugin, 'auth_url', None))
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._bound: contextvars.Token[float] | None = None
        self._failed = -timed_response.NEVER

    def __enter__(self) -> None:
        """Begin to log in.

        :raises AuthorizationFailure: this thread logs in already
        :raises ConnectTimeout: another thread does, and has no answer; or
            there was none a moment ago
        """
        if self._owner == threading.get_ident():
            raise ks_exceptions.AuthorizationFailure(
                f'{self._auth_url} answers 401 to the request for its '
                'versions: it is not Keystone, or a proxy in front of '
                f'Keystone requires a login. {CORRECT}'
            )
        end = self._clock() + self._limit
        if not self._lock.acquire(timeout=self._limit):
            raise self._timeout()
        now, pause = self._clock(), self._limit * _PAUSE
        if now - self._failed < pause or end - now < pause:
            self._lock.release()
            raise self._timeout()
        self._owner = threading.get_ident()
        self._bound = transport.END.set(end)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """End it.

        :raises AuthorizationFailure: what answers is not Keystone
        """
        if error is not None:
            self._forget()
        if isinstance(error, _TIMEOUTS):
            self._failed = self._clock()
        if self._bound is not None:
            transport.END.reset(self._bound)
        self._bound = self._owner = None
        self._lock.release()
        if _is_of_another(error):
            raise ks_exceptions.AuthorizationFailure(
                f'{self._auth_url} does not answer as Keystone does '
                f'({answers.line_of(error)}). {CORRECT}'
            ) from error
        if isinstance(error, ks_exceptions.HttpError):
            # Else it reads as if the service had answered so.
            whose = f' from Keystone at {self._auth_url}'
            error.args = (str(error).removesuffix(whose) + whose,)

    def _forget(self) -> None:
        """Have the next login find out everything anew.

        Versions or a token that were wrong for a moment would be believed
        for as long as the process lives.
        """
        getattr(self._plugin, _VERSIONS, {}).clear()
        for name in (_FOUND, 'auth_ref'):
            if getattr(self._plugin, name, None) is not None:
                setattr(self._plugin, name, None)

    def _timeout(self) -> Any:
        return ks_exceptions.ConnectTimeout(
            f'Keystone at {self._auth_url} has not answered within '
            f'{durations.exact(self._limit)}. {SEE}'
        )


def _is_of_another(error: object) -> bool:
    """Whether something else than Keystone must have answered.

    Keystone says what it cannot find, or understand; a gateway, or a TLS
    port that is asked by http://, does not in its way.
    """
    if isinstance(error, _WORDED):
        return str(error).startswith(f'{type(error).message} (HTTP')
    return isinstance(error, _OTHERS)


def is_under_way() -> bool:
    """Whether this thread logs in, so that what it asks is Keystone."""
    return transport.END.get(None) is not None


def guard(plugin: Any, limit: float) -> None:
    """Have a plugin, and those that it logs in with, end every login.

    :param plugin: of keystoneauth, which others may use, too
    :param limit: seconds; that of the first call holds
    """
    if not isinstance(plugin, ks_plugin.BaseAuthPlugin):
        return
    lock = getattr(plugin, _LOCK, None)
    if isinstance(lock, Lock):
        return
    if lock is not None:
        setattr(plugin, _LOCK, Lock(plugin, limit))
    # Such as the one of the other cloud of keystone-to-keystone.
    for inner in list(vars(plugin).values()):
        guard(inner, limit)
