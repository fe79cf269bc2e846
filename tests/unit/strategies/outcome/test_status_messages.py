# SPDX-License-Identifier: Apache-2.0
"""Is the outcome told in one sentence, the reason first?"""

from oslotest import base

from kronos.common import status
from kronos.engine import types
from kronos.strategies.outcome import status_messages
from tests import golden


def step(number=1, **fields):
    return types.MigrationStep(
        **{
            'scope': 'alpha',
            'phase': types.MigrationPhase.SPREAD,
            'instance': f'uuid-{number}',
            'instance_name': f'vm{number}',
            'source': 'h1',
            'destination': 'h2',
            'memory_mb': 1024,
            'imbalance_before': {'cpu': 0.6, 'memory': 0.5},
            'imbalance_after': {'cpu': 0.4, 'memory': 0.3},
            'combined_before': 0.55,
            'combined_after': 0.35,
            **fields,
        }
    )


def scope(name='alpha', stopped=types.StopReason.BALANCED, **fields):
    return types.AggregateResult(
        name=name, stopped=stopped, reason=f'{name} is as it is', **fields
    )


class SummaryTestCase(golden.GoldenTestCase):
    def summary(self, *scopes, outcome=status_messages.imbalance):
        return status_messages.summary(
            types.CycleReport(list(scopes)), outcome
        )

    def test_plans_that_do_not_keep_their_promise(self):
        """Behind what all scopes do, where it may be cut off."""
        for each in (scope(), scope(steps=[step()])):
            both = [each, scope('beta')]
            self.assertEqual(
                f'{self.summary(*both)}; alpha: 3 plans lie',
                status_messages.summary(
                    types.CycleReport(both),
                    status_messages.imbalance,
                    distrust={'alpha': '3 plans lie', 'beta': ''},
                ),
            )

    def test_a_limit(self):
        """It has the numbers of the distrust, which is not repeated."""
        limit = 'canary_moves allows 3 migrations for balance: no record'
        limited = scope(effect_limit=limit, steps=[step()])
        self.assertEqual(
            'alpha: 1 migration, combined imbalance 0.00 -> 0.00 (balanced); '
            f'alpha: {limit}',
            status_messages.summary(
                types.CycleReport([limited]),
                status_messages.imbalance,
                distrust={'alpha': '3 plans lie'},
            ),
        )

    def test_nothing_to_do(self):
        self.assertEqual('alpha: alpha is as it is', self.summary(scope()))

    def test_a_plan(self):
        told = self.summary(
            scope(
                stopped=types.StopReason.BUDGET,
                steps=[step(1), step(2)],
                combined_before=0.62,
                combined_after=0.11,
            )
        )
        self.assertEqual(
            'alpha: 2 migrations, combined imbalance 0.62 -> 0.11 (budget)',
            told,
        )

    def test_what_is_at_fault_and_no_host(self):
        """Beside a plan, too."""
        warning = (
            "exclude_hosts_query: no host of the cloud is called 'z9' (1), "
            'which excluded none. Give the query a label'
        )
        told = self.summary(scope(steps=[step()], warnings=['b', warning]))
        self.assert_golden('no_such_host.txt', f'{told}\n')

    def test_what_any_plan_could_do(self):
        """Not where the thresholds are kept, which is all that was asked."""
        for stopped, text in (
            (
                types.StopReason.BUDGET,
                '(budget, at least 80.0 % of what 5 migrations can remove)',
            ),
            (types.StopReason.BALANCED, '(balanced)'),
        ):
            told = self.summary(
                scope(
                    stopped=stopped,
                    steps=[step()],
                    combined_before=0.8,
                    combined_after=0.4,
                    certificate=types.Certificate(
                        5, 0.3, 0.4, types.Bound.EXACT, before=0.8
                    ),
                )
            )
            self.assertEqual(
                'alpha: 1 migration, combined imbalance 0.80 -> 0.40 ' + text,
                told,
            )

    def test_hosts_that_no_migration_helps(self):
        aside = [types.SetAside('cpu', host, True, 0.9, '') for host in 'ab']
        told = self.summary(
            scope(
                stopped=types.StopReason.STUCK,
                steps=[step()],
                combined_before=0.78,
                combined_after=0.78,
                rest=types.Rest(
                    aside, combined_before=0.6, combined_after=0.2
                ),
            )
        )
        self.assertEqual(
            'alpha: 1 migration, combined imbalance 0.78 -> 0.78 (stuck), '
            '0.60 -> 0.20 without 2 hosts that no migration helps',
            told,
        )

    def test_one_migration(self):
        self.assertIn('1 migration,', self.summary(scope(steps=[step()])))

    def test_what_could_not_be_judged_comes_first(self):
        told = self.summary(
            scope('a'),
            scope('b', types.StopReason.NO_POLICY),
            scope('c', types.StopReason.NO_SERVICES),
        )
        self.assertEqual(['b', 'c', 'a'], [x[0] for x in told.split('; ')])

    def test_phases_are_named_where_there_are_several(self):
        phase = types.MigrationPhase
        told = self.summary(
            scope(
                steps=[
                    step(1, phase=phase.EVACUATE),
                    step(2, phase=phase.SPREAD),
                    step(3, phase=phase.EVACUATE),
                ],
                drains=[
                    types.Drain('h1', 'off', 3, 2, {'u9': 'it is locked'})
                ],
                violations_before=['one'],
            )
        )
        self.assertEqual(
            'alpha: 3 migrations (2 evacuate, 1 spread), combined imbalance '
            '0.00 -> 0.00 (balanced), h1: 2 leave, 1 stays (it is locked), '
            'broken server groups 1 -> 0',
            told,
        )

    def test_cooldown_is_the_whole_sentence(self):
        cooling = types.AggregateResult(
            'gpu',
            types.StopReason.COOLDOWN,
            'aggregate gpu cools down for 312 s: u1 was moved',
        )
        self.assertEqual(cooling.reason, self.summary(cooling))

    def test_hosts_released(self):
        told = self.summary(
            scope(
                steps=[step(1), step(2)],
                hosts_in_use_before=6,
                hosts_in_use_after=4,
            ),
            outcome=status_messages.hosts_in_use,
        )
        self.assertEqual('alpha: 2 migrations, hosts in use 6 -> 4', told)

    def test_drained_host_by_host(self):
        told = self.summary(
            scope(
                steps=[step(1)],
                drains=[
                    types.Drain('h1', 'off', 1, 1),
                    types.Drain(
                        'h2', 'off', 4, 1, {'a': 'y', 'b': 'x', 'c': 'y'}
                    ),
                ],
            ),
            outcome=status_messages.drained,
        )
        self.assertEqual(
            'alpha: 1 migration, h1: 1 leaves, h2: 1 leaves, 3 stay (y)', told
        )

    def test_who_stays_without_consent(self):
        told = self.summary(
            scope(
                steps=[step(1)],
                drains=[
                    types.Drain('h1', 'off', 4, 1, dict.fromkeys('abc', 'x')),
                    types.Drain('h2', 'off', 1, 0, {'d': 'x'}),
                ],
                instances={
                    uuid: types.InstanceStanding(f'vm-{uuid}', 'h1')
                    for uuid in 'abcd'
                },
                consents=[types.ConsentStanding('never', 'p1', 3, [*'abc'])],
            ),
            outcome=status_messages.drained,
        )
        self.assertEqual(
            'alpha: 1 migration, h1: 1 leaves, 3 stay (x; without consent: '
            'vm-a, vm-b of project p1 and 1 more), h2: 0 leave, 1 stays (x)',
            told,
        )

    def test_hosts_that_cannot_be_drained_beside_a_plan(self):
        """Named whatever the plan is for."""
        down = 'nova-compute is down'
        told = [
            self.summary(
                scope(
                    steps=[step(1)],
                    drains=[types.Drain('h1', 'off', 1, 1)],
                    not_drained={'h2': down, 'h3': down},
                ),
                outcome=outcome,
            )
            for outcome in (
                status_messages.drained,
                status_messages.imbalance,
                status_messages.hosts_in_use,
            )
        ]
        self.assert_golden('not_drained.txt', '\n'.join([*told, '']))

    def test_hosts_that_cannot_be_drained_beside_a_warning(self):
        """Named once, and before what may be cut off."""
        told = self.summary(
            scope(
                not_drained={'h2': 'nova-compute is down'},
                warnings=[
                    'host h2 is not drained: nova-compute is down; its 2 '
                    'instances cannot be live-migrated',
                    'h1: 3 of 3 cannot leave',
                ],
            )
        )
        self.assertEqual(
            'alpha: alpha is as it is; h2 is not drained (nova-compute is '
            'down); warning: h1: 3 of 3 cannot leave',
            told,
        )

    def test_a_long_reason_of_a_host(self):
        """What an administrator wrote leaves room for the rest."""
        told = self.summary(
            scope(not_drained={f'h{n}': 'x' * 255 for n in range(9)})
        )
        self.assertEqual(
            'alpha: alpha is as it is; h0, h1, h2, h3, h4 and 4 more are not '
            f'drained ({"x" * 67}...)',
            told,
        )

    def test_groups(self):
        told = self.summary(
            scope(
                steps=[step(1)],
                violations_before=['group a', 'group b'],
                violations_after=['group b'],
            ),
            outcome=status_messages.repaired,
        )
        self.assertEqual(
            'alpha: 1 migration, broken server groups 2 -> 1, group b', told
        )

    def test_warnings_are_told_where_nothing_else_is(self):
        told = self.summary(
            scope(warnings=['of a policy', 'host h1 is not drained: down'])
        )
        self.assertEqual(
            'alpha: alpha is as it is; warning: host h1 is not drained: '
            'down; of a policy',
            told,
        )

    def test_a_long_reason_leaves_room_for_a_warning(self):
        long = types.AggregateResult(
            'alpha',
            types.StopReason.STUCK,
            'x' * 400,
            warnings=['host h1 is not drained: down'],
        )
        told = status.fit(self.summary(long))
        self.assertIn('x...; warning: host h1 is not drained: down', told)

    def test_a_blind_scope_has_its_reason_alone(self):
        told = self.summary(
            scope(stopped=types.StopReason.NO_POLICY, warnings=['w'])
        )
        self.assertEqual('alpha: alpha is as it is', told)


