# SPDX-License-Identifier: Apache-2.0
"""Clients that remember what they were told, so that nothing is asked twice.

The checks ask for one thing after another; then a snapshot is taken of the
very same answers.
"""

from collections.abc import Callable, Collection
from typing import Any

from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.rows import HostAggregate
from kronos.clients.placement import PlacementClient, Room
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine import types


class _Memory:
    """Answers, and errors, by name."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def once(self, name: str, ask: Callable[[], Any]) -> Any:
        """What the first call gave.

        :raises ClientError: the first call raised it
        """
        if name not in self._kept:
            try:
                self._kept[name] = ask()
            except exceptions.ClientError as error:
                self._kept[name] = error
        kept = self._kept[name]
        if isinstance(kept, exceptions.ClientError):
            raise kept
        return kept


class OnceNova(NovaClient):
    """Nova, with each listing read once."""

    def __init__(self, compute: Any, **options: Any) -> None:
        super().__init__(compute, **options)
        self._memory = _Memory()

    def list_compute_services(self) -> dict[str, types.ComputeService]:
        found: dict[str, types.ComputeService] = self._memory.once(
            'services', super().list_compute_services
        )
        return found

    def list_compute_hosts(self) -> list[types.Host]:
        found: list[types.Host] = self._memory.once(
            'hosts', super().list_compute_hosts
        )
        return found

    def list_aggregates(self) -> list[HostAggregate]:
        found: list[HostAggregate] = self._memory.once(
            'aggregates', super().list_aggregates
        )
        return found

    def list_instances(self) -> list[types.Instance]:
        found: list[types.Instance] = self._memory.once(
            'instances', super().list_instances
        )
        return found

    def list_server_groups(self) -> list[types.ServerGroup]:
        found: list[types.ServerGroup] = self._memory.once(
            'groups', super().list_server_groups
        )
        return found

    def list_migrations(self, since: float) -> list[types.Event]:
        listing = super().list_migrations
        found: list[types.Event] = self._memory.once(
            'migrations', lambda: listing(since)
        )
        return found


class OncePlacement(PlacementClient):
    """Placement, with its view of the hosts read once."""

    def __init__(self, adapter: Any, **options: Any) -> None:
        super().__init__(adapter, **options)
        self._memory = _Memory()

    def headroom(self) -> dict[str, Room]:
        found: dict[str, Room] = self._memory.once(
            'headroom', super().headroom
        )
        return found


class OncePrometheus:
    """Prometheus, with each query asked once.

    When one is tried in vain, the others are not asked, as in an audit.
    """

    def __init__(self, prometheus: PrometheusClient) -> None:
        self._prometheus = prometheus
        self._away = ''
        self._kept: dict[tuple[str, str], types.Reading] = {}

    def instant_query(
        self,
        query: str,
        label_key: str = 'host',
        expected_labels: Collection[str] | None = None,
    ) -> types.Reading:
        """As :meth:`PrometheusClient.instant_query`."""
        key = (query, label_key)
        if key not in self._kept and self._away:
            return types.Reading(
                query,
                types.Health.UNREACHABLE,
                error=self._away,
                is_away=True,
            )
        if key not in self._kept:
            reading = self._prometheus.instant_query(
                query, label_key, expected_labels
            )
            if reading.is_away:
                self._away = reading.error
            self._kept[key] = reading
        return self._kept[key]
