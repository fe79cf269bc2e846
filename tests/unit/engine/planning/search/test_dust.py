# SPDX-License-Identifier: Apache-2.0
"""Which plans only follow what measuring errs by?"""

import dataclasses
import random

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.settings import PlanMode, SearchName, Settings
from kronos.engine.types import AggregateResult, StopReason
from kronos.snapshots import settings_from_conf
from tests.builders import scopes

AUDITS = 100
NOISE = 0.02


def shipped(**more) -> Settings:
    """What an operator plans by who configured nothing."""
    settings = settings_from_conf.default_settings()
    settings.set_mode(PlanMode.SPREAD, settings.selection())
    return dataclasses.replace(
        settings, require_headroom=False, optimal_limit=0, **more
    )


def plan(hosts, vms, budget=20, threshold=0.15, **more) -> AggregateResult:
    """:param vms: instance to host and usage"""
    policy = scopes.policy(
        'cpu', threshold=threshold, max_migrations_per_cycle=budget
    )
    snapshot = scopes.scope(
        [policy],
        {host: [value] for host, value in hosts.items()},
        [scopes.vm(uuid, host, [use]) for uuid, (host, use) in vms.items()],
    )
    report = propose.propose([snapshot], [policy], shipped(**more))
    return report.scopes[0]


def audited(seed: int, budget: int, servers: int) -> tuple[int, list[str]]:
    """Carry the plans of many audits out, in a cluster in which all is calm.

    :returns: how many moves were made, and those that only exchanged the
        roles of two hosts
    """
    rng = random.Random(seed)
    own = {f'h{n}': rng.uniform(0.01, 0.1) for n in range(7)}
    hosts = rng.sample(sorted(own), servers)
    usage = {f'v{n}': rng.uniform(0.02, 0.5) for n in range(servers)}
    places = dict(zip(usage, hosts, strict=True))
    number, exchanges = 0, []
    for _ in range(AUDITS):
        values = dict(own)
        for uuid, host in places.items():
            values[host] += 1.1 * usage[uuid]
        noisy = {
            host: max(0.0, value + rng.gauss(0.0, NOISE))
            for host, value in values.items()
        }
        vms = {uuid: (places[uuid], use) for uuid, use in usage.items()}
        for step in plan(noisy, vms, budget).steps:
            if list(places.values()).count(step.source) == 1:
                exchanges.append(step.instance)
            places[step.instance] = step.destination
            number += 1
    return number, exchanges


class TestCalm(base.BaseTestCase):
    """A hundred audits find no more to do than one."""

    def test_lone_servers(self) -> None:
        self.assertEqual((0, []), audited(1, 1, 3))


class TestNoise(base.BaseTestCase):
    """What hosts show must be what their servers use, where it is little."""

    VMS = {f'{host}{n}': (host, 0.05) for host in 'abc' for n in range(2)}

    def test_hosts_differ_and_servers_do_not(self) -> None:
        result = plan({'a': 0.28, 'b': 0.105, 'c': 0.15}, self.VMS)
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertIn('but the measured usages of the', result.reason)
        self.assertIn('less than 0.1 may be noise', result.reason)

    def test_much_is_no_noise(self) -> None:
        result = plan({'a': 0.5, 'b': 0.105, 'c': 0.15}, self.VMS)
        self.assertTrue(result.steps)

    def test_servers_differ_too(self) -> None:
        vms = self.VMS | {'d': ('a', 0.06), 'e': ('a', 0.05)}
        result = plan({'a': 0.27, 'b': 0.115, 'c': 0.11}, vms)
        self.assertTrue(result.steps)
        self.assertLess(result.combined_before - result.combined_after, 0.1)

    def test_the_greedy_rule_knows_no_dust(self) -> None:
        result = plan(
            {'a': 0.28, 'b': 0.105, 'c': 0.15},
            self.VMS,
            search=SearchName.GREEDY,
        )
        self.assertTrue(result.steps)


class TestCutOff(base.BaseTestCase):
    """What its budget ends is judged by what would follow."""

    def test_it_leads_on(self) -> None:
        """Of equally high hosts the last one lowers the imbalance."""
        hosts = {'a': 0.6, 'b': 0.6, 'c': 0.6, 'd': 0.0}
        vms = {f'{h}{n}': (h, 0.1) for h in 'abc' for n in range(6)}
        result = plan(hosts, vms, budget=1)
        self.assertEqual(1, len(result.steps))
        self.assertIs(StopReason.BUDGET, result.stopped)

    def test_it_leads_to_nothing(self) -> None:
        """A lone server would leave a thousandth behind."""
        hosts = {'a': 0.503, 'b': 0.0413, 'c': 0.099, 'd': 0.289}
        vms = {'v': ('a', 0.461), 'w': ('d', 0.214)}
        result = plan(hosts, vms, budget=1)
        self.assertEqual([], result.steps)
        self.assertIn('would lower no policy by min_plan_gain', result.reason)
        self.assertIn('v', result.unmovable)
