# SPDX-License-Identifier: Apache-2.0
"""How do Nova and Placement get asked: microversions, retries, errors?"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tenacity
from keystoneauth1 import exceptions as ks_exceptions
from openstack import exceptions as sdk_exceptions
from oslo_log import log as logging

from kronos.clients import answers
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

TRANSIENT = frozenset({429, 500, 502, 503, 504})
"""Statuses after which a read is worth another try."""
NEVER_SENT = frozenset({'NewConnectionError', 'ConnectTimeoutError'})
"""urllib3's names for a connection that was never made."""
PATIENCE = 30.0
"""Seconds; who is asked to wait for longer is told at once."""

FAILURES = (ks_exceptions.ClientException, sdk_exceptions.SDKException)
"""What an adapter raises."""

Json = dict[str, Any]


class Wire:
    """Requests to one service through a keystoneauth adapter.

    :param adapter: a keystoneauth1 Adapter or an openstacksdk proxy
    :param error: what is raised; its ``kwargs`` hold ``status`` (HTTP
        status or None), ``transient`` (worth another try later), ``sent``
        (False if the request surely did not arrive) and ``retry_after``
        (seconds that the service asked to wait, or None)
    :param max_retries: further tries of a read
    :param retry_backoff: seconds before the first of them, then doubled
    :param timeout: seconds for each try
    """

    def __init__(
        self,
        adapter: Any,
        error: type[exceptions.ClientError],
        *,
        max_retries: int = 3,
        retry_backoff: float = 1.0,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.adapter = adapter
        self._error = error
        self._timeout = timeout
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(max_retries + 1),
            wait=_Wait(multiplier=retry_backoff, max=PATIENCE),
            sleep=sleep,
            before_sleep=_tell,
            reraise=True,
        )

    def get(
        self,
        path: str,
        microversion: str,
        params: Mapping[str, Any] | None = None,
    ) -> Json:
        """Read; connection errors, 429 and most of 5xx are tried again.

        Not before the service wants it (``Retry-After``); if that is later
        than ``PATIENCE``, the error is raised at once.

        :raises ClientError: of the type given at construction
        """
        retry = tenacity.retry_if_exception(_is_soon_over)
        return self._retrying.copy(retry=retry)(
            self._get, path, microversion, dict(params or {})
        )

    def send(
        self, method: str, path: str, microversion: str, body: Any = None
    ) -> Any:
        """Write; tried again only if it surely never arrived.

        :returns: the ``requests.Response``, its status below 400
        :raises ClientError: of the type given at construction
        """
        retry = tenacity.retry_if_exception(_was_not_sent)
        return self._retrying.copy(retry=retry)(
            self._request, method, path, microversion, json=body
        )

    def get_all(
        self,
        path: str,
        key: str,
        microversion: str,
        params: Mapping[str, Any] | None = None,
        id_field: str = 'id',
    ) -> Iterator[Json]:
        """Rows of all pages of a listing that is paged by marker.

        A marker that was deleted meanwhile (HTTP 400) is replaced by the
        row before it; no row is given twice.
        """
        query = dict(params or {})
        seen: dict[str, None] = {}
        while True:
            page = self._page_after(path, microversion, query, list(seen))
            rows = [r for r in page[key] if r[id_field] not in seen]
            seen.update((row[id_field], None) for row in rows)
            yield from rows
            # Nova's instance actions have the latter.
            links = page.get(f'{key}_links') or page.get('links', [])
            if not rows or not any(x.get('rel') == 'next' for x in links):
                return

    def _page_after(
        self, path: str, microversion: str, query: Json, seen: list[str]
    ) -> Json:
        if not seen:
            return self.get(path, microversion, query)
        for marker in seen[:-12:-1]:
            try:
                query['marker'] = marker
                return self.get(path, microversion, query)
            except exceptions.ClientError as error:
                if error.kwargs['status'] != 400:
                    raise
                lost = error
        raise lost

    def _get(self, path: str, microversion: str, params: Json) -> Json:
        response = self._request('GET', path, microversion, params=params)
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self.failure(
                f'GET {path}: the answer is not JSON; is the endpoint in '
                'the Keystone catalog right?'
            )
        return body

    def _request(
        self, method: str, path: str, microversion: str, **kwargs: Any
    ) -> Any:
        try:
            response = self.adapter.request(
                path,
                method,
                microversion=microversion,
                raise_exc=False,
                connect_retries=0,
                timeout=self._timeout,
                **kwargs,
            )
        except FAILURES as error:
            raise self.failure(
                f'{method} {path}: {error}',
                transient=_is_passing(error),
                sent=None if _may_have_arrived(error) else False,
            ) from error
        if response.status_code >= 400:
            raise self.failure(
                f'{method} {path}: HTTP {response.status_code}: '
                f'{answers.message_of(response)}',
                status=response.status_code,
                transient=response.status_code in TRANSIENT,
                retry_after=answers.retry_after_of(response),
            )
        return response

    def failure(
        self,
        reason: str,
        *,
        status: int | None = None,
        transient: bool = False,
        sent: bool | None = None,
        retry_after: float | None = None,
    ) -> exceptions.ClientError:
        """The error to raise, with its data."""
        return self._error(
            reason=reason, **facts(status, transient, sent, retry_after)
        )


def facts(
    status: int | None = None,
    transient: bool = False,
    sent: bool | None = None,
    retry_after: float | None = None,
) -> Json:
    """What every error of a client tells in its ``kwargs``."""
    return {
        'status': status,
        'transient': transient,
        'sent': sent,
        'retry_after': retry_after,
    }


class _Wait(tenacity.wait_exponential):
    """Longer each time, and never shorter than the service asked for."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        outcome = retry_state.outcome
        error = outcome.exception() if outcome else None
        return max(super().__call__(retry_state), _asked_wait(error))


def _asked_wait(error: BaseException | None) -> float:
    """Seconds that the service asked to wait; 0 if it did not."""
    if isinstance(error, exceptions.ClientError):
        return float(error.kwargs['retry_after'] or 0)
    return 0.0


def _is_passing(error: Exception) -> bool:
    """Whether the network may do better soon; a bad certificate will not."""
    return isinstance(error, ks_exceptions.ConnectionError) and not isinstance(
        error, ks_exceptions.SSLError
    )


def _tell(state: tenacity.RetryCallState) -> None:
    outcome = state.outcome
    LOG.info('Trying again: %s', outcome.exception() if outcome else '')


def _is_soon_over(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ClientError)
        and bool(error.kwargs['transient'])
        and _asked_wait(error) <= PATIENCE
    )


def _was_not_sent(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ClientError)
        and error.kwargs['transient']
        and error.kwargs['sent'] is False
    )


def _may_have_arrived(error: BaseException) -> bool:
    """Look for urllib3's "never connected" among an error's causes.

    keystoneauth1 hides it behind one exception for every socket error.
    """
    todo: list[Any] = [error]
    seen: list[Any] = []
    while todo:
        cause = todo.pop()
        if not isinstance(cause, BaseException) or cause in seen:
            continue
        if type(cause).__name__ in NEVER_SENT:
            return False
        seen.append(cause)
        todo += [cause.__cause__, cause.__context__, *cause.args]
        todo.append(getattr(cause, 'reason', None))
    return True
