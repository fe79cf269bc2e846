# SPDX-License-Identifier: Apache-2.0
"""The metrics of the agent, and the server that Prometheus reads them from."""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import prometheus_client
from oslo_log import log as logging

from kronos.common import plain_files
from kronos.common.web import http_server

LOG = logging.getLogger(__name__)

Failure = tuple[str, str]
"""An instance and the kind of its failure."""


@dataclass(frozen=True)
class Address:
    """Where the metrics are served; '' for no file."""

    host: str
    port: int
    certfile: str = ''
    keyfile: str = ''
    client_cafile: str = ''

    @property
    def files(self) -> tuple[str, str, str]:
        return self.certfile, self.keyfile, self.client_cafile


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


class Server:
    """Serves the metrics over HTTP, or HTTPS where there is a certificate.

    :raises OSError: the address is taken, or a file is no good
    """

    def __init__(self, address: Address, metrics: Metrics) -> None:
        self._address = address
        self._versions = plain_files.versions(*address.files)
        registry: Any = _Noted(metrics)
        self._server = http_server.HttpServer(
            address.host,
            address.port,
            prometheus_client.make_wsgi_app(registry),
            _context(address),
        )

    @property
    def port(self) -> int:
        return self._server.port

    def refresh(self) -> None:
        """Take a rotated certificate; who is connected keeps the old one."""
        versions = plain_files.versions(*self._address.files)
        if versions == self._versions:
            return
        self._versions = versions
        try:
            self._server.context = _context(self._address)
        except OSError as error:
            LOG.error(
                'The metrics are served with the old certificate: %s: %s',
                self._address.certfile,
                getattr(error, 'strerror', None) or error,
            )

    def close(self) -> None:
        self._server.close()


def _context(address: Address) -> ssl.SSLContext | None:
    """The certificate, and whose certificates clients need.

    :raises OSError: a file cannot be read, or holds something else
    """
    if not address.certfile:
        return None
    plain_files.require(*address.files)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # A password would be asked for on the terminal.
    context.load_cert_chain(
        address.certfile, address.keyfile or None, password=lambda: ''
    )
    if address.client_cafile:
        context.load_verify_locations(address.client_cafile)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
