# SPDX-License-Identifier: Apache-2.0
"""Does a cycle obey its rules over scopes, and say all that it should?"""

import contextlib
import copy
import gc
from collections.abc import Iterator
from typing import Any

from oslotest import base

from kronos.engine.planning import propose as planning
from kronos.engine.planning.propose import propose
from kronos.engine.planning.shared_hosts import EarlierPlans
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    EarlierMove,
    Event,
    Headroom,
    MigrationPhase,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.builders.scopes import policy, vm
from tests.unit.engine.oracles.spread_literal import Literal

CPU = policy('cpu', threshold=0.1)


def uneven(name: str = 'agg', *hosts: str) -> Snapshot:
    """Eight instances of .1 on the first host and none on the second."""
    first, second = hosts or ('a', 'b')
    vms = [vm(f'{first}-{n}', first, [0.1]) for n in range(8)]
    return scopes.scope([CPU], {first: [0.8], second: [0.0]}, vms, name=name)


def run(
    *snapshots: Snapshot, policies: list[Policy] | None = None, **more: Any
) -> CycleReport:
    settings = Settings(**{'max_migrations': 10, **more})
    return propose(snapshots, policies or [CPU], settings)


def only(*snapshots: Snapshot, **more: Any) -> AggregateResult:
    return run(*snapshots, **more).scopes[0]


class TestReport(base.BaseTestCase):
    def test_steps(self) -> None:
        """All that is known of a step."""
        snapshot = uneven()
        snapshot.instances['a-0'].name = 'web'
        result = only(snapshot, max_migrations=1)
        (step,) = result.steps
        self.assertEqual(
            ('agg', MigrationPhase.SPREAD, 'a-0', 'web', 'a', 'b', 1024),
            (
                step.scope,
                step.phase,
                step.instance,
                step.instance_name,
                step.source,
                step.destination,
                step.memory_mb,
            ),
        )
        self.assertAlmostEqual(0.8, step.imbalance_before['cpu'])
        self.assertAlmostEqual(0.6, step.imbalance_after['cpu'])
        self.assertAlmostEqual(0.8, step.combined_before)
        self.assertAlmostEqual(0.6, step.combined_after)

    def test_scope(self) -> None:
        snapshot = uneven()
        snapshot.hosts['a'].availability_zone = 'az1'
        (snapshot.services or {})['b'].zone = 'az2'
        result = only(snapshot)
        self.assertEqual({'a': 'az1', 'b': 'az2'}, result.availability_zones)
        self.assertAlmostEqual(0.8, result.combined_before)
        self.assertAlmostEqual(0.0, result.combined_after)
        self.assertEqual(1, result.hosts_over_before)
        self.assertEqual(0, result.hosts_over_after)
        self.assertAlmostEqual(0.8, result.policies[0].imbalance_before)
        self.assertAlmostEqual(0.0, result.policies[0].imbalance_after)

    def test_unmovable_instances(self) -> None:
        snapshot = uneven()
        snapshot.instances['a-0'].locked = True
        profile = snapshot.readings['cpu'].profile
        assert profile is not None
        del profile.samples[1]
        result = only(snapshot)
        self.assertEqual(['a-0', 'a-1'], sorted(result.unmovable))
        self.assertIn('locked', result.unmovable['a-0'])
        self.assertIn('has no usable sample', result.unmovable['a-1'])

    def test_stuck_instances(self) -> None:
        """Each reason with the number of hosts that it closes."""
        snapshot = scopes.scope(
            [CPU],
            {'a': [0.8], 'b': [0.1], 'c': [0.1], 'd': [0.1]},
            [vm('v', 'a', [0.1]), vm('w', 'b', [0.1])],
            groups=[ServerGroup('g', 'anti-affinity', ['v', 'w'], 'web')],
        )
        scopes.give_room(
            snapshot, {host: {'VCPU': 0, 'MEMORY_MB': 0} for host in 'cd'}
        )
        result = only(snapshot)
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertEqual(
            {
                'v': 'no legal destination: '
                '2 hosts: it needs 1024 MEMORY_MB, 0 are free; '
                '1 host: anti-affinity group web has 1 of at most 1 there'
            },
            result.unmovable,
        )

    def test_hosts_that_are_down(self) -> None:
        """Neither source nor destination, and out of max and min."""
        snapshot = scopes.scope(
            [CPU],
            {'a': [0.5], 'b': [0.5], 'down': [0.9], 'off': [0.0]},
            [vm('v', 'down', [0.2]), vm('w', 'a', [0.2])],
        )
        services = snapshot.services or {}
        services['down'].state = 'down'
        services['off'].status = 'disabled'
        result = only(snapshot, exhaust=True)
        self.assertEqual([], result.steps)
        self.assertAlmostEqual(0.0, result.combined_before)
        self.assertEqual(['down', 'off'], sorted(result.unavailable_hosts))
        self.assertIn(
            'its host down is left out of planning', result.unmovable['v']
        )
        self.assertIn('nova-compute is down', result.unmovable['v'])


