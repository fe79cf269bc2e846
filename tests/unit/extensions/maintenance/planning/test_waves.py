# SPDX-License-Identifier: Apache-2.0
"""Does each server move once, and are few enough hosts closed?"""

import random
from typing import ClassVar

import ddt
from oslotest import base

from kronos.engine.types import AggregateResult, ComputeService
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from tests.builders import maintained


def run(
    hosts: int, allocated: float, seed: int, at_once: int = 1, spares: int = 0
) -> maintained.Run:
    cloud = maintained.cloud(hosts, allocated, seed, spares)
    names = sorted(cloud.hosts)[:hosts]
    return maintained.Run(cloud, Maintenance('r', tuple(names), at_once))


@ddt.ddt
class TestToTheEnd(base.BaseTestCase):
    MOST: ClassVar = {0.5: 1.06, 0.7: 1.06, 0.85: 1.07}
    """Moves per server; those of the first host move twice."""

    @ddt.data(*MOST)
    def test_all_hosts(self, allocated: float) -> None:
        case = run(20 if allocated > 0.8 else 12, allocated, 1)
        lightest = min(
            sum(s.host == host for s in case.cloud.instances.values())
            for host in case.cloud.hosts
        )
        number = len(case.cloud.instances)
        case.to_end()
        self.assertEqual({*case.asked.hosts}, case.done)
        self.assertLessEqual(max(case.moves.values()), 2)
        self.assertGreaterEqual(case.moves.total(), number)
        most = max(self.MOST[allocated] * number, number + lightest + 4)
        self.assertLessEqual(case.moves.total(), most)
        self.assertEqual(1, case.most_closed)

    @ddt.data((1, 1), (2, 3))
    @ddt.unpack
    def test_with_spares(self, at_once: int, spares: int) -> None:
        """As many empty hosts as are closed, and every server moves once."""
        case = run(8, 0.7, 2, at_once, spares)
        number = len(case.cloud.instances)
        case.to_end()
        self.assertEqual({*case.asked.hosts}, case.done)
        self.assertEqual(number, case.moves.total())
        self.assertLessEqual(case.most_closed, at_once)

    def test_others_closed_count(self) -> None:
        case = run(6, 0.5, 3, spares=1)
        spare = max(case.cloud.hosts)
        assert case.cloud.services is not None
        case.cloud.services[spare] = ComputeService(
            spare, state='up', status='disabled', disabled_reason='mine'
        )
        planned = outcome.of(case.plan())
        self.assertEqual([], planned.waves.closing)
        self.assertIn('at_once is 1', planned.waves.waits)

    def test_a_host_without_a_service_counts(self) -> None:
        """Somebody deleted the service: it is unavailable all the same."""
        case = run(6, 0.5, 3, spares=1)
        planned = outcome.of(case.plan(RunView(missing=['gone'])))
        self.assertEqual([], planned.waves.closing)
        self.assertEqual(
            'gone has left the scope, and at_once is 1',
            planned.waves.waits,
        )
        self.assertEqual(0.0, planned.forecast.seconds)

    def test_no_seeds(self) -> None:
        cloud = maintained.cloud(6, 0.7, 4)
        case = maintained.Run(
            cloud, Maintenance('r', tuple(cloud.hosts), seed_hosts=0)
        )
        planned = outcome.of(case.plan())
        self.assertEqual([], planned.waves.closing)
        self.assertIn('too little room for the', planned.waves.waits)

    def test_a_server_that_cannot_leave(self) -> None:
        case = run(4, 0.4, 5, spares=1)
        heaviest = case.plan()
        host = outcome.of(heaviest).waves.closing[0]
        server = next(
            s for s in case.cloud.instances.values() if s.host == host
        )
        server.locked = True
        planned = outcome.of(case.plan())
        self.assertNotIn(host, planned.waves.closing)
        self.assertIn('locked', planned.waves.blocked[host])

    @ddt.data(*range(6))
    def test_disturbed(self, seed: int) -> None:
        """Servers come, go, and moves fail, between any two rounds."""
        rng = random.Random(seed)
        case = run(8, rng.choice([0.5, 0.7]), seed, rng.choice([1, 2]))
        for _ in range(120):
            if case.done == {*case.asked.hosts}:
                break
            result = case.plan()
            self.check(case, result)
            case.round(lambda: rng.random() < 0.1, result)
            for uuid in list(case.cloud.instances):
                if rng.random() < 0.002:
                    case.delete(uuid)
        self.assertEqual({*case.asked.hosts}, case.done)
        self.assertLessEqual(case.most_closed, case.asked.at_once)

    def check(self, case: maintained.Run, result: AggregateResult) -> None:
        """No move onto a host to be done but of a seed, none off a done."""
        planned = outcome.of(result)
        if not (planned.waves.seeds or case.emptying()):
            targets = {step.destination for step in result.steps}
            self.assertEqual(set(), targets & {*case.asked.hosts} - case.done)
        sources = {step.source for step in result.steps}
        self.assertEqual(set(), sources & case.done)
        closing = {*planned.waves.closing, *case.emptying()}
        if not planned.waves.seeds:
            self.assertLessEqual(sources, closing)
