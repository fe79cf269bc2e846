# SPDX-License-Identifier: Apache-2.0
"""Would the planner have put a new server where the weigher puts it?

The planner is asked by what it does with a host that is to be drained: the
servers on it are new to all others. A server is average that is as busy as
its vCPUs are over the whole cluster.
"""

import itertools
import math

from kronos.engine.planning.propose import propose
from kronos.engine.scoring import scorecard
from kronos.engine.settings import Settings, SwapMoves
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    Sample,
)
from kronos.policies.models import Mode
from kronos.recordings.formats import cluster
from tests import places
from tests.builders.caches import WeigherTestCase, policy, state

FIXTURES = places.CLUSTERS
# An audit that spreads is not held to ceilings; one that drains is.
NAMES = ('empty3q-0.json', 'metric-2.json')
STEPS = (0.0, 0.01)
CEILINGS = {Mode.SPREAD: 1.0, Mode.PACK: 0.85}
SPARE = 'spare'
SETTINGS = Settings(
    evacuate=True,
    drain_hosts=[SPARE],
    drain_may_exceed_threshold=True,
    rebalance=False,
    unlimited=True,
    plateau_moves=False,
    swap_moves=SwapMoves.NONE,
)


class Scene:
    """A recorded cluster, and average servers that are new to it."""

    def __init__(self, path, mode=Mode.SPREAD):
        result = cluster.read(str(path))
        self.snapshot = result.snapshot
        self.mode = mode
        self.policies = [
            measure.model_copy(
                update={
                    'mode': mode,
                    'capacity_query': measure.imbalance_query,
                    'capacity_threshold': CEILINGS[mode],
                }
            )
            for measure in result.policies
        ]
        for readings in self.snapshot.readings.values():
            readings.capacity = readings.imbalance
        instances = list(self.snapshot.instances.values())
        vcpus = sum(instance.vcpus for instance in instances)
        self.vcpus = max(1, round(vcpus / len(instances)))
        memory_mb = sum(instance.memory_mb for instance in instances)
        self.memory_mb = memory_mb // len(instances)
        self.usage = {
            name: self.vcpus
            / vcpus
            * math.fsum(sample.value for sample in readings.profile.samples)
            for name, readings in self.snapshot.readings.items()
        }
        self.scores = {
            name: {
                sample.label: sample.value
                for sample in readings.imbalance.samples
            }
            for name, readings in self.snapshot.readings.items()
        }
        self.weights = {
            measure.name: measure.weight for measure in self.policies
        }

    def hosts(self, placed=()):
        """Those that Nova's filters leave, with room for one more."""
        return [
            name
            for name, host in self.snapshot.hosts.items()
            if not host.closed
            and all(
                host.headroom[kind].used + need * (placed.count(name) + 1)
                <= host.headroom[kind].capacity
                for kind, need in (
                    ('VCPU', self.vcpus),
                    ('MEMORY_MB', self.memory_mb),
                )
            )
        ]

    def after(self, placed):
        """The score of each host by policy."""
        return {
            name: {
                host: value + placed.count(host) * self.usage[name]
                for host, value in values.items()
            }
            for name, values in self.scores.items()
        }

    def combined(self, placed):
        return math.fsum(
            self.weights[name] * (max(values.values()) - min(values.values()))
            for name, values in self.after(placed).items()
        )

    def loads(self, placed=()):
        """The weighted utilization of each host."""
        after = self.after(placed)
        return {
            host: math.fsum(
                self.weights[name] * values[host]
                for name, values in after.items()
            )
            for host in self.snapshot.hosts
        }

    def planned(self, number):
        """Where the planner puts so many, one after another."""
        snapshot = self.snapshot
        servers = [f'new-{nth:02}' for nth in range(number)]
        snapshot.hosts[SPARE] = Host(
            SPARE,
            headroom={
                'MEMORY_MB': Headroom(2**40, 0),
                'VCPU': Headroom(2**20, 0),
            },
        )
        snapshot.services[SPARE] = ComputeService(
            SPARE, state='up', status='disabled'
        )
        for name in servers:
            snapshot.instances[name] = Instance(
                name,
                SPARE,
                name=name,
                vcpus=self.vcpus,
                memory_mb=self.memory_mb,
            )
            for policy_name, readings in snapshot.readings.items():
                readings.profile.samples.append(
                    Sample(name, self.usage[policy_name], 0.0)
                )
        [planned] = propose([snapshot], self.policies, SETTINGS).scopes
        del snapshot.hosts[SPARE], snapshot.services[SPARE]
        for name in servers:
            del snapshot.instances[name]
        for readings in snapshot.readings.values():
            del readings.profile.samples[-number:]
        return [step.destination for step in planned.steps]

    def states(self, hosts, placed=()):
        return [
            state(
                name,
                total=self.snapshot.hosts[name].headroom['VCPU'].capacity,
                used=self.snapshot.hosts[name].headroom['VCPU'].used
                + placed.count(name) * self.vcpus,
            )
            for name in hosts
        ]

    def below_ceilings(self):
        """The hosts that mode pack may still fill."""
        return [
            host
            for host in self.hosts()
            if all(
                values[host] < CEILINGS[self.mode]
                for values in self.scores.values()
            )
        ]


