# SPDX-License-Identifier: Apache-2.0
"""Are broken server groups repaired, by as few moves as needed?"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', threshold=0.5, capacity_threshold=0.9)


def scope(
    hosts: Mapping[str, float],
    members: Mapping[str, str],
    kind: str,
    others: Sequence[tuple[str, str]] = (),
    **more: Any,
) -> Snapshot:
    """Members of .1 each in one group db, by host; others of .1 outside."""
    vms = [vm(uuid, at, [0.1], vcpus=1) for uuid, at in members.items()]
    vms += [vm(uuid, at, [0.1], vcpus=1) for uuid, at in others]
    return scopes.scope(
        [CPU],
        {host: [score] for host, score in hosts.items()},
        vms,
        groups=[ServerGroup('g', kind, list(members), 'db', **more)],
    )


def repair(snapshot: Snapshot, **more: Any) -> AggregateResult:
    settings = Settings(
        **{
            'unlimited': True,
            'enforce_hard_affinity': True,
            'enforce_soft_affinity': True,
            'rebalance': False,
            **more,
        }
    )
    return propose([snapshot], [CPU], settings).scopes[0]


def moves(result: AggregateResult) -> list[tuple[str, str]]:
    return [(step.instance, step.destination) for step in result.steps]


EVEN = {'a': 0.3, 'b': 0.3, 'c': 0.3, 'd': 0.1}


class TestRepair(base.BaseTestCase):
    def test_two_apart(self) -> None:
        """One move, to the host that leaves it most even."""
        for kind in ('anti-affinity', 'soft-anti-affinity'):
            snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, kind)
            result = repair(snapshot)
            with self.subTest(kind=kind):
                self.assertEqual([('v', 'd')], moves(result))
                self.assertEqual(
                    [f'{kind} group db: 2 members on a'],
                    result.violations_before,
                )
                self.assertEqual([], result.violations_after)
                self.assertEqual(StopReason.DONE, result.stopped)
                self.assertEqual(
                    '1 server group repaired by 1 migration', result.reason
                )
                self.assertIs(MigrationPhase.AFFINITY, result.steps[0].phase)
                self.assertEqual([], result.warnings)

    def test_absurd_sizes(self) -> None:
        """What they make of a move is no number, whatever is allowed."""
        sized = policy('cpu', host_capacity_query='up')
        # As if kronos-explain had lifted the objections.
        sized = sized.model_copy(update={'threshold': math.inf})
        snapshot = scopes.scope(
            [sized],
            {host: [score] for host, score in EVEN.items()},
            [vm('v', 'a', [0.1]), vm('w', 'a', [0.1])],
            capacities={'a': [1e-300], 'b': [1.0], 'c': [1.0], 'd': [1.0]},
            groups=[ServerGroup('g', 'anti-affinity', ['v', 'w'], 'db')],
        )
        settings = Settings(enforce_hard_affinity=True, rebalance=False)
        [result] = propose([snapshot], [sized], settings).scopes
        self.assertEqual(1, len(result.steps))
        self.assertEqual([], result.violations_after)

    def test_most_per_host(self) -> None:
        """It is a rule of hard anti-affinity alone."""
        members = {'u': 'a', 'v': 'a', 'w': 'a'}
        hard = scope(EVEN, members, 'anti-affinity', max_server_per_host=2)
        result = repair(hard)
        self.assertEqual(1, len(result.steps))
        self.assertEqual(
            ['anti-affinity group db: 3 members on a (at most 2)'],
            result.violations_before,
        )
        soft = scope(
            EVEN, members, 'soft-anti-affinity', max_server_per_host=2
        )
        self.assertEqual(2, len(repair(soft).steps))

    def test_three_on_three_hosts(self) -> None:
        """Two moves, each to where another member is."""
        for kind in ('affinity', 'soft-affinity'):
            snapshot = scope(EVEN, {'u': 'a', 'v': 'b', 'w': 'c'}, kind)
            result = repair(snapshot)
            with self.subTest(kind=kind):
                self.assertEqual(2, len(result.steps))
                self.assertEqual([], result.violations_after)
                self.assertEqual(
                    [f'{kind} group db: 3 members on 3 hosts (a, b, c)'],
                    result.violations_before,
                )

    def test_two_and_two(self) -> None:
        members = {'s': 'a', 't': 'a', 'u': 'b', 'v': 'b'}
        result = repair(scope(EVEN, members, 'affinity'))
        self.assertEqual(2, len(result.steps))
        self.assertEqual(1, len({one for _, one in moves(result)}))

    def test_only_what_is_asked_for(self) -> None:
        for kind in ('anti-affinity', 'soft-anti-affinity'):
            snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, kind)
            soft = kind.startswith('soft')
            for asked in (True, False):
                result = repair(
                    snapshot,
                    enforce_hard_affinity=not asked if soft else asked,
                    enforce_soft_affinity=asked if soft else not asked,
                )
                with self.subTest(kind=kind, asked=asked):
                    self.assertEqual(asked, bool(result.steps))
                    self.assertEqual(asked, bool(result.violations_before))
                    if not asked:
                        self.assertEqual(
                            'no server group is broken', result.reason
                        )

    def test_members_outside_the_scope_are_ignored(self) -> None:
        snapshot = scope(EVEN, {'v': 'a'}, 'affinity')
        snapshot.groups[0].members += ['x', 'y']
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertEqual([], result.violations_before)

    def test_group_of_another_project(self) -> None:
        """Nobody asks whose it is, and it blocks a repair, too."""
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        for uuid, project in (('v', 'one'), ('w', 'two')):
            snapshot.instances[uuid].project_id = project
        self.assertEqual([('v', 'd')], moves(repair(snapshot)))
        snapshot = scope(
            EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity', [('x', 'd')]
        )
        snapshot.groups.append(ServerGroup('h', 'anti-affinity', ['v', 'x']))
        result = repair(snapshot)
        self.assertEqual([('w', 'd')], moves(result))

    def test_the_biggest_host_is_full(self) -> None:
        """The group is gathered whole on another of its hosts."""
        members = {'t': 'a', 'u': 'a', 'v': 'b'}
        snapshot = scope(EVEN, members, 'affinity')
        scopes.give_room(
            snapshot,
            {
                'a': {'VCPU': 2, 'MEMORY_MB': 65536},
                'b': {'VCPU': 3, 'MEMORY_MB': 65536},
            },
        )
        result = repair(snapshot)
        self.assertEqual([('t', 'b'), ('u', 'b')], sorted(moves(result)))
        self.assertEqual(StopReason.DONE, result.stopped)

    def test_a_start_at_the_wrong_host_is_taken_back(self) -> None:
        """Two could be together on any host, the third only on b."""
        members = {'u': 'a', 'v': 'b', 'w': 'c'}
        snapshot = scope(
            {'a': 0.1, 'b': 0.3, 'c': 0.3, 'd': 0.3}, members, 'affinity'
        )
        room = {'MEMORY_MB': 65536}
        scopes.give_room(
            snapshot,
            {
                'a': {'VCPU': 2, **room},
                'b': {'VCPU': 3, **room},
                'c': {'VCPU': 1, **room},
            },
        )
        result = repair(snapshot)
        self.assertEqual([('u', 'b'), ('w', 'b')], sorted(moves(result)))
        self.assertEqual([], result.violations_after)

    def test_gathered_whole_or_not_at_all(self) -> None:
        """The detour does not fit the budget: not one move of it is made."""
        members = {'t': 'a', 'u': 'a', 'v': 'b'}
        snapshot = scope(EVEN, members, 'affinity')
        scopes.give_room(snapshot, {'a': {'VCPU': 2, 'MEMORY_MB': 65536}})
        result = repair(snapshot, max_migrations=1)
        self.assertEqual([], result.steps)
        self.assertEqual(StopReason.BUDGET, result.stopped)
        short = (
            'bringing its server group together on b takes 2 migrations, and '
            'the budget has 1 left'
        )
        self.assertEqual(
            [f'affinity group db: 3 members on 2 hosts (a, b): {short}'],
            result.warnings,
        )
        self.assertEqual(dict.fromkeys('tuv', short), result.stayed)
        self.assertEqual(
            '1 left of the budget of 1 migration, which is too few for '
            'another server group; 0 of 1 broken server group repaired, 0 '
            'migrations planned for them',
            result.reason,
        )
        self.assertEqual(2, len(repair(snapshot, max_migrations=2).steps))

    def test_none_is_begun_that_cannot_be_whole(self) -> None:
        """Any two have room together, on any host; all three on none."""
        members = {'u': 'a', 'v': 'b', 'w': 'c'}
        snapshot = scope(EVEN, members, 'affinity', [('x', 'd'), ('y', 'd')])
        room = {'VCPU': 2, 'MEMORY_MB': 65536}
        scopes.give_room(snapshot, dict.fromkeys('abc', room))
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertEqual(StopReason.STUCK, result.stopped)
        self.assertEqual(
            [
                'affinity group db: 3 members on 3 hosts (a, b, c) cannot be '
                'repaired: w: b: it needs 1 VCPU, 0 are free'
            ],
            result.warnings,
        )
        for member in 'uv':
            self.assertEqual(
                'its server group can only be brought together as a whole, '
                'and w cannot move there: b: it needs 1 VCPU, 0 are free',
                result.stayed[member],
            )
        # Another one gets what it would have taken.
        snapshot.groups.append(ServerGroup('h', 'anti-affinity', ['x', 'y']))
        result = repair(snapshot, unlimited=False, max_migrations=2)
        self.assertEqual(1, len(result.steps))
        self.assertIn(moves(result)[0][0], 'xy')
        self.assertEqual(1, len(result.violations_after))

    def test_what_cannot_be_whole_leaves_a_drained_host(self) -> None:
        """Its move helps the drain, which is asked for, too."""
        members = {'u': 'off', 'v': 'b', 'w': 'c'}
        snapshot = scope({**EVEN, 'off': 0.1}, members, 'affinity')
        snapshot.instances['v'].locked = True
        snapshot.instances['w'].locked = True
        assert snapshot.services is not None
        snapshot.services['off'].status = 'disabled'
        result = repair(snapshot, evacuate=True)
        self.assertEqual(['u'], [step.instance for step in result.steps])
        [drain] = result.drains
        self.assertEqual(1, drain.leaving)

    def test_what_is_drained_may_leave_for_its_group(self) -> None:
        """Alone none may part from the other, nor join the third."""
        members = {'v': 'off', 'w': 'off', 'x': 'a'}
        for kind in ('affinity', 'soft-affinity'):
            snapshot = scope({**EVEN, 'off': 0.2}, members, kind)
            assert snapshot.services is not None
            snapshot.services['off'].status = 'disabled'
            result = repair(snapshot, evacuate=True)
            self.assertEqual([('v', 'a'), ('w', 'a')], sorted(moves(result)))
            self.assertEqual(
                {MigrationPhase.AFFINITY},
                {step.phase for step in result.steps},
            )
            self.assertEqual([], result.violations_after)
            [drain] = result.drains
            self.assertEqual((2, {}), (drain.leaving, drain.staying))
            # Who only drains leaves both, and learns why.
            alone = repair(
                snapshot,
                evacuate=True,
                enforce_hard_affinity=False,
                enforce_soft_affinity=False,
            )
            self.assertEqual([], alone.steps)
            self.assertIn('1 other members elsewhere', alone.stayed['v'])

    def test_locked(self) -> None:
        """A warning that names the group and why; the rest goes on."""
        snapshot = scope(
            EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity', [('x', 'b')]
        )
        for uuid in ('v', 'w'):
            snapshot.instances[uuid].locked = True
        snapshot.groups.append(ServerGroup('h', 'affinity', ['x', 'y'], 'web'))
        other = scopes.vm('y', 'c', [0.1])[0]
        snapshot.instances['y'] = other
        assert snapshot.readings['cpu'].profile is not None
        snapshot.readings['cpu'].profile.samples.append(
            scopes.Sample('y', 0.1, 0)
        )
        result = repair(snapshot)
        self.assertEqual(1, len(result.steps))
        self.assertIn(result.steps[0].instance, ('x', 'y'))
        self.assertEqual(
            [
                'anti-affinity group db: 2 members on a cannot be repaired: '
                'v: it is locked; w: it is locked'
            ],
            result.warnings,
        )
        self.assertEqual(
            ['anti-affinity group db: 2 members on a'],
            result.violations_after,
        )
        self.assertEqual(
            'no further legal migration repairs a server group; 1 of 2 broken '
            'server groups repaired, 1 migration planned for them',
            result.reason,
        )
        self.assertEqual('it is locked', result.stayed['v'])

    def test_one_of_two_is_locked(self) -> None:
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        snapshot.instances['v'].locked = True
        self.assertEqual([('w', 'd')], moves(repair(snapshot)))

    def test_nowhere_to_go(self) -> None:
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        for host in 'bcd':
            snapshot.hosts[host].closed = 'for the test'
        result = repair(snapshot)
        for uuid in 'vw':
            self.assertIn('3 hosts: the host accepts', result.stayed[uuid])
        self.assertIn('v: no legal destination: 3 hosts', result.warnings[0])

    def test_a_policy_objects(self) -> None:
        """A legal host, but it would be pushed over the threshold."""
        snapshot = scope(
            {'a': 0.3, 'b': 0.75}, {'v': 'a', 'w': 'b'}, 'affinity'
        )
        snapshot.hosts['a'].closed = 'for the test'
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertIn('1 legal destination (b), but none', result.stayed['v'])

    def test_ceiling(self) -> None:
        snapshot = scope(
            {'a': 0.85, 'b': 0.85}, {'v': 'a', 'w': 'b'}, 'affinity'
        )
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertIn('capacity_threshold is 0.9', result.warnings[0])

    def test_budget(self) -> None:
        snapshot = scope(EVEN, {'u': 'a', 'v': 'a', 'w': 'a'}, 'anti-affinity')
        result = repair(snapshot, max_migrations=1)
        self.assertEqual([('u', 'd')], moves(result))
        self.assertEqual(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            'the budget of 1 migration is used; 0 of 1 broken server group '
            'repaired, 1 migration planned for them',
            result.reason,
        )
        self.assertEqual([], result.warnings)
        for uuid in 'vw':
            self.assertIn('the budget was used', result.stayed[uuid])

    def test_spread_goes_on_from_there(self) -> None:
        """One state, one budget."""
        snapshot = scope(
            {'a': 0.9, 'b': 0.1, 'c': 0.1},
            {'v': 'a', 'w': 'a'},
            'anti-affinity',
            [(f'x{n}', 'a') for n in range(7)],
        )
        result = repair(snapshot, rebalance=True, max_migrations=4)
        phases = [step.phase.value for step in result.steps]
        self.assertEqual(['affinity', *['spread'] * (len(phases) - 1)], phases)
        self.assertGreater(len(phases), 1)
        self.assertAlmostEqual(
            result.steps[0].combined_after, result.steps[1].combined_before
        )
        self.assertEqual([], result.violations_after)
        few = repair(snapshot, rebalance=True, max_migrations=1)
        self.assertEqual(result.steps[:1], few.steps)

    def test_pack_leaves_empty_hosts_empty(self) -> None:
        snapshot = scope(
            {'a': 0.2, 'b': 0.4, 'c': 0.0, 'd': 0.1},
            {'v': 'a', 'w': 'a'},
            'anti-affinity',
            [('x', 'b'), ('y', 'd')],
        )
        settings = Settings(
            unlimited=True, enforce_hard_affinity=True, rebalance=False
        )
        snapshot.readings['cpu'].capacity = snapshot.readings['cpu'].imbalance
        pack = CPU.model_copy(
            update={'mode': Mode.PACK, 'capacity_query': 'up'}
        )
        result = propose([snapshot], [pack], settings).scopes[0]
        self.assertEqual([('v', 'd')], moves(result))


class TestShortBudget(base.BaseTestCase):
    """One group needs two moves, another one."""

    def setUp(self) -> None:
        super().setUp()
        three = {'r': 'a', 's': 'b', 't': 'c'}
        two = {'v': 'a', 'w': 'b'}
        members = three | two
        self.snapshot = scope(
            EVEN, members, 'affinity', [('x', 'a'), ('y', 'b')]
        )
        self.snapshot.groups = [
            ServerGroup('g1', 'affinity', list(three), 'three'),
            ServerGroup('g2', 'affinity', list(two), 'two'),
        ]

    def test_the_one_that_needs_the_fewest_comes_first(self) -> None:
        result = repair(self.snapshot, unlimited=False, max_migrations=1)
        [(instance, _)] = moves(result)
        self.assertIn(instance, {'v', 'w'})
        self.assertEqual(StopReason.BUDGET, result.stopped)

    def test_none_is_left_half_together(self) -> None:
        result = repair(self.snapshot, unlimited=False, max_migrations=2)
        [(instance, _)] = moves(result)
        self.assertIn(instance, {'v', 'w'})
        self.assertEqual(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            '1 left of the budget of 2 migrations, which is too few for '
            'another server group; 1 of 2 broken server groups repaired, 1 '
            'migration planned for them',
            result.reason,
        )
        for member in ('r', 's', 't'):
            self.assertEqual(
                'bringing its server group together on a takes 2 migrations, '
                'and the budget has 1 left',
                result.stayed[member],
            )

    def test_spread_gets_what_is_left(self) -> None:
        result = repair(
            self.snapshot,
            unlimited=False,
            max_migrations=2,
            rebalance=True,
            exhaust=True,
        )
        self.assertEqual(
            [MigrationPhase.AFFINITY, MigrationPhase.SPREAD],
            [one.phase for one in result.steps],
        )

    def test_one_that_no_budget_would_do_for_is_begun(self) -> None:
        members = {'r': 'a', 's': 'b', 't': 'c', 'u': 'd'}
        result = repair(
            scope(EVEN, members, 'affinity'), unlimited=False, max_migrations=2
        )
        self.assertEqual(2, len(moves(result)))
        self.assertEqual(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            [
                'affinity group db: 4 members on 2 hosts (c, d) after this '
                'plan: it makes 2 of the 3 migrations that bring the group '
                'together; later audits make the others'
            ],
            result.warnings,
        )

    def test_one_that_no_audit_could_end_is_not_begun(self) -> None:
        """Two are locked on different hosts."""
        members = {'r': 'a', 's': 'b', 't': 'c', 'u': 'd'}
        snapshot = scope(EVEN, members, 'affinity')
        for uuid in 'ru':
            snapshot.instances[uuid].locked = True
        result = repair(snapshot, unlimited=False, max_migrations=2)
        self.assertEqual([], result.steps)
        [warning] = result.warnings
        self.assertIn('cannot be repaired: r: it is locked', warning)
        self.assertIn('r cannot move there: it is locked', result.stayed['s'])

    def test_one_that_no_host_has_room_for_is_not_begun(self) -> None:
        members = {'r': 'a', 's': 'b', 't': 'c', 'u': 'd'}
        snapshot = scope(EVEN, members, 'affinity')
        room = {'VCPU': 3, 'MEMORY_MB': 65536}
        scopes.give_room(snapshot, dict.fromkeys(members.values(), room))
        result = repair(snapshot, unlimited=False, max_migrations=2)
        self.assertEqual([], result.steps)
        [warning] = result.warnings
        self.assertIn(
            'cannot be repaired: r: d has no room for all 4', warning
        )

    def test_enough_for_all(self) -> None:
        result = repair(self.snapshot, unlimited=False, max_migrations=3)
        self.assertEqual(3, len(moves(result)))
        self.assertEqual([], result.violations_after)


class TestUnderWay(base.BaseTestCase):
    def _event(
        self,
        uuid: str,
        source: str,
        destination: str,
        outcome: Outcome = Outcome.UNDER_WAY,
    ) -> Event:
        origin = Origin.WATCHER if outcome == 'planned' else Origin.NOVA
        return Event(uuid, source, destination, outcome, 1.0, origin)

    def test_its_group_is_left_alone(self) -> None:
        """Whoever is leaving already needs no second one to leave."""
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        snapshot.instances['w'].task_state = 'migrating'
        snapshot.events = [self._event('w', 'a', 'b')]
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertEqual(
            [
                'anti-affinity group db: 2 members on a is not repaired yet: '
                'a migration of a member has not finished'
            ],
            result.warnings,
        )
        self.assertEqual(
            '1 broken server group not repaired yet: a migration of a member '
            'has not finished',
            result.reason,
        )

    def test_a_stuck_migration_of_another_server(self) -> None:
        """Nobody else leaves a, nor comes to d with two on their way there."""
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        snapshot.taken_at = 1e6
        stuck = [self._event('x', 'y', 'd'), self._event('z', 'y', 'd')]
        snapshot.events = stuck
        self.assertEqual([('v', 'b')], moves(repair(snapshot)))
        snapshot.events = [self._event('x', 'a', 'y')]
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        for uuid in 'vw':
            self.assertIn(
                'of instance x out of a is stuck', result.stayed[uuid]
            )

    def test_who_is_planned_to_leave_leaves(self) -> None:
        """Of a plan that was started; a second one would move the trouble."""
        snapshot = scope(EVEN, {'v': 'a', 'w': 'a'}, 'anti-affinity')
        snapshot.events = [self._event('w', 'a', 'b', Outcome.PLANNED)]
        result = repair(snapshot)
        self.assertEqual([], result.steps)
        self.assertIn(
            'a migration of a member has not finished', result.warnings[-1]
        )

    def test_it_counts_at_both_ends(self) -> None:
        """In every phase: d is the best, but w is on its way there."""
        snapshot = scope(
            {'a': 0.9, 'b': 0.5, 'c': 0.5, 'd': 0.1},
            {'v': 'a', 'w': 'b'},
            'anti-affinity',
        )
        spread = {'rebalance': True, 'max_migrations': 1}
        self.assertEqual([('v', 'd')], moves(repair(snapshot, **spread)))
        snapshot.instances['w'].task_state = 'migrating'
        snapshot.events = [self._event('w', 'b', 'd')]
        snapshot.hosts['c'].closed = 'for the test'
        result = repair(snapshot, max_migrations=9, rebalance=True)
        self.assertEqual([], result.steps)
        self.assertIn('has 1 of at most 1 there', result.stayed['v'])
