# SPDX-License-Identifier: Apache-2.0
"""Are the right hosts emptied, and is the reason told for the rest?"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    Instance,
    MigrationPhase,
    Origin,
    Outcome,
    Reading,
    Sample,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.builders.scopes import vm

Vm = tuple[Instance, Sequence[float]]


def policy(name: str = 'cpu', weight: float = 1.0, **more: Any) -> Policy:
    return scopes.policy(
        name,
        weight,
        **{
            'mode': Mode.PACK,
            'capacity_query': 'up',
            'capacity_threshold': 0.8,
            'max_migrations_per_cycle': 20,
            **more,
        },
    )


CPU = policy()


def scope(
    vms: Sequence[Vm],
    hosts: Mapping[str, Sequence[float]],
    policies: Sequence[Policy] = (CPU,),
    loads: Mapping[str, Sequence[float]] | None = None,
    **more: Any,
) -> Snapshot:
    """A scope whose capacity readings are its scores unless said."""
    found = scopes.scope(policies, hosts, vms, **more)
    for at, one in enumerate(policies):
        found.readings[one.name].capacity = Reading(
            '',
            samples=[
                Sample(host, values[at], 0)
                for host, values in (loads or hosts).items()
            ],
        )
    return found


def plan(
    snapshot: Snapshot, policies: Sequence[Policy] = (CPU,), **settings: Any
) -> AggregateResult:
    settings.setdefault('min_host_coverage', 0.0)
    return propose([snapshot], policies, Settings(**settings)).scopes[0]


def moves(result: AggregateResult) -> list[tuple[str, str, str]]:
    return [
        (one.instance, one.source, one.destination) for one in result.steps
    ]


def three() -> Snapshot:
    """Three hosts in use; all of it fits on one."""
    return scope(
        [
            vm('a', 'h1', [0.1]),
            vm('b', 'h2', [0.2]),
            vm('c', 'h3', [0.2]),
            vm('d', 'h3', [0.1]),
        ],
        {'h1': [0.1], 'h2': [0.2], 'h3': [0.3]},
    )


class TestOrder(base.BaseTestCase):
    def test_coldest_host_first(self) -> None:
        """h1 before h2, and both go to the fullest, h3."""
        result = plan(three())
        self.assertEqual([('a', 'h1', 'h3'), ('b', 'h2', 'h3')], moves(result))
        self.assertEqual(StopReason.PACKED, result.stopped)
        self.assertEqual(
            '2 hosts emptied by 2 migrations (h1, h2), 1 host stays in use; '
            'no further host can be emptied',
            result.reason,
        )
        self.assertEqual((3, 1), _in_use(result))
        self.assertEqual(
            {MigrationPhase.PACK}, {step.phase for step in result.steps}
        )

    def test_order_is_by_the_combined_score(self) -> None:
        """h2 is colder by weight, though h1 is colder in ram."""
        policies = [policy('cpu', 0.9), policy('ram', 0.1)]
        snapshot = scope(
            [
                vm('a', 'h1', [0.2, 0.0]),
                vm('b', 'h2', [0.1, 0.5]),
                vm('c', 'h3', [0.3, 0.2]),
            ],
            {'h1': [0.2, 0.0], 'h2': [0.1, 0.5], 'h3': [0.3, 0.2]},
            policies,
        )
        result = plan(snapshot, policies, max_migrations=1)
        self.assertEqual([('b', 'h2', 'h3')], moves(result))

    def test_equal_hosts_by_name(self) -> None:
        snapshot = scope(
            [vm('a', 'h2', [0.1]), vm('b', 'h1', [0.1])],
            {'h1': [0.1], 'h2': [0.1]},
        )
        self.assertEqual([('b', 'h1', 'h2')], moves(plan(snapshot)))

    def test_heaviest_instance_first(self) -> None:
        """Of equals the one with more memory, then by uuid."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.02]),
                vm('b', 'h1', [0.05]),
                vm('c', 'h1', [0.02], memory_mb=4096),
                vm('d', 'h1', [0.02]),
                vm('e', 'h2', [0.5]),
            ],
            {'h1': [0.11], 'h2': [0.5]},
        )
        order = [step.instance for step in plan(snapshot).steps]
        self.assertEqual(['b', 'c', 'a', 'd'], order)

    def test_weight_is_of_the_own_host(self) -> None:
        """By two policies, of which one has sizes of hosts."""
        policies = [
            policy('cpu', 0.5, host_capacity_query='up'),
            policy('ram', 0.5),
        ]
        snapshot = scope(
            [
                # .5 * 4/16 + .5 * .1 = .175 and .5 * 2/16 + .5 * .2 = .1625
                vm('a', 'h1', [4.0, 0.1]),
                vm('b', 'h1', [2.0, 0.2]),
                vm('c', 'h2', [1.0, 0.4]),
            ],
            {'h1': [0.375, 0.3], 'h2': [0.5, 0.4]},
            policies,
            capacities={'h1': [16.0, 1.0], 'h2': [32.0, 1.0]},
        )
        order = [step.instance for step in plan(snapshot, policies).steps]
        self.assertEqual(['a', 'b'], order)

    def test_fullest_is_judged_anew(self) -> None:
        """After the first has gone to h3, h3 is full; h2 is next."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.2]),
                vm('b', 'h1', [0.1]),
                vm('c', 'h2', [0.4]),
                vm('d', 'h3', [0.5]),
            ],
            {'h1': [0.3], 'h2': [0.4], 'h3': [0.5]},
        )
        self.assertEqual(
            [('a', 'h1', 'h3'), ('b', 'h1', 'h2')], moves(plan(snapshot))
        )


class TestCapacity(base.BaseTestCase):
    def test_full_by_capacity_query(self) -> None:
        """h3 has a low score, its capacity reading is full."""
        snapshot = three()
        capacity = snapshot.readings['cpu'].capacity
        assert capacity is not None
        capacity.samples = [
            Sample('h1', 0.1, 0), Sample('h2', 0.2, 0), Sample('h3', 0.79, 0)
        ]  # fmt: skip
        result = plan(snapshot)
        self.assertEqual(
            [('a', 'h1', 'h2'), ('c', 'h3', 'h2'), ('d', 'h3', 'h2')],
            moves(result),
        )
        self.assertEqual(
            'h2 is not emptied: this plan moves instance a there',
            result.stayed['b'],
        )

    def test_strictly_below(self) -> None:
        """0.8 is not below 0.8."""
        snapshot = scope(
            [vm('a', 'h1', [0.3]), vm('b', 'h2', [0.5])],
            {'h1': [0.3], 'h2': [0.5]},
        )
        result = plan(snapshot)
        self.assertEqual([], result.steps)
        self.assertEqual(
            'h1 is not emptied: its instance a has no legal destination: '
            '1 host: policy cpu would be at 0.800 there, its '
            'capacity_threshold is 0.8',
            result.stayed['a'],
        )
        self.assertEqual(
            '0 hosts emptied, 2 hosts stay in use; no further host can be '
            'emptied',
            result.reason,
        )
        self.assertEqual(
            1, len(plan(snapshot, [policy(capacity_threshold=0.81)]).steps)
        )

    def test_host_without_a_reading_takes_nothing(self) -> None:
        snapshot = three()
        capacity = snapshot.readings['cpu'].capacity
        assert capacity is not None
        del capacity.samples[2]
        result = plan(snapshot)
        # It may give: nothing is asked of it then.
        self.assertEqual([('a', 'h1', 'h2')], moves(result)[:1])
        self.assertNotIn('h3', [step.destination for step in result.steps])

    def test_unequal_hosts(self) -> None:
        """8 of 16 cores are half of h1, but all of h2 and 1/8 of h3."""
        cpu = policy(host_capacity_query='up')
        snapshot = scope(
            [
                vm('a', 'h1', [4.0]),
                vm('b', 'h2', [3.2]),
                vm('c', 'h3', [19.2]),
            ],
            {'h1': [0.25], 'h2': [0.4], 'h3': [0.3]},
            [cpu],
            capacities={'h1': [16.0], 'h2': [8.0], 'h3': [64.0]},
        )
        # On h2, the fullest, 4 cores would make 0.9.
        result = plan(snapshot, [cpu], max_migrations=1)
        self.assertEqual([('a', 'h1', 'h3')], moves(result))
        self.assertAlmostEqual(0.4 - 0.0, result.combined_after)

    def test_every_policy_counts(self) -> None:
        """h3 is full in ram, though that has little weight."""
        policies = [policy('cpu', 0.9), policy('ram', 0.1)]
        snapshot = scope(
            [
                vm('a', 'h1', [0.1, 0.1]),
                vm('b', 'h2', [0.2, 0.2]),
                vm('c', 'h3', [0.5, 0.75]),
            ],
            {'h1': [0.1, 0.1], 'h2': [0.2, 0.2], 'h3': [0.5, 0.75]},
            policies,
        )
        result = plan(snapshot, policies)
        self.assertEqual([('a', 'h1', 'h2')], moves(result))


class TestWholeDrains(base.BaseTestCase):
    def test_drained_host_receives_nothing(self) -> None:
        snapshot = scope(
            [
                vm('a', 'h1', [0.1]),
                vm('b', 'h2', [0.15]),
                vm('c', 'h3', [0.69]),
            ],
            {'h1': [0.1], 'h2': [0.15], 'h3': [0.69]},
        )
        result = plan(snapshot)
        self.assertEqual([('a', 'h1', 'h3')], moves(result))
        self.assertIn('1 host: it is empty, or being', result.stayed['b'])

    def test_empty_host_is_not_filled(self) -> None:
        snapshot = scope(
            [vm('a', 'h1', [0.3]), vm('b', 'h2', [0.6])],
            {'h0': [0.7], 'h1': [0.3], 'h2': [0.6]},
            loads={'h0': [0.0], 'h1': [0.3], 'h2': [0.6]},
        )
        result = plan(snapshot)
        self.assertEqual([], result.steps)
        self.assertEqual((2, 2), _in_use(result))

    def test_one_that_does_not_fit_keeps_all(self) -> None:
        """The two that fit stay too; the next host is tried."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.05]),
                vm('b', 'h1', [0.05]),
                vm('c', 'h1', [0.05], pinned_availability_zone='gone'),
                vm('d', 'h2', [0.2]),
                vm('e', 'h3', [0.3]),
            ],
            {'h1': [0.15], 'h2': [0.2], 'h3': [0.3]},
        )
        result = plan(snapshot)
        self.assertEqual([('d', 'h2', 'h3')], moves(result))
        for uuid in 'abc':
            self.assertEqual(
                'h1 is not emptied: its instance c has no legal destination: '
                '2 hosts: it is pinned to availability zone gone, the host '
                'is in an unknown one',
                result.stayed[uuid],
            )

    def test_trial_that_fails_leaves_no_trace(self) -> None:
        """h1's first fits on h3 and its second nowhere; d needs h3's room."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.1], vcpus=4),
                vm('b', 'h1', [0.1], vcpus=4),
                vm('d', 'h2', [0.3], vcpus=4),
                vm('e', 'h3', [0.4], vcpus=4),
            ],
            {'h1': [0.2], 'h2': [0.3], 'h3': [0.4]},
        )
        room = {'VCPU': 8, 'MEMORY_MB': 9999}
        scopes.give_room(
            snapshot,
            {'h1': room, 'h2': {**room, 'VCPU': 4}, 'h3': room},
        )
        result = plan(snapshot)
        self.assertEqual([('d', 'h2', 'h3')], moves(result))
        self.assertIn('its instance b has', result.stayed['a'])
        self.assertIn('it needs 4 VCPU, 0 are free', result.stayed['a'])

    def test_locked_instance_keeps_its_host(self) -> None:
        snapshot = three()
        snapshot.instances['a'].locked = True
        snapshot.instances['x'] = Instance('x', 'h1')
        result = plan(snapshot)
        self.assertEqual([('b', 'h2', 'h3')], moves(result))
        self.assertEqual('it is locked', result.stayed['a'])
        self.assertIn('no usable sample', result.stayed['x'])

    def test_whoever_shares_a_locked_ones_host_learns_why(self) -> None:
        snapshot = three()
        snapshot.instances['a'].locked = True
        snapshot.instances['b'].host = 'h1'
        self.assertEqual(
            'h1 is not emptied: its instance a stays: it is locked',
            plan(snapshot).stayed['b'],
        )

    def test_a_host_to_which_one_is_on_its_way_is_kept(self) -> None:
        snapshot = three()
        snapshot.events = [
            Event('b', 'h2', 'h1', Outcome.PLANNED, 0.0, Origin.WATCHER)
        ]
        result = plan(snapshot, max_migrations=9)
        self.assertNotIn('h1', [one.source for one in result.steps])
        self.assertEqual(
            'h1 is not emptied: an instance is migrating to it',
            result.stayed['a'],
        )

    def test_a_stuck_migration_keeps_its_source(self) -> None:
        """h1, the coldest, is not begun with, and may be filled."""
        snapshot = three()
        snapshot.taken_at = 1e6
        snapshot.events = [
            Event('x', 'h1', 'y', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
        ]
        for partial in (False, True):
            result = plan(snapshot, pack_partial_drains=partial)
            self.assertEqual([('b', 'h2', 'h3')], moves(result))
            self.assertEqual([], result.begun)
            self.assertEqual(
                'the migration of instance x out of h1 is stuck, and a host '
                'sends 1 server at a time; end it by hand',
                result.stayed['a'],
            )
        snapshot.hosts['h3'].closed = 'for the test'
        self.assertIn(('b', 'h2', 'h1'), moves(plan(snapshot)))

    def test_stuck_migrations_into_a_host(self) -> None:
        """h3, the fullest, takes none; h1 goes to h2 then."""
        snapshot = three()
        snapshot.taken_at = 1e6
        snapshot.events = [
            Event(one, 'x', 'h3', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for one in ('x0', 'x1')
        ]
        self.assertEqual([('a', 'h1', 'h2')], moves(plan(snapshot)))
        # A rebuild there is no migration: what is lost still has a place.
        self.assertEqual(
            [('a', 'h1', 'h2')], moves(plan(snapshot, headroom_hosts=1))
        )

    def test_group_keeps_its_host(self) -> None:
        """Of two apart, one is where the other would have to go."""
        snapshot = three()
        snapshot.groups = [ServerGroup('g', 'anti-affinity', ['a', 'b', 'c'])]
        result = plan(snapshot)
        self.assertEqual([], result.steps)
        self.assertIn('anti-affinity group g has 1', result.stayed['a'])

    def test_lone_pair_of_affinity_keeps_its_host(self) -> None:
        snapshot = three()
        snapshot.groups = [ServerGroup('g', 'affinity', ['c', 'd'])]
        self.assertEqual(
            [('a', 'h1', 'h3'), ('b', 'h2', 'h3')], moves(plan(snapshot))
        )

    def test_nothing_is_left_of_the_budget(self) -> None:
        """a, with the only move, empties h1; h2 is not begun with."""
        result = plan(three(), max_migrations=1)
        self.assertEqual([('a', 'h1', 'h3')], moves(result))
        self.assertEqual(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            'h2 is not emptied: that takes 1 migration, and the budget of '
            '1 has 0 left',
            result.stayed['b'],
        )
        self.assertIn('the budget of 1 migration is used', result.reason)
        self.assertEqual([], result.begun)

    def test_a_host_that_fits_nowhere_is_no_matter_of_the_budget(
        self,
    ) -> None:
        snapshot = scope(
            [vm(f'v{n}', f'h{n % 2}', [0.1]) for n in range(8)],
            {'h0': [0.4], 'h1': [0.4]},
        )
        roomy = plan(snapshot, [policy(capacity_threshold=0.9)])
        self.assertEqual(4, len(roomy.steps))
        result = plan(snapshot, max_migrations=3)
        self.assertEqual([], result.steps)
        self.assertEqual(StopReason.PACKED, result.stopped)
        self.assertIn('its instance v6 has no legal', result.stayed['v0'])

    def test_disabled_host_is_no_destination(self) -> None:
        """The fullest host is disabled."""
        snapshot = three()
        assert snapshot.services is not None
        snapshot.services['h3'].status = 'disabled'
        result = plan(snapshot)
        self.assertEqual([('a', 'h1', 'h2')], moves(result))


def seven() -> Snapshot:
    """Seven instances on h1, which fit on h2 and h3; both are fuller."""
    return scope(
        [
            *(vm(f'a{n}', 'h1', [0.01 + n / 1000]) for n in range(7)),
            *(vm(f'b{n}', 'h2', [0.1]) for n in range(4)),
            *(vm(f'c{n}', 'h3', [0.1]) for n in range(5)),
        ],
        {'h1': [0.091], 'h2': [0.4], 'h3': [0.5]},
    )


def _after(snapshot: Snapshot, result: AggregateResult, at: float) -> Snapshot:
    """The scope an hour later: all that was planned has arrived."""
    found = copy.deepcopy(snapshot)
    found.taken_at = at + 3600.0
    readings = found.readings['cpu']
    assert readings.profile is not None
    usage = {one.label: one.value for one in readings.profile.samples}
    for step in result.steps:
        found.instances[step.instance].host = step.destination
        found.events.append(
            Event(
                step.instance,
                step.source,
                step.destination,
                Outcome.MOVED,
                at,
                Origin.WATCHER,
            )
        )
        for answer in (readings.imbalance, readings.capacity):
            assert answer is not None
            for one in answer.samples:
                sign = (one.label == step.destination) - (
                    one.label == step.source
                )
                one.value += sign * usage[step.instance]
    return found


class TestSeveralAudits(base.BaseTestCase):
    """A host that needs more moves than one budget has."""

    def test_three_audits_empty_a_host_of_seven(self) -> None:
        snapshot, told, sources = seven(), [], []
        cpu = policy(max_migrations_per_cycle=3)
        for audit in range(3):
            result = plan(
                snapshot,
                [cpu],
                instance_cooldown_seconds=900.0,
                return_guard_seconds=21600.0,
            )
            sources += [step.source for step in result.steps]
            told.append([host.text for host in result.begun])
            if result.begun:
                self.assertEqual(StopReason.BUDGET, result.stopped)
                self.assertIn(
                    '0 hosts emptied by 3 migrations, 3 hosts stay in use; '
                    f'{result.begun[0].text}, and the next audit goes on; '
                    'the budget of 3 migrations is used',
                    result.reason,
                )
            snapshot = _after(snapshot, result, 3600.0 * audit)
        self.assertEqual(['h1'] * 7, sources[:7])
        self.assertEqual(
            [['h1: 3 of 7 leave now'], ['h1: 3 of 4 leave now']], told[:2]
        )
        self.assertNotIn('h1', [one.host for one in result.begun])
        self.assertNotIn(
            'h1', {one.host for one in snapshot.instances.values()}
        )

    def test_who_leaves_later_has_the_reason(self) -> None:
        result = plan(seven(), max_migrations=3)
        self.assertEqual({'a4', 'a5', 'a6'}, {m[0] for m in moves(result)})
        self.assertEqual(
            'h1: 3 of 7 leave now; it leaves with a later audit, because the '
            'budget of 3 migrations is used',
            result.stayed['a0'],
        )

    def test_the_next_audit_goes_on_whatever_the_noise(self) -> None:
        """h2 looks colder meanwhile, and the window still shows a0 to a2."""
        snapshot = seven()
        for n in range(3):
            snapshot.instances[f'a{n}'].host = 'h3'
            snapshot.events.append(
                Event(f'a{n}', 'h1', 'h3', Outcome.MOVED, 0.0, Origin.WATCHER)
            )
        for answer in (
            snapshot.readings['cpu'].imbalance,
            snapshot.readings['cpu'].capacity,
        ):
            assert answer is not None
            answer.samples = [
                Sample('h1', 0.091, 0),
                Sample('h2', 0.08, 0),
                Sample('h3', 0.3, 0),
            ]
        self.assertEqual('h2', plan(snapshot, max_migrations=3).begun[0].host)
        result = plan(snapshot, max_migrations=3, return_guard_seconds=600.0)
        self.assertEqual('h1: 3 of 4 leave now', result.begun[0].text)

    def test_it_does_not_begin_with_what_cannot_be_emptied(self) -> None:
        """The last of h1 fits nowhere, so its first ones stay as well."""
        snapshot = seven()
        snapshot.instances['a0'].pinned_availability_zone = 'gone'
        result = plan(snapshot, max_migrations=3)
        self.assertNotIn('h1', [step.source for step in result.steps])
        self.assertIn('its instance a0 has no legal', result.stayed['a6'])


class TestPartialDrains(base.BaseTestCase):
    def test_budget_is_used_up(self) -> None:
        """The plain rule: the heaviest of h1 leaves, the host stays."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.05]),
                vm('b', 'h1', [0.1]),
                vm('c', 'h2', [0.3]),
            ],
            {'h1': [0.15], 'h2': [0.3]},
        )
        result = plan(snapshot, max_migrations=1, pack_partial_drains=True)
        self.assertEqual([('b', 'h1', 'h2')], moves(result))
        self.assertEqual(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            'the budget of 1 migration is used', result.stayed['a']
        )
        self.assertEqual(
            '0 hosts emptied by 1 migration, 2 hosts stay in use; the budget '
            'of 1 migration is used',
            result.reason,
        )

    def test_half_drained_host_receives_nothing(self) -> None:
        """h1 keeps the locked one, and b finds no room on h3."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.05]),
                vm('x', 'h1', [0.05], locked=True),
                vm('b', 'h2', [0.2]),
                vm('c', 'h3', [0.6]),
            ],
            {'h1': [0.1], 'h2': [0.2], 'h3': [0.6]},
        )
        result = plan(snapshot, pack_partial_drains=True)
        self.assertEqual([('a', 'h1', 'h3')], moves(result))
        self.assertEqual('it is locked', result.stayed['x'])
        self.assertIn('no legal destination', result.stayed['b'])
        self.assertIn('1 host: it is empty, or being', result.stayed['b'])


class TestLimits(base.BaseTestCase):
    def test_keep_hosts(self) -> None:
        result = plan(three(), keep_hosts=2)
        self.assertEqual([('a', 'h1', 'h3')], moves(result))
        self.assertEqual(
            'h2 is not emptied: 2 hosts in use, keep_hosts is 2',
            result.stayed['b'],
        )

    def test_headroom_hosts(self) -> None:
        """Of two hosts at .4 and .5 one cannot take the other."""
        vms = [
            vm('a', 'h1', [0.1]),
            vm('b', 'h2', [0.4]),
            vm('c', 'h3', [0.2]),
            vm('d', 'h3', [0.2]),
        ]
        snapshot = scope(vms, {'h1': [0.1], 'h2': [0.4], 'h3': [0.4]})
        self.assertEqual([('a', 'h1', 'h2')], moves(plan(snapshot)))
        result = plan(snapshot, headroom_hosts=1)
        self.assertEqual([], result.steps)
        self.assertEqual(
            'h1 is not emptied: if the fullest remaining host fails '
            '(headroom_hosts is 1), instance b of h2 has no destination',
            result.stayed['a'],
        )
        # With room for it the same drain is planned.
        roomy = policy(capacity_threshold=0.95)
        result = plan(snapshot, [roomy], headroom_hosts=1)
        self.assertEqual([('a', 'h1', 'h2')], moves(result))

    def test_headroom_for_groups(self) -> None:
        """Who would be lost together may meet again elsewhere."""
        vms = [
            vm('a', 'h1', [0.1]),
            vm('b', 'h2', [0.1]),
            vm('s', 'h3', [0.1]),
            vm('t', 'h3', [0.1]),
        ]
        snapshot = scope(vms, {'h1': [0.1], 'h2': [0.1], 'h3': [0.3]})
        alone = moves(plan(snapshot, headroom_hosts=1))
        self.assertEqual([('a', 'h1', 'h3')], alone)
        for kind in ('affinity', 'soft-affinity', 'soft-anti-affinity'):
            snapshot.groups = [ServerGroup('g', kind, ['s', 't'])]
            self.assertEqual(alone, moves(plan(snapshot, headroom_hosts=1)))
        # Two that must be apart cannot both be on the one host left.
        group = ServerGroup('g', 'anti-affinity', ['s', 't'])
        group.max_server_per_host = 1
        snapshot.groups = [group]
        result = plan(snapshot, headroom_hosts=1)
        self.assertEqual([], result.steps)
        self.assertIn(
            'instance t of h3 has no destination', result.stayed['a']
        )

    def test_headroom_for_fixed_instances_too(self) -> None:
        """The locked one needs a place when its host is lost."""
        vms = [
            vm('a', 'h1', [0.1]),
            vm('b', 'h2', [0.3], locked=True, vcpus=4),
            vm('c', 'h3', [0.3], vcpus=4),
        ]
        snapshot = scope(vms, {'h1': [0.1], 'h2': [0.3], 'h3': [0.3]})
        self.assertEqual(1, len(plan(snapshot, headroom_hosts=1).steps))
        room = {'VCPU': 4, 'MEMORY_MB': 9999}
        scopes.give_room(snapshot, dict.fromkeys(snapshot.hosts, room))
        result = plan(snapshot, headroom_hosts=1)
        self.assertEqual([], result.steps)
        self.assertIn('instance b of h2', result.stayed['a'])


class TestResult(base.BaseTestCase):
    def test_nothing_of_the_input_changes_and_no_order_matters(self) -> None:
        policies = [policy('cpu', 0.6), policy('ram', 0.4)]
        vms = [
            vm(f'v{n}', f'h{n % 5}', [0.02 * (n % 4), 0.01 * (n % 3)])
            for n in range(25)
        ]
        hosts = {
            f'h{at}': [
                sum(use[p] for one, use in vms if one.host == f'h{at}')
                for p in range(2)
            ]
            for at in range(5)
        }
        snapshot = scope(vms, hosts, policies)
        snapshot.groups = [ServerGroup('g', 'anti-affinity', ['v1', 'v2'])]
        before = copy.deepcopy(snapshot)
        result = plan(snapshot, policies, headroom_hosts=1)
        self.assertGreater(len(result.steps), 3)
        self.assertEqual(before, snapshot)
        for seed in range(5):
            again = plan(
                scopes.shuffled(snapshot, seed), policies, headroom_hosts=1
            )
            self.assertEqual(result.steps, again.steps)
            self.assertEqual(result.stayed, again.stayed)
        moved = {step.instance for step in result.steps}
        self.assertEqual(set(snapshot.instances) - moved, set(result.stayed))
        self.assertNotIn('', result.stayed.values())


def _in_use(result: AggregateResult) -> tuple[int, int]:
    return result.hosts_in_use_before, result.hosts_in_use_after