class AgreementTestCase(WeigherTestCase):
    def scene(self, name, mode=Mode.SPREAD, step=0.0):
        """A recorded cluster, as Prometheus and Nova tell the weigher."""
        scene = Scene(FIXTURES / name, mode)
        rows = [
            policy(
                measured.name,
                measured.weight,
                mode.value,
                capacity_threshold=measured.capacity_threshold,
            )
            for measured in scene.policies
        ]
        self.set(
            policies_file=self.write('cluster.yaml', *rows), score_step=step
        )
        for query, values in scene.scores.items():
            self.give(values, query)
            self.give(values, f'{query}_in_use')
        self.cache = self.new_cache()
        self.cache.weigh(scene.states(scene.hosts()))
        self.turns.start()
        return scene

    def weights(self, scene, placed=(), vcpus=0):
        hosts = scene.hosts(placed)
        weights = self.cache.weigh(scene.states(hosts, placed), vcpus)
        return dict(zip(hosts, weights, strict=True))

    def best(self, scene, placed=()):
        """Nova takes the first of equals."""
        weights = self.weights(scene, placed)
        return max(weights, key=weights.get)

    def place(self, scene, number):
        placed = []
        for _ in range(number):
            placed.append(self.best(scene, placed))
        return placed


class TestSpread(AgreementTestCase):
    def test_the_order_is_the_scorecards(self):
        """By weighted utilization, lowest first, and by how much."""
        for name in NAMES:
            scene = self.scene(name)
            card = scorecard.score(scene.snapshot, scene.policies, Settings())
            weighted = {
                host: math.fsum(
                    result.weight * card.values[result.name][host]
                    for result in card.results
                )
                for host in scene.hosts()
            }
            weights = self.weights(scene)
            self.assertGreater(len(set(weights.values())), 3)
            for host, weight in weights.items():
                self.assertAlmostEqual(1.0 - weighted[host], weight)
            self.turns.stop()

    def test_the_best_is_the_planners(self):
        """Where it puts an average server that leaves its host."""
        for name in NAMES:
            for step in STEPS:
                scene = self.scene(name, step=step)
                [planned] = scene.planned(1)
                weights = self.weights(scene)
                self.assertEqual(max(weights.values()), weights[planned])
                self.assertLess(min(weights.values()), weights[planned])
                self.turns.stop()

    def test_twenty_are_as_even_as_the_planners(self):
        """Between two refreshes, at most a tenth less even."""
        for name in NAMES:
            for step in STEPS:
                scene = self.scene(name, step=step)
                count = len(self.prometheus.queries)
                planned = scene.planned(20)
                placed = self.place(scene, len(planned))
                self.assertGreater(len(planned), 15)
                self.assertLessEqual(
                    scene.combined(placed), 1.1 * scene.combined(planned)
                )
                self.assertEqual(count, len(self.prometheus.queries))
                self.turns.stop()

    def test_without_its_arithmetic_they_herd(self):
        """What the samples do not show yet is what makes them even."""
        for name in NAMES:
            scene = self.scene(name)
            planned = scene.planned(20)
            herd = [self.best(scene)] * len(planned)
            self.assertGreater(
                scene.combined(herd), 1.1 * scene.combined(planned)
            )
            self.turns.stop()


class TestPack(AgreementTestCase):
    def test_the_best_is_the_fullest_below_the_ceilings(self):
        """Hosts above one come last, however full."""
        full = 0
        for name in NAMES:
            scene = self.scene(name, Mode.PACK)
            loads, below = scene.loads(), scene.below_ceilings()
            weights = self.weights(scene)
            self.assertEqual(
                sorted(below, key=lambda host: loads[host]),
                sorted(below, key=lambda host: (weights[host], loads[host])),
            )
            self.assertEqual(max(below, key=loads.get), self.best(scene))
            for host in set(weights) - set(below):
                self.assertEqual(0.0, weights[host])
                full += 1
            self.turns.stop()
        self.assertGreater(full, 0)

    def test_the_best_is_the_planners(self):
        """The fullest one in use that may take it."""
        for name, step in itertools.product(NAMES, STEPS):
            scene = self.scene(name, Mode.PACK, step)
            [planned] = scene.planned(1)
            weights = self.weights(scene, vcpus=scene.vcpus)
            self.assertEqual(max(weights.values()), weights[planned], name)
            self.turns.stop()
