# SPDX-License-Identifier: Apache-2.0
"""New servers land where the planner would have moved them (W1 to W5)."""

from collections.abc import Iterable
from typing import Any

from tests.lab import base, troubled
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
        for host in topology.HOSTS.keys() - set(HOSTS):
            self.cloud.set_host(host, False, 'not for this scenario')

    def schedule(self, with_weigher: bool, **prometheus: Any) -> None:
        """Restart nova-scheduler; wait until it knows the hosts.

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
            # Scores are asked for when there is something to weigh.
            self.new(['first'])
            self.wait(
                lambda: 'The weigher of Kronos asks' in self.log(before),
                'the weigher to have asked',
            )
            self.delete(['first'])

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


class TestSpread(WeigherTestCase):
    def test_one_by_one_and_together(self):
        """W2, L6: as even as the planner would place them, within 10 %."""
        self.load()
        names = [f'new-{n}' for n in range(MORE)]
        self.schedule(with_weigher=True)
        before = self.expected()
        allowed = 1.1 * placed_greedily(before, MORE)
        self.new(names)
        one_by_one = imbalance(self.expected())
        self.delete(names)
        self.wait_for_metrics()
        together = self.at_once()
        self.delete([f'new-{n}' for n in range(1, MORE + 1)])
        self.schedule(with_weigher=False)
        without = self.at_once()
        print(
            f'before {imbalance(before):.4f}, greedy {allowed / 1.1:.4f}, '
            f'one by one {one_by_one:.4f}, together {together:.4f}, '
            f'without {without:.4f}'
        )
        self.assertLessEqual(one_by_one, allowed)
        self.assertLessEqual(together, allowed)
        self.assertGreater(without, allowed)

    def at_once(self) -> float:
        """The imbalance after a request for many servers."""
        self.openstack(
            'server create --flavor lab.small --image lab-image --nic none '
            f'--property lab:cpu={CORES} --property lab:memory_mb={MEMORY_MB} '
            f'--min {MORE} --max {MORE} new'
        )
        self.wait(self.are_all_active, 'the servers to be ACTIVE')
        return imbalance(self.expected())


class TestPack(WeigherTestCase):
    def test_the_fullest_host_below_its_ceilings_first(self):
        """W2, W3: by the metadata of its aggregate, without a restart."""
        self.load()
        self.schedule(with_weigher=True)
        self.assertNotIn('cmp1', self.new(['calm']))
        self.addCleanup(
            self.openstack, 'aggregate unset --property kronos_mode alpha'
        )
        self.openstack('aggregate set --property kronos_mode=pack alpha')
        self.wait(
            lambda: self.new([self.getUniqueString()]) == ['cmp1'],
            'the new mode to count',
        )
        self.assertEqual({'cmp1'}, set(self.new(['a', 'b', 'c'])))


class TestPrometheus(WeigherTestCase):
    def test_in_trouble(self):
        """W4: every boot succeeds, and nothing is raised."""
        prometheus = troubled.Troubled(self.cloud.prometheus)
        self.addCleanup(prometheus.end)
        self.load()
        self.schedule(
            with_weigher=True, url=prometheus.url, timeout=30, max_retries=0
        )
        start = LOG.stat().st_size
        for trouble in (*troubled.TROUBLES, 'stopped'):
            with self.subTest(trouble):
                if trouble == 'stopped':
                    prometheus.end()
                prometheus.trouble = trouble
                known = len(prometheus.asked)
                if trouble != 'stopped':
                    self.wait(
                        lambda known=known: len(prometheus.asked) > known,
                        'the weigher to ask once more',
                    )
                self.new(f'{trouble}-{n}' for n in range(2))
        log = self.log(start)
        self.assertNotIn('Traceback', log)
        self.assertEqual(1, log.count('does not have all it needs'), log)
