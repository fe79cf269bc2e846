# SPDX-License-Identifier: Apache-2.0
"""A cloud with a past to fetch, for the tests.

Four hosts of 10 cores. Server 0 stays on h0; 1 goes from h0 to h1; 2 is born
on h2; 3 dies on h3; 4 is of another cloud, and Prometheus alone knows it. A
server uses 1 + its number / 10 cores, and a host .1 cores beside its servers.
"""

import pathlib
from typing import Any

import fixtures
import requests
import responses
from oslotest import base

from kronos.clients.nova.server_lives import ServerLife
from kronos.clients.prometheus.client import PrometheusClient
from kronos.engine.types import (
    Event,
    Instance,
    Origin,
    Outcome,
    Reading,
    Sample,
    ServerGroup,
)
from kronos.recordings.recording import Recording
from kronos.simulate.fetch import session
from kronos.simulate.fetch.workplace import Wish
from tests.builders import loads
from tests.fakes.past_prometheus import URL, PastPrometheus

STEP = 300
TICKS = 12 * 24 * 2
NOW = 1_700_000_100.0 + 150
LAST = 1_700_000_100.0 - 1_700_000_100.0 % 300
START = LAST - (TICKS - 1) * STEP
MOVED, BORN, GONE = (START + tick * STEP for tick in (100, 200, 300))
HOSTS = ['h0', 'h1', 'h2', 'h3']
CORES = 10.0
RAW = 'max by (uuid) (rate(cpu_total[5m]))'
QUERY = 'max by (uuid) (rate(cpu_total[2m]))'


def usage(number: int) -> float:
    return 1 + number / 10


def places(moment: float) -> dict[int, int]:
    """The host of each server at a moment."""
    hosts = {0: 0, 1: 0 if moment < MOVED else 1}
    if moment >= BORN:
        hosts[2] = 2
    if moment < GONE:
        hosts[3] = 3
    return hosts


def prometheus() -> PastPrometheus:
    def server(number: int) -> Any:
        if number == 4:
            return lambda _moment: 4.0
        return lambda moment: (
            usage(number) if number in places(moment) else None
        )

    def host(index: int) -> Any:
        return lambda moment: (
            (
                sum(
                    usage(number)
                    for number, place in places(moment).items()
                    if place == index
                )
                + 0.1
            )
            / CORES
        )

    fake = PastPrometheus(NOW)
    of_servers = {loads.uuid(number): server(number) for number in range(5)}
    fake.add(QUERY, 'uuid', of_servers)
    fake.add(RAW, 'uuid', of_servers)
    fake.add(
        'cpu_of_host',
        'host',
        {name: host(index) for index, name in enumerate(HOSTS)},
    )
    return fake


def instance(number: int, host: str, created: float = 0.0) -> Instance:
    return Instance(
        loads.uuid(number),
        host,
        f'secret-{number}',
        f'instance-{number:08}',
        vcpus=2,
        memory_mb=2048,
        flavor='acme.small',
        project_id='acme',
        metadata={'password': 'hunter2'},
        created=created,
    )


def recording() -> Recording:
    policy = loads.policy(
        vm_profile_query=QUERY, vm_profile_label='uuid', capacity_query=None
    )
    blank = loads.load([[0.0], [0.0]], [0], [CORES] * 4, [policy]).recording
    gathered = blank.gathered
    for number, name in enumerate([*gathered.cloud.hosts]):
        host = gathered.cloud.hosts.pop(name)
        host.name = host.node = HOSTS[number]
        gathered.cloud.hosts[host.name] = host
    gathered.cloud.aggregates[0].hosts = list(HOSTS)
    gathered.services = None
    gathered.instances = [
        instance(number, HOSTS[place], BORN if number == 2 else 0.0)
        for number, place in places(NOW).items()
    ]
    gathered.groups = [ServerGroup('g1', 'anti-affinity', [loads.uuid(0)])]
    samples = [Sample(name, CORES, NOW) for name in HOSTS]
    capacity = policy.host_capacity_query or ''
    blank.answers = {
        (capacity, 'host'): Reading(capacity, samples=samples),
    }
    return blank


class FetchTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'load'
        self.prometheus = prometheus()
        self.recording = recording()
        self.records = 0
        self.wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire.start()
        self.addCleanup(self.wire.stop, False)
        self.prometheus.at(self.wire)

    def record(self) -> Recording:
        self.records += 1
        return self.recording

    def source(self) -> session.Source:
        client = PrometheusClient(
            URL,
            requests.Session(),
            clock=lambda: NOW,
            sleep=lambda _seconds: None,
            max_retries=0,
        )
        return session.Source(
            self.record,
            lambda _since: [
                ServerLife(instance(2, 'h2', BORN)),
                ServerLife(
                    instance(3, 'h3', START - 5000),
                    GONE,
                ),
            ],
            lambda _since: [
                Event(
                    loads.uuid(1),
                    'h0',
                    'h1',
                    Outcome.MOVED,
                    MOVED,
                    Origin.NOVA,
                ),
                Event(
                    loads.uuid(0),
                    'h0',
                    'h3',
                    Outcome.FAILED,
                    BORN,
                    Origin.NOVA,
                ),
            ],
            lambda: client,
        )

    def fetch(self, **more: Any) -> list[str]:
        values = {
            'seconds': float(TICKS * STEP),
            'step': STEP,
            'raw': {},
            'policies': '',
        }
        wish = Wish(**(values | more))
        report = session.Report(lambda _text: None, lambda _n, _total: None)
        return session.fetch(str(self.path), wish, self.source(), NOW, report)