class TestStandstill(base.BaseTestCase):
    def test_unknown_services(self) -> None:
        snapshot = uneven()
        snapshot.services = None
        result = only(snapshot)
        self.assertIs(StopReason.NO_SERVICES, result.stopped)
        self.assertEqual([], result.steps)

    def test_no_policy(self) -> None:
        snapshot = uneven()
        snapshot.readings['cpu'].imbalance.samples[0].value = 1.2
        result = only(snapshot)
        self.assertIs(StopReason.NO_POLICY, result.stopped)
        self.assertIn('a is at 1.2', result.reason)

    def test_too_few_hosts(self) -> None:
        snapshot = uneven()
        (snapshot.services or {})['b'].status = 'disabled'
        result = only(snapshot)
        self.assertIs(StopReason.TOO_FEW_HOSTS, result.stopped)
        self.assertEqual([], result.steps)

    def test_cooldown(self) -> None:
        """The scores are told all the same."""
        snapshot = uneven()
        snapshot.taken_at = 1000.0
        snapshot.events = [
            Event('v', 'a', 'b', Outcome.MOVED, 900.0, Origin.WATCHER)
        ]
        result = only(snapshot, cooldown_seconds=600.0)
        self.assertIs(StopReason.COOLDOWN, result.stopped)
        self.assertEqual(
            'aggregate agg cools down for 8 min: v moved a -> b 100 s ago',
            result.reason,
        )
        self.assertAlmostEqual(0.8, result.combined_before)
        self.assertAlmostEqual(0.8, result.combined_after)
        self.assertEqual(2, len(result.policies[0].scores))

    def test_no_instance(self) -> None:
        snapshot = scopes.scope([CPU], {'a': [0.8], 'b': [0.0]}, [])
        result = only(snapshot)
        self.assertIs(StopReason.STUCK, result.stopped)


class TestMemory(base.BaseTestCase):
    """Who rests is fixed load for every phase."""

    SETTINGS = {  # noqa: RUF012
        'instance_cooldown_seconds': 900.0,
        'quarantine_seconds': 3600.0,
        'return_guard_seconds': 6000.0,
        'exhaust': True,
    }

    def planned(self, *events: Event) -> AggregateResult:
        snapshot = uneven()
        snapshot.taken_at = 1000.0
        snapshot.events = list(events)
        return only(snapshot, **self.SETTINGS)

    def event(self, uuid: str, at: float = 900.0, **more: Any) -> Event:
        return Event(
            **{
                'instance': uuid,
                'source': 'x',
                'destination': 'a',
                'outcome': Outcome.MOVED,
                'at': at,
                'origin': Origin.NOVA,
                **more,
            }
        )

    def test_who_rests(self) -> None:
        """No candidate, but the imbalance is that of the metrics."""
        quarantined = self.event(
            'a-1',
            outcome=Outcome.FAILED,
            origin=Origin.WATCHER,
            error_type='Odd',
            destination='b',
        )
        result = self.planned(self.event('a-0'), quarantined)
        self.assertEqual(
            ['a-2', 'a-3', 'a-4', 'a-5'],
            [step.instance for step in result.steps],
        )
        self.assertAlmostEqual(0.8, result.combined_before)
        self.assertEqual(
            [one.imbalance_before for one in self.planned().policies],
            [one.imbalance_before for one in result.policies],
        )
        self.assertIn('cools down for 13 min', result.unmovable['a-0'])
        self.assertIn('in quarantine for 58 min', result.unmovable['a-1'])
        stages = {stage.name: stage.count for stage in result.stages}
        self.assertEqual(2, stages['unavailable'])
        self.assertIn('as a precaution', ' '.join(result.warnings))

    def test_behind_a_stuck_migration(self) -> None:
        """All of a; and those of b have nowhere else to go."""
        stuck = self.event(
            'x',
            at=-90000.0,
            outcome=Outcome.UNDER_WAY,
            source='a',
            destination='x',
        )
        result = self.planned(stuck)
        self.assertEqual([], result.steps)
        why = 'the migration of instance x out of a is stuck'
        for n in range(8):
            self.assertIn(why, result.stayed[f'a-{n}'])
        self.assertIn('stuck_after', ' '.join(result.warnings))
        self.assertEqual({}, result.unavailable_hosts)

    def test_stuck_migrations_into_a_destination(self) -> None:
        stuck = [
            self.event(
                one,
                at=-90000.0,
                outcome=Outcome.UNDER_WAY,
                destination='b',
            )
            for one in 'xy'
        ]
        self.assertTrue(self.planned(stuck[0]).steps)
        result = self.planned(*stuck)
        self.assertEqual([], result.steps)
        self.assertIn(
            'the migrations of instances x, y into b are stuck',
            result.stayed['a-0'],
        )

    def test_no_way_back(self) -> None:
        """All of them left b, longer ago than they cool down."""
        result = self.planned(
            *(self.event(f'a-{n}', 50.0, source='b') for n in range(7))
        )
        self.assertEqual(['a-7'], [step.instance for step in result.steps])
        self.assertIn('moved away from there', result.stayed['a-0'])


