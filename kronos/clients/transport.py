# SPDX-License-Identifier: Apache-2.0
"""A transport adapter of requests, for answers that must come to an end.

Time-outs of requests begin anew with every byte that comes. Here a request
has a deadline, too, from its first byte to the last one of its answer, and
an answer has a greatest length. Neither keystoneauth nor the clients of
Prometheus that others made have that.
"""

import contextvars
import io
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import requests
import urllib3
from keystoneauth1 import session as ks_session
from urllib3 import connection, connectionpool, poolmanager

from kronos.common import json_size
from kronos.common.web import timed_response

FREE_BYTES = 16 * 2**20
"""To which any answer may unpack."""
MAX_RATIO = 200
"""How much larger an answer may become beyond; real ones grow 20 times."""
_ENCODINGS = ('', 'identity', 'gzip', 'x-gzip', 'deflate')
"""Of an answer: what unpacks to some 1,000 times its size at most."""
_PIECE = 2**14
"""Bytes that are read in one go, and unpacked."""
_Clock = Callable[[], float]


@dataclass
class Limits:
    """Of each request; in seconds, ``longest`` in bytes after unpacking."""

    connect: float = 10.0
    silence: float = 30.0
    """Between two pieces of an answer, and before the first one."""
    whole: float | None = None
    """From connecting to the last byte; None: two times the silence."""
    longest: int = 128 * 2**20

    def times_of(self, timeout: object) -> tuple[float, float, float]:
        """What holds for one request: connecting, silence and the whole.

        :param timeout: of the request: seconds of silence that are endured
            instead, if it is a number
        """
        own = isinstance(timeout, (int, float)) and timeout > 0
        silence = float(cast(float, timeout)) if own else self.silence
        whole = 2 * silence if self.whole is None else self.whole
        return min(self.connect, silence, whole), min(silence, whole), whole


class TooLate(requests.ReadTimeout):
    """An answer began, and did not end in time."""


class NoTime(TooLate):
    """A request was not sent: what it is a part of has taken too long."""


class TooLong(requests.RequestException):
    """An answer has more bytes, or values, than anybody may send."""


class Session(requests.Session):
    """A session of requests that takes no credentials of the environment.

    None of a ``.netrc``, that is. Its ``verify`` wins over
    ``REQUESTS_CA_BUNDLE``.

    :param use_proxies: whether the proxies of the environment are used
    """

    def __init__(self, use_proxies: bool = False) -> None:
        super().__init__()
        self.trust_env = False
        self._use_proxies = use_proxies

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        if verify in (True, None) and self.verify is True:
            names = ('REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE')
            bundles = [
                os.environ[name] for name in names if name in os.environ
            ]
            verify = next(filter(None, bundles), verify)
        if self._use_proxies:
            proxies = {**requests.utils.get_environ_proxies(url), **proxies}
        return super().merge_environment_settings(
            url, proxies, stream, verify, cert
        )


class Transport(ks_session.TCPKeepAliveAdapter):  # type: ignore[misc]
    """Mounted on a session of requests, it bounds every request.

    Answers are read whole, whatever ``stream`` says.

    :param limits: of each request
    :param clock: seconds that only grow
    :param tls: ``tls_ciphers`` and ``tls_min_version`` of keystoneauth
    """

    def __init__(
        self, limits: Limits, clock: _Clock = time.monotonic, **tls: Any
    ) -> None:
        self.limits = limits
        self._clock = clock
        super().__init__(**tls)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        _bound(self.poolmanager)

    def proxy_manager_for(self, proxy: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        _bound(manager)
        return manager

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Send it and take the whole answer in.

        :raises requests.RequestException: it is too late, too long, or
            broken
        """
        # Not what else is installed here could unpack.
        request.headers['Accept-Encoding'] = 'gzip, deflate'
        connect, silence, whole = self._times_of(timeout)
        with timed_response.within(whole, self._clock) as deadline:
            response: requests.Response = super().send(
                request,
                stream=True,
                timeout=(connect, silence),
                verify=verify,
                cert=cert,
                proxies=proxies,
            )
            self._read(response, deadline, whole)
        return response

    def _times_of(self, timeout: object) -> tuple[float, float, float]:
        """:raises NoTime: what the request is a part of is over"""
        times = self.limits.times_of(timeout)
        remaining = END.get(timed_response.NEVER) - self._clock()
        if remaining <= 0:
            raise NoTime('the time limit is already used up')
        connect, silence, whole = (
            min(seconds, remaining) for seconds in times
        )
        return connect, silence, whole

    def _read(
        self,
        response: requests.Response,
        deadline: timed_response.Deadline,
        whole: float,
    ) -> None:
        content = io.BytesIO()
        _require_packed_once(response)
        try:
            for piece in response.raw.stream(_PIECE, decode_content=True):
                content.write(piece)
                self._bound(content.tell(), deadline.received)
                deadline.remaining()
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
            response.close()
            raise TooLate(
                f'no complete answer within {whole:.3g} s'
            ) from error
        except urllib3.exceptions.DecodeError as error:
            response.close()
            raise requests.exceptions.ContentDecodingError(error) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            if isinstance(error, requests.RequestException):
                raise
            raise requests.ConnectionError(error) from error
        # As requests itself keeps what it has read.
        response._content = content.getvalue()
        response._content_consumed = True  # type: ignore[attr-defined]
        if json_size.is_too_much(response._content):
            raise TooLong(
                'the answer contains too many values, which would need more '
                f'than {json_size.MOST / 2**30:.1f} GiB of memory'
            )

    def _bound(self, size: int, received: int) -> None:
        """Refuse what grows beyond all measure.

        :param size: of what was read, unpacked
        :param received: bytes that came; 0: not known
        """
        if size > self.limits.longest:
            raise TooLong(
                f'the answer is longer than {self.limits.longest >> 20} MiB'
            )
        if received and size > FREE_BYTES + MAX_RATIO * received:
            raise TooLong(
                f'the answer unpacks to more than {MAX_RATIO} times its size'
            )


def _require_packed_once(response: requests.Response) -> None:
    """:raises ContentDecodingError: it could grow without measure"""
    encoding = response.headers.get('Content-Encoding', '').strip().lower()
    if encoding not in _ENCODINGS:
        response.close()
        raise requests.exceptions.ContentDecodingError(
            f'its Content-Encoding is {encoding[:40]}, not gzip'
        )


END: contextvars.ContextVar[float] = contextvars.ContextVar('kronos_end')
"""Moment, by the monotonic clock, at which a login of several requests has to
be over."""


class _PlainConnection(connection.HTTPConnection):
    response_class = timed_response.TimedResponse


class _TlsConnection(connection.HTTPSConnection):
    response_class = timed_response.TimedResponse


class _Pool(connectionpool.HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _TlsPool(connectionpool.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


_POOLS = {'http': _Pool, 'https': _TlsPool}


def _bound(manager: Any) -> None:
    """Have it make connections of ours; through SOCKS it makes its own."""
    usual = poolmanager.pool_classes_by_scheme
    if manager.pool_classes_by_scheme == usual:
        manager.pool_classes_by_scheme = _POOLS


def causes(error: BaseException) -> list[BaseException]:
    """An error and all that it came of."""
    todo: list[Any] = [error]
    seen: list[BaseException] = []
    while todo:
        cause = todo.pop()
        if not isinstance(cause, BaseException) or cause in seen:
            continue
        seen.append(cause)
        todo += [cause.__cause__, cause.__context__, *cause.args]
        todo.append(getattr(cause, 'reason', None))
    return seen
