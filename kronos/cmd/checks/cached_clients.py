# SPDX-License-Identifier: Apache-2.0
"""Clients that remember what they were told, so that nothing is asked twice.

The checks ask for one thing after another; then a snapshot is taken of the
very same answers.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine import types

_Client = TypeVar('_Client')
_Given = ParamSpec('_Given')
_Answer = TypeVar('_Answer')


def _once(
    ask: Callable[Concatenate[_Client, _Given], _Answer],
) -> Callable[Concatenate[_Client, _Given], _Answer]:
    """A method that gives its first answer, or error, again.

    :param ask: a method, which raises a ClientError or answers
    """
    name = ask.__name__

    @functools.wraps(ask)
    def remembered(
        client: _Client, /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Answer:
        answers: dict[str, Any] = vars(client).setdefault('_remembered', {})
        if name not in answers:
            try:
                answers[name] = ask(client, *args, **kwargs)
            except exceptions.ClientError as error:
                answers[name] = error
        if isinstance(answers[name], exceptions.ClientError):
            raise answers[name]
        answer: _Answer = answers[name]
        return answer

    return remembered


class OnceNova(NovaClient):
    """Nova, with each listing read once."""

    list_compute_services = _once(NovaClient.list_compute_services)
    list_compute_hosts = _once(NovaClient.list_compute_hosts)
    list_aggregates = _once(NovaClient.list_aggregates)
    list_instances = _once(NovaClient.list_instances)
    list_server_groups = _once(NovaClient.list_server_groups)
    list_migrations = _once(NovaClient.list_migrations)


class OncePlacement(PlacementClient):
    """Placement, with its view of the hosts read once."""

    headroom = _once(PlacementClient.headroom)


class OncePrometheus:
    """Prometheus, with each query asked once.

    When one is tried in vain, the others are not asked, as in an audit; nor
    are they when the first answer shows that address or credentials are wrong.
    """

    def __init__(self, prometheus: PrometheusClient) -> None:
        self._prometheus = prometheus
        self._away: types.Reading | None = None
        self._answers = False
        """Whether any query was answered, be it by a refusal."""
        self._readings: dict[tuple[str, str], types.Reading] = {}

    def instant_query(
        self, query: str, label_key: str = 'host'
    ) -> types.Reading:
        """As :meth:`PrometheusClient.instant_query`."""
        key = (query, label_key)
        if key not in self._readings and self._away:
            return dataclasses.replace(self._away, query=query)
        if key not in self._readings:
            self._readings[key] = self._ask(query, label_key)
        return self._readings[key]

    def _ask(self, query: str, label_key: str) -> types.Reading:
        reading = self._prometheus.instant_query(query, label_key)
        if reading.remedy and not self._answers:
            reading.is_away = True
        elif not reading.is_away:
            # What refuses this query alone is not the connection.
            reading.remedy, self._answers = '', True
        if reading.is_away:
            self._away = reading
        return reading
