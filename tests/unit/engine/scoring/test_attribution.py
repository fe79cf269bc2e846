# SPDX-License-Identifier: Apache-2.0
"""What hosts show beside what their servers are said to use."""

import dataclasses
import random

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.scoring import scorecard
from kronos.engine.settings import PlanMode, Settings, UnexplainedLoad
from kronos.engine.types import (
    AggregateResult,
    ComputeService,
    Instance,
    Reading,
    Sample,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes

CEILING = 0.8
FACTORS = (0.0, 0.001, 0.01, 0.5, 1.2, 2.0, 10.0, 100.0, 1000.0)
CLUSTERS = 12
DRAINED = 6
NOISY = 60


def settings(**more):
    return Settings(
        **{
            'unexplained_load': UnexplainedLoad.FOLLOWS,
            'max_migrations': 20,
            'min_host_coverage': 0.0,
            **more,
        }
    )


def packed(name='cpu'):
    return scopes.policy(
        name,
        mode=Mode.PACK,
        capacity_query='up',
        capacity_threshold=CEILING,
    )


def scope(policy, hosts, usages, **more):
    """A scope of one policy.

    :param hosts: name to value
    :param usages: host to what its servers are said to use
    """
    vms = [
        scopes.vm(f'{host}-{n}', host, [usage], vcpus=2)
        for host, values in usages.items()
        for n, usage in enumerate(values)
    ]
    found = scopes.scope(
        [policy], {name: [value] for name, value in hosts.items()}, vms, **more
    )
    if policy.mode is Mode.PACK:
        found.readings[policy.name].capacity = Reading(
            '', samples=[Sample(h, v, 0) for h, v in hosts.items()]
        )
    return found


def plan(snapshot, policy, how=None):
    report = propose.propose([snapshot], [policy], how or settings())
    return report.scopes[0]


def moves(result: AggregateResult) -> list[tuple[str, str]]:
    return [(one.instance, one.destination) for one in result.steps]


class TestAboveTheHost(base.BaseTestCase):
    """Numbers that no host could bear are not planned with."""

    def skipped(self, hosts, usages, **more):
        policy = scopes.policy(
            'cpu', host_capacity_query='up' if more else None
        )
        result = plan(scope(policy, hosts, usages, **more), policy)
        self.assertEqual([], result.steps)
        return result.policies[0].skipped

    def test_another_unit(self):
        """The worst host comes first, with both numbers."""
        hosts = {'a': 0.7, 'b': 0.2, 'c': 0.15}
        text = self.skipped(
            hosts,
            {'a': [998.0] * 6, 'b': [998.0], 'c': [998.0]},
            capacities=dict.fromkeys(hosts, [32.0]),
        )
        self.assertEqual(
            'policy cpu: vm_profile_query: the servers of a sum to 187, and '
            'imbalance_query gives 0.7 for it; the largest of them is at '
            '31.2 alone (likewise c 31.2 of 0.15, b 31.2 of 0.2); correct '
            'the unit of vm_profile_query or of host_capacity_query',
            text,
        )

    def test_cores_taken_for_shares(self):
        text = self.skipped(
            {'a': 0.9, 'b': 0.2, 'c': 0.15},
            {'a': [0.6] * 6, 'b': [0.3], 'c': [0.2]},
        )
        self.assertIn('the servers of a sum to 3.6, and', text)

    def test_a_server_larger_than_its_host(self):
        text = self.skipped({'a': 1.0, 'b': 0.2}, {'a': [1.3], 'b': []})
        self.assertIn('the largest of them is at 1.3 alone', text)

    def test_it_counts_on_a_host_that_takes_no_part(self):
        policy = scopes.policy('cpu')
        snapshot = scope(
            policy,
            {'a': 0.6, 'b': 0.2, 'c': 0.5},
            {'a': [0.1, 0.2], 'b': [0.1], 'c': [50.0]},
        )
        snapshot.services['c'] = ComputeService(
            'c', state='down', status='enabled'
        )
        self.assertIn(
            'servers of c', plan(snapshot, policy).policies[0].skipped
        )

    def test_the_other_policies_go_on(self):
        pair = [scopes.policy('cpu', 0.5), scopes.policy('ram', 0.5)]
        vms = [
            scopes.vm(f'v{n}', 'a', [17.0, 0.15], vcpus=2) for n in range(4)
        ]
        snapshot = scopes.scope(pair, {'a': [0.6, 0.6], 'b': [0.1, 0.0]}, vms)
        (result,) = propose.propose([snapshot], pair, settings()).scopes
        self.assertEqual([0.0, 1.0], [one.weight for one in result.policies])
        self.assertTrue(result.steps)

    def test_what_servers_were_given_may_be_more(self):
        """Memory that a server does not use is not on the host either."""
        policy = scopes.policy('ram')
        result = plan(
            scope(policy, {'a': 0.4, 'b': 0.1}, {'a': [0.2] * 5, 'b': []}),
            policy,
        )
        self.assertEqual('', result.policies[0].skipped)
        for step in result.steps:
            self.assertLessEqual(step.combined_after, 1.0)

    def test_the_literal_rule_compares_nothing(self):
        policy = scopes.policy('cpu')
        how = settings(unexplained_load=UnexplainedLoad.IGNORED)
        hosts = {'a': 0.9, 'b': 0.2, 'c': 0.15}
        usages = {'a': [0.6] * 6, 'b': [0.3], 'c': [0.2]}
        result = plan(scope(policy, hosts, usages), policy, how)
        self.assertEqual('', result.policies[0].skipped)

    def test_a_drain_goes_by_the_load_of_the_hosts(self):
        """No guess of what servers use objects; the ceilings hold."""
        policy = scopes.policy('cpu')
        snapshot = scope(
            policy,
            {'a': 0.7, 'b': 0.2, 'c': 0.15},
            {'a': [31.0] * 3, 'b': [31.0], 'c': [31.0]},
        )
        result = plan(*drained(snapshot, policy, 'a'))
        self.assertEqual(3, len(result.steps))
        self.assertEqual(2, len({to for _, to in moves(result)}))
        self.assertIn('by the load of the hosts: no policy', result.unmeasured)
        self.assertIn('the servers of a sum to 93', result.unmeasured)

    def test_a_drain_knows_the_ceiling_of_such_a_policy(self):
        """Another policy that can be used does not answer for it."""
        pair = [scopes.policy('cpu', 0.5), scopes.policy('ram', 0.5)]
        vms = [scopes.vm(f'v{n}', 'a', [31.0, 0.1], vcpus=2) for n in range(4)]
        hosts = {'a': [0.6, 0.4], 'b': [0.7, 0.1], 'c': [0.1, 0.3]}
        snapshot, _, how = drained(scopes.scope(pair, hosts, vms), pair, 'a')
        (result,) = propose.propose([snapshot], pair, how).scopes
        self.assertEqual({'c'}, {to for _, to in moves(result)})
        self.assertIn('by the load of the hosts', result.unmeasured)

    def test_no_host_is_packed_by_the_other_policies(self):
        """They know nothing of how full it becomes by this one."""
        pair = [packed('cpu'), packed('ram')]
        vms = [
            scopes.vm('v', 'a', [31.0, 0.1]),
            scopes.vm('w', 'b', [0.7, 0.1]),
        ]
        hosts = {'a': [0.6, 0.1], 'b': [0.7, 0.1]}
        snapshot = scopes.scope(pair, hosts, vms)
        for at, one in enumerate(pair):
            snapshot.readings[one.name].capacity = Reading(
                '', samples=[Sample(h, v[at], 0) for h, v in hosts.items()]
            )
        (result,) = propose.propose([snapshot], pair, settings()).scopes
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.NO_POLICY, result.stopped)
        self.assertIn('no host is filled: policy cpu: vm_pro', result.reason)