class BlindTestCase(base.BaseTestCase):
    def blind(self, *stopped):
        return status_messages.is_blind(
            types.CycleReport([scope(stopped=one) for one in stopped])
        )

    def test_only_if_no_scope_could_be_judged(self):
        stop = types.StopReason
        self.assertTrue(self.blind(stop.NO_POLICY, stop.NO_SERVICES))
        self.assertTrue(self.blind(stop.EXCLUSIONS_UNKNOWN))
        self.assertFalse(self.blind(stop.NO_POLICY, stop.BALANCED))
        self.assertFalse(self.blind(stop.COOLDOWN))
        self.assertFalse(self.blind())


class UnjudgedTestCase(base.BaseTestCase):
    """Policies that were skipped are told first, and nothing is even."""

    def summary(self, **fields):
        policies = [
            types.PolicyResult('cpu', 0.15, 0.6),
            types.PolicyResult('memory', 0.15, 0.4),
        ]
        policies[0].skipped = (
            'policy cpu: imbalance_query: Prometheus at http://p:9090/: HTTP '
            '400: bad_data: 1:12: parse error'
        )
        told = scope(policies=policies, **fields)
        return status_messages.summary(
            types.CycleReport([told]), status_messages.imbalance
        )

    FIRST = (
        'cpu not judged (imbalance_query: HTTP 400: bad_data: 1:12: parse '
        'error); '
    )

    def test_without_moves(self):
        self.assertEqual(
            f'alpha: {self.FIRST}alpha is as it is', self.summary()
        )

    def test_with_moves(self):
        self.assertEqual(
            f'alpha: {self.FIRST}1 migration, combined imbalance 0.00 -> '
            '0.00 (within the thresholds that were judged)',
            self.summary(steps=[step()]),
        )

    def test_in_a_cooldown(self):
        self.assertEqual(
            f'{self.FIRST}alpha is as it is',
            self.summary(stopped=types.StopReason.COOLDOWN),
        )

    def test_where_the_reason_says_it(self):
        told = self.summary(stopped=types.StopReason.NO_POLICY)
        self.assertEqual('alpha: alpha is as it is', told)
