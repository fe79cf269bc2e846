# SPDX-License-Identifier: Apache-2.0
"""The wire to Nova and Placement: microversions, retries, errors.

Whatever comes back, or does not, is what was expected or the client's own
error; there is no other place where that is seen to.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from openstack import exceptions as sdk_exceptions
from oslo_config import cfg

from kronos.clients import (
    answers,
    paging,
    redirects,
    schema,
    transport,
    tries,
)
from kronos.clients.paging import Page
from kronos.common import exceptions
from kronos.common.web import retry_after

TRANSIENT = frozenset({429, 500, 502, 503, 504})
"""Statuses after which a read is worth another try."""
NEVER_SENT = frozenset({'NewConnectionError', 'ConnectTimeoutError'})
"""urllib3's names for a connection that was never made."""
PATIENCE = 30.0
"""Seconds; who is asked to wait for longer is told at once."""

FAILURES = (ks_exceptions.ClientException, sdk_exceptions.SDKException)
"""What an adapter raises when it knows what is wrong."""

Json = dict[str, Any]


class Wire:
    """Requests to one service through a keystoneauth adapter.

    One class, since whether a request may be tried again depends on how far it
    came: from the connection to the shape of its answer.

    :param adapter: a keystoneauth1 Adapter or an openstacksdk proxy
    :param error: what is raised; its ``kwargs`` hold ``status`` (HTTP
        status or None), ``transient`` (worth another try later), ``sent``
        (False if the request surely did not arrive) and ``retry_after``
        (seconds that the service asked to wait, or None)
    :param max_retries: further tries of a read
    :param retry_backoff: seconds before the first of them, then doubled
    :param timeout: seconds of silence that each try endures; a session of
        :mod:`~kronos.clients.keystone` gives a whole answer twice as long
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
        self._tries = tries.Tries(
            max_retries,
            retry_backoff,
            PATIENCE,
            asked_wait=_asked_wait,
            described=str,
            sleep=sleep,
        )

    def get(
        self,
        path: str,
        microversion: str,
        params: Mapping[str, Any] | None = None,
        *,
        shape: Any,
    ) -> Any:
        """Read; connection errors, 429 and most of 5xx are tried again.

        Not before the service wants it (``Retry-After``); if that is later
        than ``PATIENCE``, the error is raised at once.

        :param shape: what the body must be, as for
            :func:`kronos.clients.schema.parse`
        :raises ClientError: of the type given at construction
        """
        return self._tries.run(
            _is_soon_over,
            self._get,
            path,
            microversion,
            dict(params or {}),
            shape,
        )

    def send(
        self, method: str, path: str, microversion: str, body: Any = None
    ) -> Any:
        """Write; tried again only if it surely never arrived.

        No redirection is followed, and if the token was refused, the caller
        is to look first: the next request gets a new one.

        :returns: the ``requests.Response``, its status below 300
        :raises ClientError: of the type given at construction
        """
        return self._tries.run(
            _was_not_sent, self._write, method, path, microversion, body
        )

    def get_all(
        self,
        path: str,
        key: str,
        microversion: str,
        params: Mapping[str, Any] | None = None,
        id_field: str = 'id',
        *,
        shape: Any,
    ) -> Iterator[Json]:
        """Rows of all pages of a listing that is paged by marker.

        As :meth:`pages` gives them.
        """
        for page in self.pages(
            path, key, microversion, params, id_field, shape=shape
        ):
            yield from page.rows

    def pages(
        self,
        path: str,
        key: str,
        microversion: str,
        params: Mapping[str, Any] | None = None,
        id_field: str = 'id',
        *,
        shape: Any,
    ) -> Iterator[Page]:
        """The pages of a listing that is paged by marker.

        A marker that was deleted meanwhile (HTTP 400) is replaced by the
        row before it; no row is given twice.

        :param shape: of a row
        """
        page_shape = schema.page(key, shape)

        def get(query: Json) -> Any:
            return self.get(path, microversion, query, shape=page_shape)

        for page in paging.pages(get, key, dict(params or {}), id_field):
            yield page
            if page.is_last:
                return
        raise self.failure(f'GET {path}: it has no last page')

    def _get(
        self, path: str, microversion: str, params: Json, shape: Any
    ) -> Any:
        response = self._request('GET', path, microversion, params=params)
        try:
            return schema.parse(shape, schema.json_of(response.content))
        except schema.UnexpectedError as error:
            raise self.failure(
                f'GET {path}: the answer is not what was expected: {error}',
                status=response.status_code,
            ) from None
        except (ValueError, RecursionError):
            raise self.failure(
                f'GET {path}: the answer is not JSON; is the endpoint in '
                'the Keystone catalog right? It is '
                f'{answers.described(answers.start_of(response))}',
                status=response.status_code,
            ) from None

    def _write(
        self, method: str, path: str, microversion: str, body: Any
    ) -> Any:
        self._authenticate(method, path)
        try:
            return self._request(
                method,
                path,
                microversion,
                json=body,
                redirect=False,
                allow_reauth=False,
            )
        except exceptions.ClientError as error:
            if error.kwargs['status'] == 401:
                self.adapter.invalidate()
                error.kwargs['transient'] = True
            raise

    def _authenticate(self, method: str, path: str) -> None:
        """Have a token, so that a Keystone that is away is told from Nova.

        :raises ClientError: Keystone gives none; the request was not sent
        """
        with self.guard(
            f'{method} {path}: no token from Keystone', sent=False
        ):
            if self.adapter.session.auth or self.adapter.auth:
                self.adapter.get_token()

    def _request(
        self, method: str, path: str, microversion: str, **kwargs: Any
    ) -> Any:
        with self.guard(f'{method} {path}'):
            response = self.adapter.request(
                path,
                method,
                microversion=microversion,
                raise_exc=False,
                # Those of [nova] would repeat what writes.
                connect_retries=0,
                status_code_retries=0,
                timeout=self._timeout,
                **kwargs,
            )
        if response.status_code >= 300:
            raise self.failure(
                f'{method} {path}: HTTP {response.status_code}: '
                f'{answers.message_of(response)}',
                status=response.status_code,
                transient=response.status_code in TRANSIENT,
                retry_after=retry_after.seconds_of(response),
            )
        self._tries.succeeded()
        return response

    def guard(
        self,
        what: str,
        sent: bool | None = None,
        passing: bool | None = None,
    ) -> contextlib.AbstractContextManager[None]:
        """As :func:`guarded`, with the error of this wire."""
        return guarded(self._error, what, sent, passing, self.adapter)

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
        if not transient:
            # Who answers so may not be the service.
            forget_versions(self.adapter)
        return self._error(
            reason=reason, **facts(status, transient, sent, retry_after)
        )


@contextlib.contextmanager
def guarded(
    kind: type[exceptions.ClientError],
    what: str,
    sent: bool | None = None,
    passing: bool | None = None,
    adapter: Any = None,
) -> Iterator[None]:
    """Make one error of whatever goes wrong between Kronos and a service.

    keystoneauth and openstacksdk take answers of Keystone, and descriptions
    of versions, to be what they should be, and stumble over others.

    :param what: was tried; the error says it first
    :param sent: False if a request surely was not, whatever happens
    :param passing: whether it is worth another try, if that is known
    :param adapter: what it knows of versions is forgotten, unless there was
        no answer
    :raises ClientError: of the kind given
    """
    try:
        yield
    except (exceptions.KronosException, cfg.Error):
        # The text of the latter may hold a secret; who knows it tells.
        raise
    except Exception as error:
        is_silent = isinstance(error, ks_exceptions.ConnectionError)
        if adapter is not None and not is_silent:
            forget_versions(adapter)
        if sent is None and not _may_have_arrived(error):
            sent = False
        if passing is None or redirects.lasting(error):
            passing = _is_passing(error)
        raise kind(
            reason=f'{what}: {_text_of(error)}',
            # No status: it would be one of Keystone's.
            **facts(transient=passing, sent=sent),
        ) from error


def forget_versions(adapter: Any) -> None:
    """Have all services tell their versions anew.

    keystoneauth keeps a document that was wrong for a moment, too, for as
    long as the process lives.

    :param adapter: or what else has a ``session`` of keystoneauth
    """
    try:
        session = adapter.session
    except sdk_exceptions.ServiceDisabledException:
        # Of a service that is not in the catalog.
        return
    for keeper in (session, getattr(session, 'auth', None)):
        getattr(keeper, '_discovery_cache', {}).clear()


def _text_of(error: Exception) -> str:
    lasting = redirects.lasting(error)
    if lasting is not None:
        return answers.line_of(lasting)
    is_expected = isinstance(error, FAILURES)
    name = '' if is_expected else f'{type(error).__name__}: '
    return name + answers.line_of(error)


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


def _asked_wait(error: BaseException) -> float:
    """Seconds that the service asked to wait; 0 if it did not."""
    if isinstance(error, exceptions.ClientError):
        return float(error.kwargs['retry_after'] or 0)
    return 0.0


def _is_passing(error: Exception) -> bool:
    """Whether the network or Keystone may do better soon.

    A bad certificate will not, nor what lasts.
    """
    if isinstance(error, ks_exceptions.HttpError):
        return error.http_status in TRANSIENT
    return (
        isinstance(error, ks_exceptions.ConnectionError)
        and not isinstance(error, ks_exceptions.SSLError)
        and redirects.lasting(error) is None
    )


def _is_soon_over(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ClientError)
        and bool(error.kwargs['transient'])
        and _asked_wait(error) <= PATIENCE
    )


def _was_not_sent(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ClientError)
        and bool(error.kwargs['transient'])
        and error.kwargs['sent'] is False
    )


def _may_have_arrived(error: BaseException) -> bool:
    """Look for urllib3's "never connected" among an error's causes.

    keystoneauth1 hides it behind one exception for every socket error.
    """
    return not any(
        type(x).__name__ in NEVER_SENT for x in transport.causes(error)
    )