def drained(snapshot, policy, host, **more):
    """The arguments of a plan that empties a host."""
    snapshot.services[host] = ComputeService(
        host, state='up', status='disabled'
    )
    how = settings(**more)
    how.set_mode(PlanMode.EVACUATE, how.selection())
    return snapshot, policy, how


class TestFarBelowTheHost(base.BaseTestCase):
    """A counter that stands still, or a daemon of the host."""

    HOSTS = {'a': 0.7, 'b': 0.6, 'c': 0.65}
    STILL = {'a': [0.0] * 4, 'b': [0.0] * 4, 'c': [0.0] * 4}

    def test_no_host_is_filled(self):
        policy = packed()
        result = plan(scope(policy, self.HOSTS, self.STILL), policy)
        self.assertEqual([], moves(result))
        self.assertEqual(
            [
                'policy cpu: vm_profile_query: the servers of a sum to 0, and '
                'imbalance_query gives 0.7 for it (likewise c 0 of 0.65, b 0 '
                'of 0.6); 12 of their running servers used exactly 0; the '
                'rest is assumed to move with the servers. Correct '
                'vm_profile_query or its exporter; if it is the own load of '
                'the hosts, set [kronos] unexplained_load = stays'
            ],
            [one for one in result.warnings if 'vm_profile' in one],
        )

    def test_a_unit_that_is_too_small(self):
        policy = packed()
        usages = {'a': [0.0017] * 4, 'b': [0.0014] * 4, 'c': [0.0016] * 4}
        result = plan(scope(policy, self.HOSTS, usages), policy)
        self.assertEqual([], moves(result))

    def test_it_is_the_hosts_own(self):
        """Who says so has it filled: the daemons stay where they are."""
        policy = packed()
        how = settings(unexplained_load=UnexplainedLoad.STAYS)
        result = plan(scope(policy, self.HOSTS, self.STILL), policy, how)
        self.assertEqual(8, len(result.steps))
        self.assertTrue(
            any('assumed to be the own load' in one for one in result.warnings)
        )

    def test_spreading_leaves_alone_what_it_knows_nothing_of(self):
        policy = scopes.policy('cpu')
        hosts = {'a': 0.7, 'b': 0.1, 'c': 0.1}
        usages = {'a': [0.0] * 4, 'b': [0.09], 'c': []}
        self.assertEqual([], moves(plan(scope(policy, hosts, usages), policy)))

    def test_a_drain_counts_it_by_vcpus(self):
        """Two take what one alone could not; none is left behind."""
        policy = scopes.policy('cpu', threshold=1.0)
        hosts = {'a': 0.6, 'b': 0.3, 'c': 0.3}
        usages = {'a': [0.0] * 4, 'b': [0.29], 'c': [0.29]}
        result = plan(*drained(scope(policy, hosts, usages), policy, 'a'))
        self.assertEqual(
            {'b': 2, 'c': 2},
            {
                host: sum(to == host for _, to in moves(result))
                for host in 'bc'
            },
        )

    def test_a_drain_prefers_a_host_with_room_for_all_of_it(self):
        """One of the servers may be all of the load."""
        policy = scopes.policy('cpu', threshold=1.0)
        hosts = {'a': 0.5, 'b': 0.35, 'c': 0.2}
        usages = {'a': [0.0] * 4, 'b': [0.34], 'c': [0.19]}
        result = plan(*drained(scope(policy, hosts, usages), policy, 'a'))
        self.assertEqual(['c'] * 4, [to for _, to in moves(result)])

    def test_the_largest_share_counts_where_none_has_so_much_room(self):
        """By memory here: by their vCPUs both could leave."""
        policy = scopes.policy('cpu', threshold=1.0)
        vms = [
            scopes.vm('small', 'a', [0.0], memory_mb=1024),
            scopes.vm('large', 'a', [0.0], memory_mb=3 * 1024),
        ]
        vms += [scopes.vm(f'{h}0', h, [0.46]) for h in 'bc']
        hosts = {'a': [0.5], 'b': [0.475], 'c': [0.475]}
        snapshot = scopes.scope([policy], hosts, vms)
        result = plan(*drained(snapshot, policy, 'a'))
        self.assertEqual(['small'], [one for one, _ in moves(result)])
        self.assertIn('capacity_threshold', result.unmovable['large'])

    def test_a_storage_daemon(self):
        """Its host is named, and still gives what it can."""
        policy = scopes.policy('cpu')
        hosts = {'a': 0.75, 'b': 0.32, 'c': 0.3, 'd': 0.02}
        usages = {'a': [0.1] * 3, 'b': [0.1] * 3, 'c': [0.28], 'd': []}
        result = plan(scope(policy, hosts, usages), policy)
        self.assertEqual('', result.policies[0].skipped)
        self.assertTrue(result.steps)
        (text,) = [one for one in result.warnings if 'vm_profile' in one]
        self.assertIn('servers of a sum to 0.3, and', text)
        self.assertNotIn('likewise', text)

    def test_a_daemon_on_every_host(self):
        """What all hosts show beside servers that explain the rest."""
        policy = packed()
        hosts = {'a': 0.3, 'b': 0.5, 'c': 0.1}
        usages = {'a': [0.1] * 2, 'b': [0.1] * 4, 'c': []}
        result = plan(scope(policy, hosts, usages), policy)
        self.assertEqual({'b'}, {to for _, to in moves(result)})
        self.assertFalse([one for one in result.warnings if 'vm_pro' in one])


