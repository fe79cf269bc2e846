# SPDX-License-Identifier: Apache-2.0
"""The Prometheus client: one query, one reading with its health."""

from collections.abc import Callable, Collection
from typing import Any

from keystoneauth1 import adapter as ks_adapter
from oslo_log import log as logging

from kronos.clients import keystone
from kronos.clients.prometheus import auth, http, response
from kronos.clients.prometheus.response import Series
from kronos.common import exceptions
from kronos.engine.scoring import answer_health
from kronos.engine.types import Health, Reading, Sample

__all__ = ['PrometheusClient', 'Series', 'from_options']

LOG = logging.getLogger(__name__)

SERVICE_TYPE = 'metric-storage'
TOO_MUCH = frozenset({413, 422, 503, 504})
"""Statuses of a range that may be too long: Prometheus and others have limits
of samples and seconds."""


class PrometheusClient:
    """Prometheus, or what speaks its HTTP API (Thanos, Mimir, Aetos).

    :param url: address with its prefix; empty for a keystoneauth1
        adapter, which finds its endpoint itself. A ``user:password@`` in
        it is used for basic authentication and never shown
    :param session: a ``requests.Session`` or a keystoneauth1 adapter
    :param staleness_threshold: seconds after which a sample is dropped
    :param complain: logs why a reading is not usable
    :param options: of :class:`.http.Http`
    :raises ConfigurationError: the address is none
    """

    def __init__(
        self,
        url: str,
        session: Any,
        *,
        staleness_threshold: float = 300,
        complain: Callable[..., object] = LOG.error,
        **options: Any,
    ) -> None:
        self._complain = complain
        self._http = http.Http(url, session, **options)
        self._staleness_threshold = staleness_threshold

    @property
    def address(self) -> str:
        """For messages: without secrets."""
        return self._http.address

    def instant_query(
        self,
        query: str,
        label_key: str = 'host',
        expected_labels: Collection[str] | None = None,
    ) -> Reading:
        """The newest value of each series; never raises for the world.

        Series that share a label value stay apart.

        :param label_key: a series without it is left out; '': it need have
            none
        :param expected_labels: values of the label; if one of them has
            no finite sample the reading is PARTIAL
        """
        params = {'query': query}
        if not self._http.by_keystone:
            # The time stamps of an instant vector are those of the query;
            # only Prometheus itself knows how old its samples are.
            params['lookback_delta'] = f'{self._staleness_threshold:g}'
        try:
            answered = self._http.ask('query', params)
            samples = response.vector(answered.data, label_key)
        except response.AnswerError as error:
            reading = Reading(query, Health.UNREACHABLE, error=str(error))
            reading.is_away = isinstance(error, response.TransientError)
            reading.remedy = error.remedy
            return self._complained(reading)
        reading = answer_health.judge(
            query,
            label_key,
            answer_health.QueryAnswer(
                samples,
                asked_at=answered.asked_at,
                answered_at=answered.answered_at,
                dated=answered.dated,
                incomplete=answered.incomplete,
            ),
            self._staleness_threshold,
        )
        present = {s.label for s in reading.samples if response.is_number(s)}
        if reading.error:
            return self._complained(reading)
        if set(expected_labels or ()) - present:
            reading.health = Health.PARTIAL
        return reading

    def query_at(
        self, query: str, time: float, label_key: str = 'host'
    ) -> list[Sample]:
        """The value of each series at a moment of the past.

        :param time: Unix seconds
        :raises PrometheusError: Prometheus refused or cannot be reached
        """
        params = {'query': query, 'time': f'{time:.3f}'}
        try:
            data = self._http.ask('query', params).data
            samples = response.vector(data, label_key)
        except response.AnswerError as error:
            raise exceptions.PrometheusError(
                url=self.address, reason=str(error)
            ) from error
        return [sample for sample in samples if response.is_number(sample)]

    def range_query(
        self,
        query: str,
        start: float,
        end: float,
        step: float,
        label_key: str = 'host',
        skips_unlabelled: bool = False,
    ) -> list[Series]:
        """The values of each series over time (Unix seconds, seconds).

        For programs that use this client, and for loads; planning asks for
        no past.

        :param skips_unlabelled: whether a series without the label is left
            out, as of an instant query; else it is an error
        :raises PrometheusSizeError: a shorter time may be answered
        :raises PrometheusError: Prometheus refused or cannot be reached
        """
        params = {
            'query': query,
            'start': f'{start:.3f}',
            'end': f'{end:.3f}',
            'step': f'{step:g}',
        }
        try:
            data = self._http.ask('query_range', params).data
            return response.matrix(data, label_key, skips_unlabelled)
        except response.AnswerError as error:
            kind = exceptions.PrometheusError
            if (
                isinstance(error, response.TooMuchError)
                or error.status in TOO_MUCH
            ):
                kind = exceptions.PrometheusSizeError
            raise kind(url=self.address, reason=str(error)) from error

    def health(self) -> Health:
        """HEALTHY if it answers, else UNREACHABLE, the reason logged.

        For programs that use this client; planning sees it by its queries.
        """
        try:
            self._http.ask('status/runtimeinfo', {}, 'GET')
        except response.AnswerError as error:
            # Not every compatible server has it.
            if error.status in (404, 405, 501):
                return self._health_by_query()
            LOG.error('Prometheus at %s: %s', self.address, error)
            return Health.UNREACHABLE
        return Health.HEALTHY

    def _health_by_query(self) -> Health:
        try:
            self._http.ask('query', {'query': 'vector(1)'})
        except response.AnswerError as error:
            LOG.error('Prometheus at %s: %s', self.address, error)
            return Health.UNREACHABLE
        return Health.HEALTHY

    def _complained(self, reading: Reading) -> Reading:
        """The reading, with where its error is from."""
        reading.error = f'Prometheus at {self.address}: {reading.error}'
        self._complain('%s Query: %s', reading.error, reading.query)
        return reading


def from_options(
    options: Any, keystone_session: Any = None, **kwargs: Any
) -> PrometheusClient:
    """A client as ``[kronos_prometheus]`` describes it.

    :param options: the group of oslo.config, or any object with its
        attributes
    :param keystone_session: for Aetos, where ``url`` is not set
    :param kwargs: ``clock``, ``sleep``, ``complain`` and ``longest`` of the
        client
    :raises ConfigurationError: names the options that do not fit
    """
    kwargs |= {
        name: getattr(options, name)
        for name in (
            'timeout',
            'max_retries',
            'retry_backoff',
            'staleness_threshold',
        )
    }
    if options.url:
        session = auth.session_from(options)
        return PrometheusClient(options.url, session, **kwargs)
    superfluous = ', '.join(auth.given_options(options))
    if superfluous:
        raise exceptions.ConfigurationError(
            reason=f'[{auth.GROUP}] url is not set, so Keystone finds '
            f'Prometheus and authenticates; set url, or remove {superfluous}'
        )
    if keystone_session is None:
        raise exceptions.ConfigurationError(
            reason=f'[{auth.GROUP}] url is not set, and there is no Keystone '
            'session to find the address of Prometheus; set url'
        )
    adapter = ks_adapter.Adapter(
        keystone.own(
            keystone_session,
            http.limits_of(
                options.timeout, kwargs.get('longest', http.LONGEST)
            ),
            # Its own errors say so.
            warn=LOG.debug,
        ),
        service_type=SERVICE_TYPE,
        interface=options.interface,
        region_name=options.region_name,
    )
    return PrometheusClient('', adapter, **kwargs)