class TestPolicies(base.BaseTestCase):
    def test_modes_do_not_mix(self) -> None:
        pack = policy('ram', mode=Mode.PACK, capacity_query='up')
        error = self.assertRaises(
            ValueError, run, uneven(), policies=[CPU, pack]
        )
        self.assertIn('one mode', str(error))

    def test_disabled_policy(self) -> None:
        """Neither scored nor asked for its mode."""
        pack = policy(
            'ram', mode=Mode.PACK, capacity_query='up', enabled=False
        )
        result = only(uneven(), policies=[CPU, pack])
        self.assertEqual(['cpu'], [one.name for one in result.policies])

    def test_skipped_policy_leaves_its_weight(self) -> None:
        ram = policy('ram', 0.5)
        cpu = policy('cpu', 0.5, threshold=0.1)
        result = only(uneven(), policies=[cpu, ram])
        self.assertAlmostEqual(0.8, result.combined_before)
        self.assertEqual(4, len(result.steps))
        self.assertIn('was not queried', result.policies[1].skipped)

    def test_budget(self) -> None:
        """The largest of the policies in use, unless it is set."""
        cpu = policy('cpu', 0.5, threshold=0.0, max_migrations_per_cycle=2)
        ram = policy('ram', 0.5, max_migrations_per_cycle=4)
        more = {'policies': [cpu, ram], 'exhaust': True}
        # ram has no reading, so it is not in use
        self.assertEqual(
            2, len(only(uneven(), max_migrations=None, **more).steps)
        )
        self.assertEqual(
            3, len(only(uneven(), max_migrations=3, **more).steps)
        )
        snapshot = uneven()
        snapshot.readings['ram'] = copy.deepcopy(snapshot.readings['cpu'])
        self.assertEqual(
            4, len(only(snapshot, max_migrations=None, **more).steps)
        )

    def test_who_holds_the_hottest_host_up(self) -> None:
        snapshot = uneven()
        for uuid in list(snapshot.instances):
            snapshot.instances[uuid].locked = True
        result = only(snapshot)
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertTrue(
            result.reason.endswith(
                '; 8 of 8 instances on a stay: it is locked'
            ),
            result.reason,
        )

    def test_no_budget(self) -> None:
        error = self.assertRaises(ValueError, run, uneven(), max_migrations=0)
        self.assertIn('max_migrations', str(error))