class TestLoneServers(base.BaseTestCase):
    """What a host does for its servers moves with them."""

    HOSTS = {'a': 0.3, 'b': 0.02, 'c': 0.02}

    def test_an_empty_host_is_no_better(self):
        policy = scopes.policy('cpu')
        result = plan(scope(policy, self.HOSTS, {'a': [0.25]}), policy)
        self.assertEqual([], moves(result))
        self.assertEqual(StopReason.STUCK, result.stopped)

    def test_a_larger_one_is(self):
        policy = scopes.policy('cpu', host_capacity_query='up')
        snapshot = scope(
            policy,
            self.HOSTS,
            {'a': [8.0]},
            capacities={'a': [32.0], 'b': [64.0], 'c': [32.0]},
        )
        self.assertEqual([('a-0', 'b')], moves(plan(snapshot, policy)))

    def test_two_hosts_only_exchange_their_roles(self):
        policy = scopes.policy('cpu', threshold=0.05)
        hosts = {'a': 0.32, 'b': 0.1, 'c': 0.02}
        result = plan(
            scope(policy, hosts, {'a': [0.25], 'b': [0.08], 'c': []}), policy
        )
        self.assertEqual([], moves(result))


class Cloud:
    """A scope of which the test knows the truth."""

    def __init__(self, rng: random.Random, policy: Policy) -> None:
        self.rng, self.policy = rng, policy
        self.truth: dict[str, float] = {}
        self.instances: list[Instance] = []
        own = rng.uniform(0.01, 0.1)
        self.hosts = {f'h{n}': own for n in range(rng.randint(3, 7))}
        for host in self.hosts:
            room = own + rng.uniform(0.0, 0.7)
            for _ in range(rng.choice([0, 1, 2, 4, 9])):
                usage = min(0.4, rng.lognormvariate(-3.0, 1.0))
                if self.hosts[host] + usage < room:
                    self._boot(host, usage)

    def _boot(self, host: str, usage: float) -> None:
        uuid = f'v{len(self.instances):03}'
        vcpus = self.rng.choice([1, 2, 4, 8])
        self.instances.append(Instance(uuid, host, vcpus=vcpus))
        self.truth[uuid] = usage
        self.hosts[host] += usage

    def snapshot(self, usage: dict[str, float]) -> Snapshot:
        found = scopes.scope(
            [self.policy],
            {host: [value] for host, value in self.hosts.items()},
            [(one, [usage[one.uuid]]) for one in self.instances],
        )
        found.readings['cpu'].capacity = Reading(
            '', samples=[Sample(h, v, 0) for h, v in self.hosts.items()]
        )
        return found

    def mistaken(self, factor: float, which: str) -> dict[str, float]:
        """The usages as an exporter has them that is wrong somewhere."""
        wrong = list(self.instances)
        if which != 'policy' and wrong:
            one = self.rng.choice(wrong)
            wrong = [other for other in wrong if other.host == one.host]
            if which == 'server':
                wrong = [one]
        uuids = {one.uuid for one in wrong}
        return {
            uuid: usage * (factor if uuid in uuids else 1.0)
            for uuid, usage in self.truth.items()
        }

    def highest(self, result: AggregateResult) -> float:
        """How full a destination is in truth, at the worst."""
        load, most = dict(self.hosts), 0.0
        for step in result.steps:
            load[step.source] -= self.truth[step.instance]
            load[step.destination] += self.truth[step.instance]
            most = max(most, load[step.destination])
        return most


