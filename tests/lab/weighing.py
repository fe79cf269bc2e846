# SPDX-License-Identifier: Apache-2.0
"""How are servers booted with the weigher, and how even is it then?"""

from collections.abc import Iterable
from typing import Any

from tests.lab import base
from tests.lab.base import layout, topology

WEIGHTS = {'cpu': 0.6, 'memory': 0.4}
"""As in the sample policies."""
SERVERS = {
    'cmp1': (7, 0.9),
    'cmp2': (12, 0.1),
    'cmp3': (6, 0.8),
    'cmp4': (10, 0.6),
    'cmp5': (10, 0.2),
    'cmp6': (6, 0.3),
}
"""How many, and the cores that each uses; Nova knows the first only."""
CORES, MEMORY_MB = 0.5, 1024.0
"""What a new server uses."""
MORE = 20
FILE = layout.SCHEDULER / 'weigher.conf'
FIRST = 'The weigher of Kronos has its first samples'
LOG = layout.LOG / 'nova-scheduler.log'
HOSTS = base.ALPHA

Loads = dict[str, dict[str, float]]


def imbalance(loads: Loads) -> float:
    """Of the hosts, combined."""
    total = 0.0
    for policy, weight in WEIGHTS.items():
        values = [loads[policy][host] for host in HOSTS]
        total += weight * (max(values) - min(values))
    return total


def placed_greedily(loads: Loads, servers: int) -> float:
    """The imbalance if each goes where it is smallest then, by variance."""
    for _ in range(servers):
        loads = min((_with(loads, host) for host in HOSTS), key=_badness)
    return imbalance(loads)


def _with(loads: Loads, host: str) -> Loads:
    size = topology.HOSTS[host]
    more = {'cpu': CORES / size.cores, 'memory': MEMORY_MB / size.memory_mb}
    return {
        policy: {**values, host: values[host] + more[policy]}
        for policy, values in loads.items()
    }


def _badness(loads: Loads) -> tuple[float, float]:
    squares = sum(
        weight * loads[policy][host] ** 2
        for policy, weight in WEIGHTS.items()
        for host in HOSTS
    )
    return imbalance(loads), squares


class WeigherTestCase(base.LabTestCase):
    """Aggregate alpha, unevenly loaded; no other host takes servers."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.lab.restart, 'nova-scheduler')
        self.addCleanup(FILE.unlink, missing_ok=True)
        real = self.lab.real_hosts().keys()
        for host in (topology.HOSTS.keys() | real) - set(HOSTS):
            self.cloud.set_host(host, False, 'not for this scenario')

    def schedule(self, with_weigher: bool, **prometheus: Any) -> None:
        """Restart nova-scheduler; wait until it has scores.

        :param prometheus: options of ``[kronos_prometheus]``
        """
        FILE.unlink(missing_ok=True)
        if with_weigher:
            FILE.write_text(
                '[filter_scheduler]\n'
                'weight_classes = nova.scheduler.weights.all_weighers,'
                'kronos.weighers.load.KronosWeigher\n'
                f'[kronos]\npolicies_file = {self.policies}\n'
                'refresh_seconds = 5\n'
                f'settling_seconds = {base.WINDOW_SECONDS}\n'
                '[kronos_prometheus]\n'
                + ''.join(f'{k} = {v}\n' for k, v in prometheus.items())
            )
        before = LOG.stat().st_size
        self.lab.restart('nova-scheduler')
        if with_weigher:
            self.wait(
                lambda: FIRST in self.log(before),
                'the weigher to have scores',
            )

    def log(self, since: int = 0) -> str:
        """Of nova-scheduler, from a position on."""
        with LOG.open('rb') as file:
            file.seek(since)
            return file.read().decode()

    def load(self) -> None:
        """Put servers on the hosts, and wait for Prometheus."""
        self.boot(
            base.Wanted(
                f'{host}-{n}', host, cores, MEMORY_MB, flavor='lab.small'
            )
            for host, (number, cores) in SERVERS.items()
            for n in range(number)
        )

    def new(self, names: Iterable[str]) -> list[str]:
        """Boot servers one by one; the hosts that nova-scheduler chose."""
        return [
            self.cloud.boot(
                name,
                '',
                zone='',
                cpu=CORES,
                memory_mb=MEMORY_MB,
                flavor='lab.small',
            )['OS-EXT-SRV-ATTR:host']
            for name in names
        ]

    def are_all_active(self) -> bool:
        """:raises AssertionError: one is in ERROR"""
        states = {one['status'] for one in self.cloud.servers().values()}
        self.assertNotIn('ERROR', states)
        return states == {'ACTIVE'}

    def delete(self, names: Iterable[str]) -> None:
        self.openstack(f'server delete --wait {" ".join(names)}')

    def at_once(self) -> float:
        """The imbalance after a request for many servers."""
        self.openstack(
            'server create --flavor lab.small --image lab-image --nic none '
            f'--property lab:cpu={CORES} --property lab:memory_mb={MEMORY_MB} '
            f'--min {MORE} --max {MORE} new'
        )
        self.wait(self.are_all_active, 'the servers to be ACTIVE')
        return imbalance(self.expected())
