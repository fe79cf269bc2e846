# SPDX-License-Identifier: Apache-2.0
"""The metrics of the agent, and the server that Prometheus reads them from."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

import prometheus_client

from kronos.common.web import page_server
from kronos.common.web.page_server import Address

Failure = tuple[str, str]
"""An instance and the kind of its failure."""


class Metrics:
    """All metrics of one agent, in a registry of its own.

    :param host: as messages name it
    """

    def __init__(self, host: str) -> None:
        self.registry = prometheus_client.CollectorRegistry()
        self._host = host
        self._failures: set[Failure] = set()
        self.read = float('-inf')
        """When somebody last began to read them; by the monotonic clock."""
        self._of_servers()
        self._of_the_agent()
        self._of_the_spool()

    def _of_servers(self) -> None:
        self._events = self._counter(
            'kronos_vm_events',
            'Events of servers without a failure (ignored) or that belonged '
            'to an incident (grouped), and incidents by their result',
            'host',
            'kind',
            'decision',
        )
        self._failed = self._gauge(
            'kronos_vm_failed',
            '1 for a server that failed, until it runs again or is gone',
            'host',
            'instance_uuid',
            'kind',
        )

    def _of_the_agent(self) -> None:
        self._gauge(
            'kronos_monitor_info',
            '1, by the host that the agent watches',
            'host',
        ).labels(self._host).set(1)
        self.up = self._gauge(
            'kronos_monitor_libvirt_up', 'Whether the hypervisor sends events'
        )
        self.gaps = self._counter(
            'kronos_monitor_gaps',
            'Periods without events while servers were running',
        )
        self.deliveries = self._counter(
            'kronos_monitor_deliveries',
            'Tries to deliver a message',
            'sink',
            'result',
        )
        self.rules_valid = self._gauge(
            'kronos_monitor_rules_valid',
            'Whether the current rules file is valid',
        )
        self.errors = self._counter(
            'kronos_monitor_errors',
            'Errors of the agent itself, as its log shows',
        )

    def _of_the_spool(self) -> None:
        self.spool_bytes = self._gauge(
            'kronos_monitor_spool_bytes',
            'Bytes of incidents and servers in the state file',
        )
        self.spool_errors = self._counter(
            'kronos_monitor_spool_errors',
            'Number of times that the state file could not be used',
        )
        self.dropped = self._counter(
            'kronos_monitor_dropped',
            'Incidents that were dropped undelivered because the state file '
            'was full',
        )
        self.oldest = self._gauge(
            'kronos_monitor_oldest_undelivered_seconds',
            'Age of the oldest incident that a sink has not received yet',
        )

    def _counter(
        self, name: str, text: str, *labels: str
    ) -> prometheus_client.Counter:
        return prometheus_client.Counter(
            name, text, labels, registry=self.registry
        )

    def _gauge(
        self, name: str, text: str, *labels: str
    ) -> prometheus_client.Gauge:
        return prometheus_client.Gauge(
            name, text, labels, registry=self.registry
        )

    def count(self, taken: Mapping[tuple[str, str], int]) -> None:
        """Count events and incidents, by kind and decision."""
        for (kind, decision), number in taken.items():
            self._events.labels(self._host, kind, decision).inc(number)

    def show_failures(self, failures: Iterable[Failure]) -> None:
        """Show these servers as failed, and no others."""
        now = set(failures)
        for gone in self._failures - now:
            self._failed.remove(self._host, *gone)
        for new in now - self._failures:
            self._failed.labels(self._host, *new).set(1)
        self._failures = now


class _Noted:
    """The registry, for whom to read it means that they are known now."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Any]:
        self._metrics.read = time.monotonic()
        return self._metrics.registry.collect()

    def restricted_registry(self, names: Iterable[str]) -> Any:
        """A part of it: who reads that may miss what matters."""
        return self._metrics.registry.restricted_registry(names)


class Server(page_server.PageServer):
    """Serves the metrics over HTTP, or HTTPS where there is a certificate.

    :raises OSError: the address is taken, or a file is no good
    """

    def __init__(self, address: Address, metrics: Metrics) -> None:
        registry: Any = _Noted(metrics)
        super().__init__(address, prometheus_client.make_wsgi_app(registry))
