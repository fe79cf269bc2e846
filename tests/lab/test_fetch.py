# SPDX-License-Identifier: Apache-2.0
"""Is a load fetched from a real Prometheus what the exporters told it?

Its past is written into its database beforehand, so no lab need be up; it
only has to be installed.
"""

import contextlib
import math
import pathlib
import time

import fixtures
import numpy as np
import requests
from oslotest import base

from kronos.clients.nova.server_lives import ServerLife
from kronos.clients.prometheus.client import PrometheusClient
from kronos.cmd.checks.findings import Findings
from kronos.cmd.loads import history
from kronos.engine.types import (
    Event,
    Instance,
    Origin,
    Outcome,
    Reading,
    Sample,
)
from kronos.policies import loader
from kronos.simulate import load as loads
from kronos.simulate.fetch import raw_queries, session
from kronos.simulate.fetch.workplace import Wish
from tests import places
from tests.builders import loads as build
from tests.lab import backfilled

SAMPLE = places.TOP / 'etc' / 'kronos' / 'policies.yaml'
SCRAPE = 30
HOURS = 9
CORES = 4
GIB = 2**30
OWN_CORES = 0.1
"""What a host uses beside its servers."""
CPU = 'libvirt_domain_info_cpu_time_seconds_total'
META = 'libvirt_domain_info_meta'
RSS = 'libvirt_domain_memory_stats_rss_bytes'


def cores_of(number, moment):
    """What a server uses: a slow wave."""
    return 0.5 + 0.1 * number + 0.3 * math.sin(moment / 3000 + number)


