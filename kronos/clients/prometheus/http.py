# SPDX-License-Identifier: Apache-2.0
"""The HTTP of a query: time-outs, retries, Keystone in between."""

import datetime
import email.utils
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import requests
from keystoneauth1 import exceptions as ks_exceptions
from oslo_log import log as logging

from kronos.clients import answers, redirects, schema, transport, tries
from kronos.clients.prometheus import auth, remedies
from kronos.clients.prometheus import response as answer
from kronos.common import durations, exceptions, masking
from kronos.common.web import addresses, retry_after

LOG = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""Seconds between two tries, whatever Retry-After asks for."""
MOST_WARNED = 100
LONGEST = 128 * 2**20
"""Bytes of an answer; the samples of 100,000 servers take a tenth."""
_NO_TENANT = re.compile(r'\bno\W?org\W?id\b', re.IGNORECASE)
"""What they say to a request without one."""
PASSING = (
    requests.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    transport.TooLong,
    redirects.Elsewhere,
    ks_exceptions.ConnectionError,
)


@dataclass
class Answered:
    """What Prometheus gave to a request."""

    data: dict[str, Any]
    incomplete: list[str]
    """Why series may be missing from it; without secrets."""
    asked_at: float
    """Unix seconds, of the try that was answered."""
    answered_at: float
    dated: float | None
    """The Date header, in Unix seconds."""


class Http:
    """One Prometheus: its address, session and retries.

    :param url: as for :class:`.client.PrometheusClient`, like ``session``
    :param timeout: seconds for each try
    :param max_retries: further tries after connection errors, timeouts,
        429 and 5xx
    :param retry_backoff: seconds before the first of them, then doubled
    :param longest: bytes of an answer, a fraction of what its objects take
    """

    def __init__(
        self,
        url: str,
        session: Any,
        *,
        timeout: float = 30,
        max_retries: int = 3,
        retry_backoff: float = 1,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
        longest: int = LONGEST,
    ) -> None:
        self._clock = clock
        self._session = session
        self.by_keystone = not isinstance(session, requests.Session)
        if not self.by_keystone:
            bounded = transport.Transport(limits_of(timeout, longest))
            for scheme in list(session.adapters):
                session.mount(scheme, bounded)
        self._url, user = auth.split_url(url) if url else ('', None)
        if user:
            session.auth = user
        # Aetos takes GET only.
        self._method = 'GET' if self.by_keystone else 'POST'
        self._timeout = timeout
        self._warned: list[str] = []
        self._tries = tries.Tries(
            max_retries,
            retry_backoff,
            LONGEST_WAIT,
            asked_wait=lambda error: getattr(error, 'wait', 0.0),
            described=self._described,
            sleep=sleep,
        )

    @property
    def address(self) -> str:
        """For messages: without secrets."""
        return self._url or 'the metric-storage endpoint'

    def ask(
        self, what: str, params: Mapping[str, str], method: str = ''
    ) -> Answered:
        """The ``data`` of an answer, and what it says of itself.

        :raises AnswerError: without secrets; a TransientError if all tries
            were in vain
        """
        answered: Answered
        try:
            body, answered = self._tries.run(
                _is_transient, self._try, what, params, method
            )
            answered.data = answer.data_of(body)
        except answer.AnswerError as error:
            text = self._without_secrets(str(error))
            raise type(error)(
                text, error.status, remedy=self._remedy(error)
            ) from None
        self._tries.succeeded()
        answered.incomplete = [
            self._without_secrets(text) for text in answer.incomplete(body)
        ]
        self._warn(answered.incomplete)
        return answered

    def _described(self, error: BaseException) -> str:
        text = self._without_secrets(str(error))
        return f'Prometheus at {self.address}: {text}'

    def _remedy(self, error: answer.AnswerError) -> str:
        """What to do about the connection, if that is at fault."""
        if error.remedy or error.__cause__ is None:
            return error.remedy
        return remedies.of_error(error.__cause__, self.by_keystone)

    def _without_secrets(self, text: str) -> str:
        """A gateway may repeat what it was sent, headers and all."""
        return masking.Secrets(auth.secrets_of(self._session)).masked(text)

    def _warn(self, warnings: list[str]) -> None:
        """Log what is new: who asks for ever would repeat it for ever."""
        for warning in warnings:
            if warning not in self._warned:
                LOG.warning('Prometheus at %s: %s', self.address, warning)
                # The newest ones; some name a moment and are always new.
                self._warned = [*self._warned[-MOST_WARNED + 1 :], warning]

    def _try(
        self, what: str, params: Mapping[str, str], method: str
    ) -> tuple[Any, Answered]:
        method = method or self._method
        asked_at = self._clock()
        reply = self._send(method, f'/api/v1/{what}', params)
        if reply.status_code == 405 and method == 'POST':
            # A proxy that lets only GET through.
            self._method = 'GET'
            reply = self._send('GET', f'/api/v1/{what}', params)
        _check(reply, self.by_keystone)
        try:
            body = schema.json_of(reply.content)
        except (ValueError, RecursionError):
            kind = reply.headers.get('Content-Type', 'no content type')
            raise answer.AnswerError(
                f'the answer is not JSON ({kind}); check the address and '
                'its prefix',
                remedy=remedies.of_page(_text_of(reply)),
            ) from None
        return body, Answered(
            {}, [], asked_at, self._clock(), _date_of(reply.headers)
        )

    def _send(self, method: str, path: str, params: Mapping[str, str]) -> Any:
        kwargs: dict[str, Any] = {'timeout': self._timeout}
        kwargs['data' if method == 'POST' else 'params'] = dict(params)
        try:
            if self.by_keystone:
                return self._by_keystone(path, method, kwargs)
            # A redirected POST would lose its query.
            return self._session.request(
                method, self._url + path, allow_redirects=False, **kwargs
            )
        except answer.AnswerError:
            raise
        except exceptions.ConfigurationError as error:
            raise answer.AnswerError(str(error)) from error
        except transport.TooLate as error:
            raise answer.TooMuchError(str(error)) from error
        except (requests.Timeout, ks_exceptions.ConnectTimeout) as error:
            raise _silence(error, self._timeout) from error
        except (requests.exceptions.SSLError, ks_exceptions.SSLError) as error:
            raise answer.AnswerError(f'TLS: {_root_of(error)}') from error
        except PASSING as error:
            raise _broken(error) from error
        except Exception as error:
            # keystoneauth, too, may stumble over an answer.
            raise answer.AnswerError(
                f'{type(error).__name__}: {_root_of(error)}'
            ) from error

    def _by_keystone(
        self, path: str, method: str, kwargs: dict[str, Any]
    ) -> Any:
        """The answer of what Keystone leads to.

        :raises TransientError: Keystone gives no token in time
        """
        try:
            self._session.get_token()
        except Exception as error:
            lasting = redirects.lasting(error)
            if lasting is not None:
                raise answer.AnswerError(str(lasting)) from error
            passing = isinstance(error, (*PASSING, ks_exceptions.HttpError))
            kind = answer.TransientError if passing else answer.AnswerError
            name = type(error).__name__
            raise kind(
                f'Keystone: {name}: {answers.line_of(error)}'
            ) from error
        return self._session.request(
            path,
            method,
            raise_exc=False,
            # Answers are long.
            log=False,
            connect_retries=0,
            status_code_retries=0,
            **kwargs,
        )


def limits_of(timeout: float, longest: int = LONGEST) -> transport.Limits:
    """What holds for every request: one time-out for all of it."""
    return transport.Limits(
        connect=timeout, silence=timeout, whole=timeout, longest=longest
    )


def _silence(error: Exception, timeout: float) -> answer.AnswerError:
    """A time-out; a token may have had to be renewed in between."""
    is_of_keystone = '/auth/tokens' in str(error)
    kind = answer.TransientError if is_of_keystone else answer.TooMuchError
    place = ' of Keystone' if is_of_keystone else ''
    return kind(f'no answer{place} within {durations.exact(timeout)}')


def _broken(error: Exception) -> answer.AnswerError:
    """A connection that was not made or did not last; what lasts."""
    lasting = redirects.lasting(error)
    if lasting is not None:
        return answer.AnswerError(str(lasting))
    is_long = isinstance(error, transport.TooLong)
    kind = answer.TooMuchError if is_long else answer.TransientError
    return kind(f'cannot connect: {_root_of(error)}')


def _date_of(headers: Mapping[str, str]) -> float | None:
    try:
        date = email.utils.parsedate_to_datetime(headers.get('Date', ''))
        return date.replace(tzinfo=date.tzinfo or datetime.UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, answer.TransientError)


def _text_of(reply: requests.Response) -> str:
    """Its body; to guess the encoding may take minutes."""
    return reply.content.decode(errors='replace')


def _check(reply: requests.Response, by_keystone: bool) -> None:
    status = reply.status_code
    if status < 300:
        return
    body = _text_of(reply)
    text = f'HTTP {status}: {answer.complaint_of(body)}'
    remedy = remedies.of_status(status, body, by_keystone)
    if status == 429 or status >= 500:
        wait = retry_after.seconds_of(reply) or 0.0
        raise answer.TransientError(text, status, remedy, wait)
    if status < 400:
        url = reply.url or ''
        location = reply.headers.get('Location', '')
        target = addresses.shown(addresses.target(url, location))
        raise answer.AnswerError(
            f'HTTP {status}: it redirects to {target}; set url to that '
            'address',
            status,
            remedies.of_redirect(url, target),
        )
    if status in (401, 403):
        if _NO_TENANT.search(text):
            option = remedies.TENANT.removeprefix('set ')
            text += f': it requires a tenant. Set {option}'
            remedy = remedies.TENANT
        else:
            text += ' (are the credentials of [kronos_prometheus] right?)'
    elif answer.is_complaint(body):
        # Prometheus itself refuses this query.
        remedy = ''
    raise answer.AnswerError(text, status, remedy)


def _root_of(error: BaseException) -> str:
    """The innermost reason, in few words.

    requests' own texts repeat the request, and may show headers.
    """
    inner: Any = error
    while True:
        causes = [inner.__cause__, getattr(inner, 'reason', None)]
        causes += [arg for arg in inner.args if arg is not inner]
        deeper = [c for c in causes if isinstance(c, BaseException)]
        if not deeper:
            break
        inner = deeper[0]
    text = getattr(inner, 'strerror', None) or type(inner).__name__
    return str(text)