class TestScopes(base.BaseTestCase):
    def test_each_has_its_own_plan_and_budget(self) -> None:
        report = run(uneven('one'), uneven('two', 'c', 'd'), max_migrations=2)
        self.assertEqual(
            [('one', 'a', 'b')] * 2 + [('two', 'c', 'd')] * 2,
            [(s.scope, s.source, s.destination) for s in report.steps],
        )

    def test_a_host_in_two_scopes(self) -> None:
        """What one scope took off a host, the next finds gone."""
        first, second = uneven('one', 'a', 'b'), uneven('two', 'a', 'c')
        report = run(first, second, max_migrations=4)
        names = [step.instance for step in report.steps]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(4, len(report.scopes[0].steps))
        two = report.scopes[1]
        self.assertAlmostEqual(0.4, two.combined_before)
        self.assertAlmostEqual(0.4, two.policies[0].imbalance_before)
        self.assertEqual(2, len(two.steps))
        self.assertAlmostEqual(0.0, two.combined_after)
        self.assertIn('host a is in scope one too', two.warnings[0])

    def test_a_destination_in_two_scopes(self) -> None:
        """The load that came, and its room, are known to the next."""
        first, second = uneven('one', 'a', 'b'), uneven('two', 'c', 'b')
        for snapshot in (first, second):
            snapshot.hosts['b'].headroom = {
                'MEMORY_MB': Headroom(5 * 1024, 0),
                'VCPU': Headroom(10, 0),
            }
        report = run(first, second)
        self.assertEqual(4, len(report.scopes[0].steps))
        two = report.scopes[1]
        self.assertAlmostEqual(0.4, two.combined_before)
        # .8 and .4: two would go, but there is room for one
        self.assertEqual(1, len(two.steps))
        self.assertIs(StopReason.STUCK, two.stopped)
        self.assertIn('0 are free', two.unmovable['c-7'])

    def test_a_group_in_two_scopes(self) -> None:
        """A member that came to a shared host keeps others off."""
        first, second = uneven('one', 'a', 'b'), uneven('two', 'c', 'b')
        group = ServerGroup('g', 'anti-affinity', ['a-0', 'c-0', 'c-1'])
        for snapshot in (first, second):
            snapshot.groups = [group]
        report = run(first, second, max_migrations=4)
        self.assertIn('a-0', [s.instance for s in report.scopes[0].steps])
        moved = [s.instance for s in report.scopes[1].steps]
        self.assertEqual(['c-2', 'c-3'], moved)

    def test_a_scope_that_stands_still_tells_of_what_is_left(self) -> None:
        """Of a drained host that another scope empties nothing stays."""
        vms = [vm('v1', 'd', [0.05]), vm('v2', 'd', [0.05])]
        both = [
            scopes.scope([CPU], hosts, vms, name=name)
            for name, hosts in (
                ('one', {'d': [0.1], 'x': [0.1], 'y': [0.1]}),
                ('two', {'d': [0.1]}),
            )
        ]
        for snapshot in both:
            assert snapshot.services is not None
            snapshot.services['d'].status = 'disabled'
        report = run(*both, evacuate=True, rebalance=False)
        one, two = report.scopes
        self.assertEqual(2, len(one.steps))
        self.assertIs(StopReason.TOO_FEW_HOSTS, two.stopped)
        self.assertEqual([2, 0], [o.drains[0].instances for o in (one, two)])
        self.assertEqual({}, two.stayed)
        self.assertEqual(0, two.hosts_in_use_after)

    def test_one_that_arrives_where_all_stand_still(self) -> None:
        first, second = uneven('one', 'a', 'b'), uneven('two', 'c', 'b')
        second.services = None
        report = run(first, second, max_migrations=1)
        [step] = report.steps
        self.assertEqual(
            'it is already planned in scope one',
            report.scopes[1].stayed[step.instance],
        )

    def test_one_that_moves_twice_is_found_where_it_ends(self) -> None:
        carry = EarlierPlans()
        one, two = uneven('one', 'a', 'b'), uneven('two', 'a', 'c')
        instance = one.instances['a-0']
        carry.moves = [
            EarlierMove('one', instance, 'a', 'b', {}),
            EarlierMove('one', instance, 'b', 'c', {}),
        ]
        self.assertEqual('c', carry.place(two).instances['a-0'].host)
        self.assertNotIn('a-0', carry.place(one).instances)

    def test_an_instance_seen_in_both(self) -> None:
        """Moved inside what both share, it stays put in the second."""
        first, second = uneven('one'), uneven('two')
        report = run(first, second, max_migrations=1)
        self.assertEqual(
            ['a-0', 'a-1'], [step.instance for step in report.steps]
        )
        self.assertIn('scope one', report.scopes[1].unmovable['a-0'])
        self.assertAlmostEqual(0.6, report.scopes[1].combined_before)

    def test_a_shared_host_of_its_own_size(self) -> None:
        """What arrives is a share of the host that it arrives on."""
        cpu = policy('cpu', threshold=0.1, host_capacity_query='up')
        vms = [vm(f'v{n}', 'a', [10.0]) for n in range(8)]
        sizes = {'a': [100.0], 'b': [50.0], 'c': [100.0]}
        first = scopes.scope(
            [cpu], {'a': [0.8], 'b': [0.0]}, vms, capacities=sizes, name='one'
        )
        second = scopes.scope(
            [cpu], {'b': [0.0], 'c': [0.0]}, [], capacities=sizes, name='two'
        )
        report = run(first, second, policies=[cpu], max_migrations=1)
        self.assertEqual(1, len(report.steps))
        self.assertAlmostEqual(0.2, report.scopes[1].combined_before)
        self.assertEqual(
            [0.2, 0.0],
            [one.value for one in report.scopes[1].policies[0].scores],
        )

    def test_an_instance_that_the_second_scope_sees_elsewhere(self) -> None:
        """It left between the two snapshots: it counts where it is."""
        first, second = uneven('one', 'a', 'b'), uneven('two', 'a', 'c')
        second.instances['a-0'].host = 'c'
        report = run(first, second, max_migrations=1)
        self.assertEqual('a-0', report.scopes[0].steps[0].instance)
        self.assertAlmostEqual(0.8, report.scopes[1].combined_before)
        self.assertIn('scope one', report.scopes[1].unmovable['a-0'])

    def test_a_policy_of_the_second_scope_only(self) -> None:
        """The second scope's own profile tells what left."""
        ram = policy('ram', 0.5, threshold=0.1)
        cpu = policy('cpu', 0.5, threshold=0.1)
        first, second = uneven('one', 'a', 'b'), uneven('two', 'a', 'c')
        second.readings['ram'] = copy.deepcopy(second.readings['cpu'])
        report = run(first, second, policies=[cpu, ram], max_migrations=4)
        before = report.scopes[1].policies
        self.assertAlmostEqual(0.4, before[0].imbalance_before)
        self.assertAlmostEqual(0.4, before[1].imbalance_before)

    def test_a_share_that_nobody_knows(self) -> None:
        ram = policy('ram', 0.5, threshold=0.1)
        cpu = policy('cpu', 0.5, threshold=0.1)
        first, second = uneven('one', 'a', 'b'), uneven('two', 'c', 'b')
        second.readings['ram'] = copy.deepcopy(second.readings['cpu'])
        report = run(first, second, policies=[cpu, ram], max_migrations=1)
        self.assertIn(
            'the share of a-0, planned there, is unknown',
            '\n'.join(report.scopes[1].warnings),
        )