class Past:
    """Two hosts; server 1 goes from one to the other in the middle."""

    def __init__(self, end):
        self.end = end
        self.start = end - HOURS * 3600
        self.moved = self.start + 4 * 3600

    def host(self, number, moment):
        if number == 1:
            return 1 if moment >= self.moved else 0
        return number % 2

    def text(self):
        """All samples, as OpenMetrics has them."""
        lines = {name: [] for name in (CPU, META, RSS, 'cpu', 'all', 'free')}
        used = [0.0] * 4
        idle = [0.0, 0.0]
        for tick in range(int(self.end - self.start) // SCRAPE + 1):
            moment = self.start + tick * SCRAPE
            busy = [OWN_CORES] * 2
            for number in range(4):
                cores = cores_of(number, moment)
                used[number] += cores * SCRAPE
                host = self.host(number, moment)
                busy[host] += cores
                self.server(lines, number, host, moment, used[number])
            for host in range(2):
                idle[host] += (CORES - busy[host]) * SCRAPE
                self.node(lines, host, moment, idle[host], busy[host])
        kinds = {CPU: 'counter', 'cpu': 'counter'}
        names = {
            'cpu': 'node_cpu_seconds_total',
            'all': 'node_memory_MemTotal_bytes',
            'free': 'node_memory_MemAvailable_bytes',
        }
        text = []
        for name, rows in lines.items():
            full = names.get(name, name)
            bare = full.removesuffix('_total')
            text += [f'# TYPE {bare} {kinds.get(name, "gauge")}']
            # By series, each in the order of time.
            text += sorted(rows, key=lambda row: row.split(' ')[0])
        return '\n'.join([*text, '# EOF\n'])

    def server(self, lines, number, host, moment, used):
        domain = f'domain="instance-{number:08x}",instance="cmp{host}:9177"'
        uuid = build.uuid(number)
        lines[CPU] += [f'{CPU}{{{domain}}} {used} {moment}']
        lines[META] += [f'{META}{{{domain},uuid="{uuid}"}} 1 {moment}']
        lines[RSS] += [f'{RSS}{{{domain}}} {(number + 1) * GIB} {moment}']

    def node(self, lines, host, moment, idle, busy):
        where = f'instance="cmp{host}:9100"'
        name = 'node_cpu_seconds_total'
        whole = (moment - self.start + SCRAPE) * CORES
        for cpu in range(CORES):
            for mode, value in (
                ('idle', idle / CORES),
                ('user', (whole - idle) / CORES),
            ):
                labels = f'{where},cpu="{cpu}",mode="{mode}"'
                lines['cpu'] += [f'{name}{{{labels}}} {value} {moment}']
        memory = 'node_memory_MemTotal_bytes'
        lines['all'] += [f'{memory}{{{where}}} {16 * GIB} {moment}']
        inside = sum(
            number + 1
            for number in range(4)
            if self.host(number, moment) == host
        )
        free = (15 - inside) * GIB
        memory = 'node_memory_MemAvailable_bytes'
        lines['free'] += [f'{memory}{{{where}}} {free} {moment}']


class TestFetch(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.past = Past(math.floor(time.time() / SCRAPE) * SCRAPE)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.url = stack.enter_context(backfilled.serve(self.past.text()))
        self.client = PrometheusClient(self.url, requests.Session())

    def recording(self):
        policies = loader.load(str(SAMPLE)).policies
        blank = build.load(
            [[0.0], [0.0]], [0], [CORES] * 2, policies
        ).recording
        cloud = blank.gathered.cloud
        for number, host in enumerate([*cloud.hosts.values()]):
            del cloud.hosts[host.name]
            host.name = host.node = f'cmp{number}'
            cloud.hosts[host.name] = host
        cloud.aggregates[0].hosts = [*cloud.hosts]
        blank.gathered.services = None
        blank.gathered.instances = [
            Instance(
                build.uuid(number),
                f'cmp{self.past.host(number, self.past.end)}',
                internal_name=f'instance-{number:08x}',
            )
            for number in range(4)
        ]
        blank.answers = {
            (policy.host_capacity_query, policy.host_label): Reading(
                policy.host_capacity_query,
                samples=[
                    Sample(f'cmp{number}', float(amount), self.past.end)
                    for number in range(2)
                ],
            )
            for policy, amount in zip(policies, (CORES, 16 * GIB), strict=True)
        }
        return blank

    def fetch(self, path):
        ends = ('cmp0', 'cmp1')
        moved = self.past.moved
        move = Event(build.uuid(1), *ends, Outcome.MOVED, moved, Origin.NOVA)
        source = session.Source(
            self.recording,
            lambda since: list[ServerLife](),
            lambda since: [move],
            lambda: self.client,
        )
        wish = Wish(8 * 3600.0, 300, {}, '')
        report = session.Report(lambda text: None, lambda one, all_: None)
        session.fetch(str(path), wish, source, self.past.end, report)
        return loads.read(str(path))

    def test_what_the_exporters_told(self):
        load = self.fetch(self.folder / 'load')
        moments = load.meta.start + 300.0 * np.arange(load.ticks)
        settled = np.abs(moments - self.past.moved) > 600
        for number in range(4):
            expected = np.mean(
                [
                    [cores_of(number, moment - second) for moment in moments]
                    for second in range(0, 300, SCRAPE)
                ],
                axis=0,
            )
            np.testing.assert_allclose(
                expected[settled],
                load.usage['cpu'][settled, number],
                rtol=0.02,
            )
            np.testing.assert_allclose(
                (number + 1) * GIB, load.usage['memory'][:, number]
            )
        is_moved = moments >= self.past.moved
        np.testing.assert_array_equal(is_moved, load.placement[:, 1] == 1)
        rest = load.remainder['cpu'][settled]
        np.testing.assert_allclose(rest, OWN_CORES, atol=0.03)
        rest = load.remainder['memory'][settled]
        np.testing.assert_allclose(rest, GIB, rtol=1e-3)
        window = load.meta.policies['cpu'].window
        self.assertEqual('avg:2700', window)

    def test_a_few_servers(self):
        """What kronos-test-config asks of the past is right PromQL."""
        [cpu, _] = loader.load(str(SAMPLE)).policies
        raw = raw_queries.derived(cpu.vm_profile_query, 300)
        names = [build.uuid(1), build.uuid(3)]
        query = history.only(raw.text, 'uuid', names)
        end = self.past.end
        series = self.client.range_query(query, end - 7200, end, 300, 'uuid')
        self.assertEqual(names, sorted(each.label for each in series))
        self.assertEqual({25}, {len(each.points) for each in series})
        findings = Findings()
        rows = history.check(
            [cpu], self.client, self.client, findings, lambda: end
        )
        self.assertEqual([4], [row['servers_asked'] for row in rows])
        self.assertEqual(['now'], [row['best_window'] for row in rows])
