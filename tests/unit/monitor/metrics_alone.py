# SPDX-License-Identifier: Apache-2.0
"""Do the metrics say how it is, and are they served safely?"""

import contextlib
import http.client
import os
import pathlib
import socket
import ssl
import time
from typing import Any

import fixtures
from oslotest import base

from kronos.monitor.metrics import Address, Metrics, Server
from tests.unit.monitor import agents
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.hypervisor import ONE, TWO, until

NAMES = (
    'kronos_vm_events_total',
    'kronos_vm_failed',
    'kronos_monitor_info',
    'kronos_monitor_libvirt_up',
    'kronos_monitor_gaps_total',
    'kronos_monitor_deliveries_total',
    'kronos_monitor_spool_bytes',
    'kronos_monitor_rules_valid',
    'kronos_monitor_oldest_undelivered_seconds',
)


class MetricsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.metrics = Metrics('node1')

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)

    def serve(self, **more: str) -> Server:
        server = Server(Address('127.0.0.1', 0, **more), self.metrics)
        self.addCleanup(server.close)
        return server


class TestMetrics(MetricsTestCase):
    def test_failures(self) -> None:
        labels = {'host': 'node1', 'kind': 'crash'}
        name = 'kronos_vm_failed'
        self.metrics.show_failures([(ONE, 'crash'), (TWO, 'crash')])
        self.assertEqual(1.0, self.value(name, instance_uuid=ONE, **labels))
        self.metrics.show_failures([(TWO, 'crash')])
        self.assertIsNone(self.value(name, instance_uuid=ONE, **labels))
        self.assertEqual(1.0, self.value(name, instance_uuid=TWO, **labels))

    def test_events(self) -> None:
        for _ in range(2):
            self.metrics.count({('crash', 'sent'): 2})
        self.assertEqual(
            4.0,
            self.value(
                'kronos_vm_events_total',
                host='node1',
                kind='crash',
                decision='sent',
            ),
        )

    def test_names(self) -> None:
        self.metrics.count({('crash', 'sent'): 1})
        self.metrics.show_failures([(ONE, 'crash')])
        self.metrics.deliveries.labels('hook', 'delivered').inc()
        told = {
            sample.name
            for one in self.metrics.registry.collect()
            for sample in one.samples
        }
        for name in NAMES:
            self.assertIn(name, told)


class TestServer(MetricsTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def read(self, port: int, context: ssl.SSLContext | None = None) -> str:
        made: Any = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        if context is not None:
            made = http.client.HTTPSConnection(
                '127.0.0.1', port, context=context, timeout=60
            )
        self.addCleanup(made.close)
        made.request('GET', '/metrics')
        return str(made.getresponse().read().decode())

    def test_plain(self) -> None:
        self.assertIn('kronos_monitor_gaps', self.read(self.serve().port))

    def test_that_somebody_read_them(self) -> None:
        port = self.serve().port
        self.assertEqual(float('-inf'), self.metrics.read)
        before = time.monotonic()
        self.read(port)
        first = self.metrics.read
        self.assertGreaterEqual(first, before)
        self.read(port)
        self.assertGreater(self.metrics.read, first)

    def test_client_certificates(self) -> None:
        authority = Authority(self.folder)
        files = authority.issue('server')
        port = self.serve(
            certfile=files[0], keyfile=files[1], client_cafile=authority.path
        ).port
        context = ssl.create_default_context(cafile=authority.path)
        self.assertRaises(
            (OSError, http.client.HTTPException), self.read, port, context
        )
        context.load_cert_chain(*authority.issue('prometheus'))
        self.assertIn('kronos_monitor_gaps', self.read(port, context))

    def test_a_rotated_certificate(self) -> None:
        authority = Authority(self.folder)
        files = authority.issue('server', expired=True)
        server = self.serve(certfile=files[0], keyfile=files[1])
        context = ssl.create_default_context(cafile=authority.path)
        self.assertRaises(ssl.SSLError, self.read, server.port, context)
        authority.issue('server')
        server.refresh()
        self.assertIn('kronos_monitor', self.read(server.port, context))
        pathlib.Path(files[0]).write_text('no certificate')
        server.refresh()
        self.assertIn('kronos_monitor', self.read(server.port, context))

    def test_who_says_nothing_holds_up_nobody(self) -> None:
        authority = Authority(self.folder)
        files = authority.issue('server')
        port = self.serve(certfile=files[0], keyfile=files[1]).port
        for _ in range(5):
            mute = socket.create_connection(('127.0.0.1', port))
            self.addCleanup(mute.close)
        context = ssl.create_default_context(cafile=authority.path)
        self.assertIn('kronos_monitor', self.read(port, context))

    def test_a_pipe_for_a_certificate(self) -> None:
        pipe = self.folder / 'pipe'
        os.mkfifo(pipe)
        error = self.assertRaises(
            OSError, self.serve, certfile=str(pipe), keyfile=str(pipe)
        )
        self.assertIn('it is no plain file', str(error))

    def test_a_port_that_is_taken(self) -> None:
        taken = self.serve().port
        self.assertRaises(
            OSError, Server, Address('127.0.0.1', taken), self.metrics
        )


class TestProcess(agents.AgentTestCase):
    """An agent whose page many clients ask for, not all of them well."""

    MOST_KIB = 128 * 1024
    """What the unit file grants is twice as much."""

    def setUp(self) -> None:
        super().setUp()
        with socket.create_server(('127.0.0.1', 0)) as free:
            self.port = free.getsockname()[1]
        self.agent_process = self.process('', f'metrics_port = {self.port}')
        until(self.is_there, 'the agent')

    def is_there(self) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(('127.0.0.1', self.port)).close()
            return True
        return False

    def connect(self, data: bytes) -> socket.socket:
        client = socket.create_connection(('127.0.0.1', self.port), 60)
        self.addCleanup(client.close)
        with contextlib.suppress(ConnectionError):
            # The agent may have had enough of it already.
            client.sendall(data)
        return client

    def scrape(self) -> bytes:
        client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        self.addCleanup(client.close)
        client.request('GET', '/metrics')
        return client.getresponse().read()

    def peak_kib(self) -> int:
        path = pathlib.Path(f'/proc/{self.agent_process.pid}/status')
        line = next(
            line
            for line in path.read_text().splitlines()
            if line.startswith('VmHWM')
        )
        return int(line.split()[1])

    def failures(self) -> list[str]:
        lines = (self.folder / 'log').read_text().splitlines()
        return [line for line in lines if 'failed requests' in line]

    def test_bounds(self) -> None:
        header = b'x: ' + b'y' * 60_000 + b'\r\n'
        for _ in range(45):
            self.connect(b'GET /metrics HTTP/1.1\r\n' + header * 20)
        self.assertIn(b'kronos_monitor_info', self.scrape())
        for _ in range(250):
            self.connect(b'GET /metr')
        self.assertIn(b'kronos_monitor_info', self.scrape())
        for _ in range(2000):
            with self.connect(b'GET\r\n\r\n') as client:
                client.recv(1)
        self.assertIn(b'kronos_monitor_info', self.scrape())
        self.assertLess(self.peak_kib(), self.MOST_KIB)
        self.assertIn(len(self.failures()), range(1, 10))
        log = (self.folder / 'log').read_text()
        self.assertNotIn('Traceback', log)