class TestPurity(base.BaseTestCase):
    def test_snapshots_stay_as_they_are(self) -> None:
        moved = 0
        for seed in range(60):
            snapshot, policies, settings = scopes.chance(seed)
            again = copy.deepcopy(snapshot)
            again.scope = 'again'
            before = copy.deepcopy(([snapshot, again], policies, settings))
            report = propose([snapshot, again], policies, settings)
            moved += len(report.steps)
            self.assertEqual(before, ([snapshot, again], policies, settings))
        self.assertGreater(moved, 0)

    def test_the_order_of_dicts_does_not_matter(self) -> None:
        moved = 0
        for seed in range(80):
            snapshot, policies, settings = scopes.chance(seed)
            report = propose([snapshot], policies, settings)
            other = propose(
                [scopes.shuffled(snapshot, seed)], policies, settings
            )
            with self.subTest(seed=seed):
                self.assertEqual(report, other)
            moved += len(report.steps)
        self.assertGreater(moved, 0)

    def test_every_step_is_legal_and_no_policy_ends_worse(self) -> None:
        """The extensions too keep the rules, in the order of the plan."""
        for seed in range(150):
            snapshot, policies, settings = scopes.chance(seed)
            result = propose([snapshot], policies, settings).scopes[0]
            check = Literal(snapshot, policies, settings)
            for step in result.steps:
                with self.subTest(seed=seed, step=step.instance):
                    self.assertTrue(
                        check.is_legal(step.instance, step.destination)
                    )
                    check.move(step.instance, step.destination)
            for one, given in zip(result.policies, policies, strict=True):
                if one.imbalance_after > one.imbalance_before + 1e-9:
                    self.assertLessEqual(
                        one.imbalance_after, given.threshold + 1e-9
                    )
            self.assertLessEqual(
                result.combined_after, result.combined_before + 1e-9
            )


class TestPlan(base.BaseTestCase):
    def test_without_looking_for_garbage(self) -> None:
        """What is made stays, and there may be much of it."""
        found: dict[str, bool] = {}

        @contextlib.contextmanager
        def timed(part: str) -> Iterator[None]:
            found[part] = gc.isenabled()
            yield

        planning.plan([uneven()], [CPU], Settings(max_migrations=1), 1, timed)
        self.assertEqual({'propose': False, 'schedule': False}, found)
        self.assertTrue(gc.isenabled())
