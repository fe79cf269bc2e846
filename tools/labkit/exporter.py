# SPDX-License-Identifier: Apache-2.0
"""The figures of node_exporter and the libvirt exporter for each host.

One process answers /node/HOST and /libvirt/HOST with the names and labels
of those two, from where Nova's database has the servers.
"""

import http.server
import logging
import os
import sys
import threading
import time
from typing import Any

import pymysql

from labkit import counters, database, demand, ports, releases, topology
from labkit.cells import choice

LOG = logging.getLogger(__name__)
POLL_SECONDS = 1.0
MIB = 1024 * 1024
BEGAN = time.time()
"""When a host booted that nobody has rebooted since."""


def node_metrics(name: str, host: counters.HostState, now: float) -> str:
    """The figures of a host, as node_exporter gives them."""
    booted = releases.of(name, BEGAN)
    size = topology.HOSTS[name]
    busy = host.busy.at(now) / size.cores
    seconds = {
        'idle': host.idle.at(now) / size.cores,
        'system': busy * counters.SYSTEM_SHARE,
        'user': busy * (1 - counters.SYSTEM_SHARE),
    }
    total = size.memory_mb * MIB
    used = host.memory_used_mb * MIB
    lines = ['# TYPE node_cpu_seconds_total counter']
    lines += [
        f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} '
        f'{seconds.get(mode, 0.0):.6f}'
        for cpu in range(size.cores)
        for mode in counters.MODES
    ]
    for metric, value in (
        ('node_load1', host.cores_used),
        ('node_memory_MemTotal_bytes', total),
        ('node_memory_MemAvailable_bytes', total - used),
        ('node_memory_MemFree_bytes', (total - used) * 0.9),
        ('node_boot_time_seconds', booted.booted),
    ):
        lines += [f'# TYPE {metric} gauge', f'{metric} {value:.6f}']
    labels = f'nodename="{name}",release="{_escape(booted.release)}"'
    lines += [
        '# TYPE node_uname_info gauge',
        f'node_uname_info{{sysname="Linux",{labels}}} 1',
    ]
    return '\n'.join(lines) + '\n'


def libvirt_metrics(host: counters.HostState, now: float) -> str:
    """The figures of a host's domains, as the libvirt exporter gives them."""
    samples: dict[str, list[str]] = {}
    for uuid, guest in host.guests.items():
        if not guest.visible:
            continue
        label = f'{{domain="{guest.domain}"}}'
        memory = guest.memory_mb * MIB
        used = guest.memory_used_mb * MIB
        for metric, value in {
            'info_cpu_time_seconds_total': host.guest_time[uuid].at(now),
            'info_maximum_memory_bytes': memory,
            'info_memory_usage_bytes': memory,
            'info_virtual_cpus': guest.vcpus,
            'memory_stats_available_bytes': memory,
            'memory_stats_rss_bytes': used,
            'memory_stats_unused_bytes': memory - used,
            'memory_stats_usable_bytes': memory - used,
            'memory_stats_used_percent': 100.0 * used / memory,
        }.items():
            line = f'libvirt_domain_{metric}{label} {value:.6f}'
            samples.setdefault(metric, []).append(line)
        samples.setdefault('info_meta', []).append(_meta(guest))
    lines = ['# TYPE libvirt_up gauge', 'libvirt_up 1']
    for metric, sample in samples.items():
        kind = 'counter' if metric.endswith('_total') else 'gauge'
        lines += [f'# TYPE libvirt_domain_{metric} {kind}', *sample]
    return '\n'.join(lines) + '\n'


def _meta(guest: demand.Guest) -> str:
    labels = {
        'domain': guest.domain,
        'uuid': guest.uuid,
        'instance_name': guest.name,
        'flavor': guest.flavor,
        'user_name': 'admin',
        'user_uuid': '',
        'project_name': 'admin',
        'project_uuid': guest.project,
        'root_type': '',
        'root_uuid': '',
    }
    text = ','.join(
        f'{key}="{_escape(value)}"' for key, value in labels.items()
    )
    return f'libvirt_domain_info_meta{{{text}}} 1'


def _escape(value: str) -> str:
    value = value.replace('\\', r'\\').replace('"', r'\"')
    return value.replace('\n', r'\n')


class Exporter(http.server.BaseHTTPRequestHandler):
    """Answers Prometheus."""

    protocol_version = 'HTTP/1.1'
    world: counters.World

    def do_GET(self) -> None:
        _, kind, name = (self.path + '//').split('/')[:3]
        code, body = 404, 'use /node/HOST or /libvirt/HOST\n'
        with self.world.lock:
            host = self.world.hosts.get(name)
            now = time.time()
            self.world.play(now)
            if name in self.world.down:
                code, body = 503, f'{name} is switched off\n'
            elif host and kind == 'node':
                code, body = 200, node_metrics(name, host, now)
            elif host and kind == 'libvirt':
                code, body = 200, libvirt_metrics(host, now)
        content = body.encode()
        self.send_response(code)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """No line per scrape."""


def follow(world: counters.World, port: int) -> None:
    """Keep the world as Nova has it; the last view stays when it is away."""
    links: list[Any] = []
    trouble = ''
    while True:
        try:
            if not links:
                names = choice.databases()
                links = [database.connect(port, name) for name in names]
            world.update(demand.read(*links), time.time())
            trouble = _changed(trouble, '')
        except (pymysql.MySQLError, OSError) as error:
            links = []
            trouble = _changed(trouble, f'no view of Nova: {error}')
        except (ValueError, TypeError, AttributeError) as error:
            trouble = _changed(trouble, f'overrides not used: {error}')
        time.sleep(POLL_SECONDS)


def _changed(before: str, now: str) -> str:
    if now != before:
        LOG.warning(now or 'all is well again')
    return now


def _follow_or_end(world: counters.World, port: int) -> None:
    try:
        follow(world, port)
    except BaseException:
        LOG.exception('the exporter ends: its figures would be wrong')
        os._exit(1)


def main() -> None:
    logging.basicConfig(
        level=logging.INFO, format='%(asctime)s %(levelname)s %(message)s'
    )
    Exporter.world = counters.World(time.time())
    threading.Thread(
        target=_follow_or_end,
        args=(Exporter.world, ports.load()['mariadb']),
        daemon=True,
    ).start()
    address = ('127.0.0.1', int(sys.argv[1]))
    http.server.ThreadingHTTPServer(address, Exporter).serve_forever()


if __name__ == '__main__':
    main()