class TestInTruth(base.BaseTestCase):
    """Profiles that are wrong lead no plan astray."""

    def results(self, policy, how, clusters=CLUSTERS, drains=False):
        for which in ('policy', 'host', 'server'):
            for factor in FACTORS:
                for seed in range(clusters):
                    cloud = Cloud(random.Random(seed), policy)
                    snapshot = cloud.snapshot(cloud.mistaken(factor, which))
                    if drains:
                        host = cloud.rng.choice(sorted(cloud.hosts))
                        how = drained(snapshot, policy, host)[-1]
                    result = plan(snapshot, policy, how)
                    yield f'{which} x {factor}, {seed}', cloud, result

    def assertNoneAbove(self, result, case):
        for step in result.steps:
            most = max(step.imbalance_after.values())
            self.assertLessEqual(most, 1.0 + 1e-9, case)

    def test_no_host_is_packed_above_its_ceiling(self):
        moved = 0
        for case, cloud, result in self.results(packed(), settings()):
            self.assertLess(cloud.highest(result), CEILING + 1e-9, case)
            self.assertNoneAbove(result, case)
            moved += len(result.steps)
        self.assertGreater(moved, 100)

    def test_no_host_is_filled_above_its_ceiling_by_a_drain(self):
        spread = scopes.policy(
            'cpu', capacity_query='up', capacity_threshold=CEILING
        )
        for policy in (packed(), spread):
            moved = 0
            for case, cloud, result in self.results(
                policy, None, DRAINED, drains=True
            ):
                self.assertLess(cloud.highest(result), CEILING + 1e-9, case)
                self.assertNoneAbove(result, case)
                moved += len(result.steps)
            self.assertGreater(moved, 100)

    def test_no_imbalance_above_one(self):
        policy = scopes.policy('cpu', capacity_threshold=CEILING)
        for case, _, result in self.results(policy, settings()):
            self.assertNoneAbove(result, case)

    def test_noise_is_no_fault(self):
        """A fifth of noise on each usage, and some on the hosts."""
        policy = packed()
        for seed in range(NOISY):
            rng = random.Random(seed)
            cloud = Cloud(rng, policy)
            usage = {
                uuid: max(0.0, value * (1.0 + rng.gauss(0.0, 0.2)))
                for uuid, value in cloud.truth.items()
            }
            snapshot = cloud.snapshot(usage)
            card = scorecard.score(snapshot, [policy], settings())
            self.assertEqual({}, card.unusable_profiles, seed)


class TestWhatIsKept(base.BaseTestCase):
    def test_the_snapshot_is_as_it_was(self):
        policy = packed()
        snapshot = scope(
            policy, TestFarBelowTheHost.HOSTS, TestFarBelowTheHost.STILL
        )
        before = dataclasses.asdict(snapshot)
        plan(snapshot, policy)
        self.assertEqual(before, dataclasses.asdict(snapshot))
