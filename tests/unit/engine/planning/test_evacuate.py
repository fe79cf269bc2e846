# SPDX-License-Identifier: Apache-2.0
"""Are hosts emptied as they should be?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import (
    AggregateResult,
    ComputeService,
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    Reading,
    Sample,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Fallback, Mode, Policy
from kronos.strategies.outcome import status_messages
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', threshold=0.15, capacity_threshold=0.9)


def balanced(number: int = 3, **more: Any) -> Snapshot:
    """Two even hosts, and one that is disabled with instances of .05."""
    vms = [vm(f'v{n}', 'off', [0.05], **more) for n in range(number)]
    vms += [vm('a0', 'a', [0.1]), vm('b0', 'b', [0.1])]
    snapshot = scopes.scope(
        [CPU], {'a': [0.4], 'b': [0.4], 'off': [0.05 * number]}, vms
    )
    assert snapshot.services is not None
    snapshot.services['off'].status = 'disabled'
    snapshot.services['off'].disabled_reason = 'new disks'
    return snapshot


def run(snapshot: Snapshot, cpu: Policy = CPU, **more: Any) -> AggregateResult:
    settings = Settings(**{'evacuate': True, 'max_migrations': 10, **more})
    return propose([snapshot], [cpu], settings).scopes[0]


class TestPlan(base.BaseTestCase):
    def reasons(self, result: AggregateResult) -> None:
        """Every instance moves, or there is a reason."""
        moved = {step.instance for step in result.steps}
        everyone = {'a0', 'b0', 'v0', 'v1', 'v2'}
        self.assertEqual(everyone - moved, set(result.stayed))
        self.assertTrue(all(result.stayed.values()))

    def test_nothing_is_uneven(self) -> None:
        """Alternating, since each fills one of two even hosts."""
        result = run(balanced())
        self.assertEqual(
            [
                ('v0', 'off', 'a', MigrationPhase.EVACUATE),
                ('v1', 'off', 'b', MigrationPhase.EVACUATE),
                ('v2', 'off', 'a', MigrationPhase.EVACUATE),
            ],
            [
                (one.instance, one.source, one.destination, one.phase)
                for one in result.steps
            ],
        )
        self.assertIn('off: all 3 instances leave', result.reason)
        [drain] = result.drains
        self.assertEqual(
            ('off', 'nova-compute is disabled (new disks)', 3, 3, {}),
            (
                drain.host,
                drain.reason,
                drain.instances,
                drain.leaving,
                drain.staying,
            ),
        )
        self.assertEqual([], result.warnings)
        self.assertEqual(3, result.hosts_in_use_before)
        self.assertEqual(2, result.hosts_in_use_after)
        self.reasons(result)

    def test_not_asked_for(self) -> None:
        result = run(balanced(), evacuate=False)
        self.assertEqual(([], []), (result.steps, result.drains))

    def test_budget_is_shared(self) -> None:
        """The evacuation comes first, spread gets what it leaves."""
        for budget, phases in (
            (1, ['evacuate']),
            (3, ['evacuate'] * 3),
            (4, ['evacuate'] * 3 + ['spread']),
        ):
            snapshot = balanced()
            snapshot.readings['cpu'].imbalance.samples[0].value = 0.7
            cpu = CPU.model_copy(update={'threshold': 0.01})
            result = run(snapshot, cpu, max_migrations=budget)
            self.assertEqual(phases, [step.phase for step in result.steps])
            self.reasons(result)

    def test_budget_in_words(self) -> None:
        result = run(balanced(), max_migrations=1, rebalance=False)
        self.assertIs(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            'off: 1 of 3 instances leave, the budget of 1 migration is used',
            result.reason,
        )
        self.assertEqual(
            'the budget of 1 migration is used', result.stayed['v1']
        )
        [drain] = result.drains
        self.assertEqual(1, drain.leaving)
        self.assertEqual({'v1', 'v2'}, set(drain.staying))
        # It will go another time: nothing to warn of.
        self.assertEqual([], result.warnings)

    def test_others_use_the_budget(self) -> None:
        """What is under way counts, and nothing was used here."""
        snapshot = balanced()
        snapshot.events = [
            Event(f'x{n}', 'b', 'a', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for n in range(2)
        ]
        result = run(snapshot, max_migrations=2, rebalance=False)
        self.assertEqual([], result.steps)
        none_left = (
            'no migration is left in the budget: migrations that are under '
            'way use it up'
        )
        self.assertEqual(
            f'off: 0 of 3 instances leave, {none_left}', result.reason
        )
        self.assertEqual(
            {none_left}, {result.stayed[one] for one in ('v0', 'v1', 'v2')}
        )
        result = run(snapshot, max_migrations=3, rebalance=False)
        self.assertEqual(
            'off: 1 of 3 instances leave, the budget of 1 migration is used',
            result.reason,
        )

    def test_what_cannot_leave(self) -> None:
        """Fixed, or without a legal destination: each with its reason."""
        snapshot = balanced()
        snapshot.instances['v0'].locked = True
        snapshot.instances['v1'].pinned_availability_zone = 'moon'
        result = run(snapshot, rebalance=False)
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertEqual(['v2'], [one.instance for one in result.steps])
        self.assertEqual(
            'off: 1 of 3 instances leave, 2 cannot', result.reason
        )
        self.assertIn('locked', result.stayed['v0'])
        self.assertIn('2 hosts', result.stayed['v1'])
        self.assertIn('pinned to availability zone moon', result.stayed['v1'])
        [warning] = result.warnings
        self.assertIn('host off: 2 of 3 instances cannot leave', warning)
        self.assertIn('locked', warning)
        self.assertIn('pinned to availability zone moon', warning)
        self.assertEqual({'v0', 'v1'}, set(result.drains[0].staying))
        self.reasons(result)

    def test_warning_has_the_most_frequent_reasons(self) -> None:
        snapshot = balanced(8)
        for name in ('v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7'):
            pin = {'v0': 'x', 'v1': 'y', 'v2': 'w'}.get(name, 'moon')
            snapshot.instances[name].pinned_availability_zone = pin
        [warning] = run(snapshot, rebalance=False).warnings
        self.assertIn('8 of 8 instances cannot leave: 5 instances:', warning)
        self.assertLess(warning.index('moon'), warning.index('zone x'))
        self.assertTrue(warning.endswith('; and 1 more'))

    def test_thresholds_are_kept(self) -> None:
        """Two even hosts take .05 each, not more."""
        cpu = CPU.model_copy(update={'threshold': 0.02})
        result = run(balanced(), cpu, rebalance=False)
        self.assertEqual([], result.steps)
        self.assertEqual(
            '2 legal destinations, each would push a policy past its '
            'threshold: cpu 0.050 > 0.02 on a, cpu 0.050 > 0.02 on b; '
            'drain_may_exceed_threshold is false',
            result.stayed['v0'],
        )
        self.assertIn('drain_may_exceed_threshold', result.warnings[0])
        result = run(
            balanced(), cpu, rebalance=False, drain_may_exceed_threshold=True
        )
        self.assertEqual(3, len(result.steps))

    def test_pack_hears_no_objection(self) -> None:
        """A packed scope is uneven on purpose."""
        snapshot = balanced()
        readings = snapshot.readings['cpu']
        readings.imbalance.samples[1].value = 0.6
        readings.capacity = Reading(
            '', samples=[Sample('a', 0.4, 0), Sample('b', 0.72, 0)]
        )
        cpu = CPU.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': 'up',
                'capacity_threshold': 0.8,
                'threshold': 0.0,
            }
        )
        result = run(snapshot, cpu, rebalance=False)
        self.assertEqual(
            ['b', 'a', 'a'], [one.destination for one in result.steps]
        )

    def test_pack_wakes_no_empty_host(self) -> None:
        """Its score is noise, though it is more than a used one's."""
        cpu = CPU.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': 'up',
                'capacity_threshold': 0.12,
            }
        )
        vms = [vm(f'v{n}', 'off', [0.05]) for n in range(2)]
        vms += [vm('b0', 'b', [0.05])]
        snapshot = scopes.scope(
            [cpu], {'a': [0.06], 'b': [0.05], 'off': [0.1]}, vms
        )
        readings = snapshot.readings['cpu']
        readings.capacity = readings.imbalance
        result = run(snapshot, cpu, rebalance=False, drain_hosts=['off'])
        # The second does not fit on the one that is in use.
        self.assertEqual(
            [('v0', 'b'), ('v1', 'a')],
            [(one.instance, one.destination) for one in result.steps],
        )

    def test_soft_rules(self) -> None:
        """Spread breaks the cheapest, whatever the price; pack none."""
        for mode, rules, steps in (
            (Mode.SPREAD, SoftRules.PENALTY, [('v0', 'b')]),
            (Mode.SPREAD, SoftRules.VETO, []),
            (Mode.PACK, SoftRules.PENALTY, []),
        ):
            snapshot = balanced(1)
            snapshot.groups = [
                ServerGroup('g', 'soft-anti-affinity', ['v0', 'a0'], 'one'),
                ServerGroup('h', 'soft-anti-affinity', ['v0', 'b0'], 'two'),
                ServerGroup('i', 'soft-anti-affinity', ['v0', 'a0'], 'three'),
            ]
            readings = snapshot.readings['cpu']
            readings.capacity = readings.imbalance
            cpu = CPU.model_copy(update={'mode': mode, 'capacity_query': 'up'})
            result = run(
                snapshot,
                cpu,
                rebalance=False,
                soft_rules=rules,
                soft_rule_penalty=100.0,
            )
            with self.subTest(mode=mode, rules=rules):
                self.assertEqual(
                    steps,
                    [(one.instance, one.destination) for one in result.steps],
                )
                if not steps:
                    self.assertIn('soft-anti-affinity', result.stayed['v0'])

    def test_disabled_hosts_of_the_scope(self) -> None:
        """Every instance of each, and of no host elsewhere."""
        snapshot = balanced()
        assert snapshot.services is not None
        snapshot.services['b'].status = 'disabled'
        snapshot.services['far'] = ComputeService(
            'far', state='up', status='disabled'
        )
        result = run(snapshot, rebalance=False)
        self.assertEqual(['b', 'off'], [one.host for one in result.drains])
        self.assertEqual(
            {(name, 'off', 'a') for name in ('v0', 'v1', 'v2')}
            | {('b0', 'b', 'a')},
            {(s.instance, s.source, s.destination) for s in result.steps},
        )

    def test_lowest_combined(self) -> None:
        """Not the first pair, but the one that evens most out."""
        snapshot = balanced()
        readings = snapshot.readings['cpu']
        readings.imbalance.samples[1].value = 0.3
        assert readings.profile is not None
        for one, value in zip(
            readings.profile.samples, (0.05, 0.01, 0.1), strict=False
        ):
            one.value = value
        first, *_ = run(snapshot, rebalance=False, max_migrations=1).steps
        self.assertEqual(('v2', 'b'), (first.instance, first.destination))
        self.assertIs(MigrationPhase.EVACUATE, first.phase)
        self.assertAlmostEqual(0.1, first.combined_before)
        self.assertAlmostEqual(0.0, first.combined_after)

    def test_ceiling(self) -> None:
        """Also where the scores would allow it."""
        cpu = CPU.model_copy(update={'capacity_threshold': 0.48})
        result = run(balanced(), cpu, rebalance=False)
        self.assertEqual(['v0', 'v1'], [s.instance for s in result.steps])
        self.assertIn('capacity_threshold is 0.48', result.stayed['v2'])

    def test_one_host_is_left(self) -> None:
        """It alone is even, whatever it takes."""
        snapshot = balanced()
        assert snapshot.services is not None
        snapshot.services['b'].state = 'down'
        result = run(snapshot)
        self.assertEqual(
            [('off', 'a')] * 3,
            [(one.source, one.destination) for one in result.steps],
        )
        self.assertIn('nova-compute is down', result.stayed['b0'])
        self.reasons(result)

    def test_no_host_is_left(self) -> None:
        snapshot = balanced()
        result = run(snapshot, drain_hosts=['a', 'b', 'off'])
        self.assertIs(StopReason.TOO_FEW_HOSTS, result.stopped)
        self.assertIn('needs one', result.reason)
        self.assertEqual(['a', 'b', 'off'], [d.host for d in result.drains])
        self.assertEqual(0, sum(one.leaving for one in result.drains))
        self.reasons(result)

    def test_named_host(self) -> None:
        """It is enabled, yet no destination; the disabled one waits."""
        result = run(balanced(), drain_hosts=['a'], rebalance=False)
        self.assertEqual(
            [('a0', 'a', 'b')],
            [(s.instance, s.source, s.destination) for s in result.steps],
        )
        self.assertEqual('a: its only instance leaves', result.reason)
        self.assertIn('host a is drained but enabled', result.warnings[0])

    def test_down_host(self) -> None:
        snapshot = balanced()
        assert snapshot.services is not None
        snapshot.services['off'].state = 'down'
        result = run(snapshot)
        self.assertEqual(([], []), (result.steps, result.drains))
        self.assertIn('host off is not drained', result.warnings[0])
        self.assertIn(
            'its host off is left out of planning', result.stayed['v0']
        )
        self.reasons(result)

    def test_nothing_to_drain(self) -> None:
        result = run(balanced(0), rebalance=False)
        self.assertEqual('off: no instance is left there', result.reason)
        self.assertIs(StopReason.DONE, result.stopped)
        result = run(balanced(), rebalance=False, drain_hosts=['z'])
        self.assertEqual('there is no host to drain', result.reason)
        self.assertIs(StopReason.DONE, result.stopped)

    def test_cooling_instance(self) -> None:
        """It stays where it is, for a while."""
        snapshot = balanced()
        snapshot.taken_at = 1000.0
        snapshot.events = [
            Event('v1', 'a', 'off', Outcome.MOVED, 900.0, Origin.NOVA)
        ]
        result = run(snapshot, instance_cooldown_seconds=600.0)
        self.assertEqual(['v0', 'v2'], [s.instance for s in result.steps])
        self.assertIn('8 min', result.stayed['v1'])
        self.assertIn('1 of 3 instances cannot leave', result.warnings[0])

    def test_a_stuck_migration_out_of_the_host(self) -> None:
        """No other gets its turn; an operator learns which one to end."""
        snapshot = balanced()
        snapshot.taken_at = 1e6
        snapshot.events = [
            Event('v0', 'off', 'a', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
        ]
        result = run(snapshot, rebalance=False)
        self.assertEqual([], result.steps)
        self.assertEqual(
            'off: 0 leave, 3 stay (the migration of instance v0 out of off is '
            'stuck, and a host sends 1 server at a time; end it by hand)',
            status_messages.drained(result),
        )
        self.assertEqual(
            'off: 0 of 3 instances leave, 3 cannot', result.reason
        )
        self.assertIn(
            '2 instances: the migration of instance v0 out of off is stuck',
            ' '.join(result.warnings),
        )

    def test_stuck_migrations_into_a_destination(self) -> None:
        """a takes none beside two that are stuck; b takes all."""
        snapshot = balanced()
        snapshot.taken_at = 1e6
        snapshot.events = [
            Event(one, 'x', 'a', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for one in ('x0', 'x1')
        ]
        result = run(snapshot, rebalance=False)
        self.assertEqual(['b'] * 3, [one.destination for one in result.steps])
        (snapshot.services or {})['b'].status = 'disabled'
        stayed = run(snapshot, rebalance=False).stayed['v0']
        self.assertIn('1 host: the migrations of instances x0, x1', stayed)
        snapshot.events.pop()
        result = run(snapshot, rebalance=False, drain_hosts=['off'])
        self.assertEqual(['a'] * 3, [one.destination for one in result.steps])

    def test_anti_affinity(self) -> None:
        """The second member sees where the first went."""
        snapshot = balanced()
        snapshot.groups = [
            ServerGroup('g', 'anti-affinity', ['v0', 'v1', 'v2'], 'web')
        ]
        result = run(snapshot, rebalance=False)
        self.assertEqual({'a', 'b'}, {one.destination for one in result.steps})
        self.assertEqual(2, len(result.steps))
        self.assertIn('anti-affinity group web', result.stayed['v2'])

    def test_fallbacks(self) -> None:
        """An instance without a sample weighs its share of its host.

        Whatever is not known of the host, it leaves: a drain is an order.
        """
        for fallback in Fallback:
            for known in (True, False):
                snapshot = balanced()
                readings = snapshot.readings['cpu']
                assert readings.profile is not None
                readings.profile.samples = readings.profile.samples[1:]
                if not known:
                    del readings.imbalance.samples[2]
                cpu = CPU.model_copy(update={'vm_profile_fallback': fallback})
                result = run(snapshot, cpu, rebalance=False)
                with self.subTest(fallback=fallback, known=known):
                    moved = [step.instance for step in result.steps]
                    self.assertIn('v0', moved)
                    self.assertIn(
                        'policy cpu has no usable sample for 1 instance '
                        '(v0) on off, which is being drained: Kronos assumes '
                        'the share of the flavor',
                        result.warnings,
                    )

    def test_a_host_whose_load_is_not_known(self) -> None:
        """A vCPU of its instances counts as one elsewhere: 0.1 each."""
        snapshot = scopes.scope(
            [CPU],
            {'a': [0.2], 'b': [0.2], 'off': [0.0]},
            [
                vm('u', 'a', [0.2], vcpus=2),
                vm('v', 'b', [0.2], vcpus=2),
                vm('w', 'off', [0.0], vcpus=1),
            ],
        )
        assert snapshot.services is not None
        snapshot.services['off'].status = 'disabled'
        readings = snapshot.readings['cpu']
        assert readings.profile is not None
        del readings.profile.samples[2], readings.imbalance.samples[2]
        [step] = run(snapshot, rebalance=False).steps
        self.assertEqual(('w', 'a'), (step.instance, step.destination))
        self.assertAlmostEqual(0.1, step.imbalance_after['cpu'])

    def test_many_hosts_in_a_few_words(self) -> None:
        hosts = {f'h{n}': [0.1] for n in range(7)}
        vms = [vm(f'v{n}', f'h{n}', [0.02]) for n in range(6)]
        snapshot = scopes.scope([CPU], hosts, vms)
        result = run(
            snapshot, drain_hosts=[f'h{n}' for n in range(5)], rebalance=False
        )
        self.assertEqual('5 hosts: all 5 instances leave', result.reason)
        self.assertEqual(5, len(result.drains))
