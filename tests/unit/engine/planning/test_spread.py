# SPDX-License-Identifier: Apache-2.0
"""Does spread find the moves, and does it end when it should?"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import (
    SearchName,
    Settings,
    SoftRules,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
)
from kronos.engine.types import (
    AggregateResult,
    Instance,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Policy
from tests.builders import scopes
from tests.builders.scopes import PLAIN, policy, vm


def even(
    hosts: Mapping[str, int], share: float
) -> tuple[dict[str, list[float]], list[tuple[Instance, Sequence[float]]]]:
    """Hosts with so many instances, all of one size."""
    scores = {host: [number * share] for host, number in hosts.items()}
    vms = [
        vm(f'{host}-{n:02}', host, [share])
        for host, number in hosts.items()
        for n in range(number)
    ]
    return scores, vms


def plan(
    snapshot: Snapshot,
    policies: list[Policy],
    max_migrations: int = 100,
    **more: Any,
) -> AggregateResult:
    settings = Settings(max_migrations=max_migrations, **more)
    return propose([snapshot], policies, settings).scopes[0]


def moves(result: AggregateResult) -> list[tuple[str, str, str]]:
    return [
        (one.instance, one.source, one.destination) for one in result.steps
    ]


class TestStalls(base.BaseTestCase):
    """Six small scopes of which the literal rule leaves four as they are."""

    def _compare(
        self,
        hosts: Mapping[str, int],
        share: float,
        plain: tuple[int, float],
        full: tuple[int, float],
    ) -> None:
        """:param plain: moves and imbalance; ``full``: moves at most"""
        cpu = policy('cpu', threshold=0.1)
        result = plan(scopes.scope([cpu], *even(hosts, share)), [cpu], **PLAIN)
        self.assertEqual(plain[0], len(result.steps))
        self.assertAlmostEqual(plain[1], result.combined_after, places=9)
        result = plan(
            scopes.scope([cpu], *even(hosts, share)),
            [cpu],
            swap_moves=SwapMoves.NONE,
        )
        self.assertLessEqual(len(result.steps), full[0])
        self.assertLessEqual(result.combined_after, full[1] + 1e-9)
        self.assertIs(StopReason.BALANCED, result.stopped)

    def test_two_full_and_two_empty_hosts(self) -> None:
        hosts = {'a': 8, 'b': 8, 'c': 0, 'd': 0}
        self._compare(hosts, 0.1, (0, 0.8), (8, 0.1))

    def test_ten_equal_and_three_new_hosts(self) -> None:
        hosts = {f'h{n}': 6 for n in range(10)} | {'x': 0, 'y': 0, 'z': 0}
        self._compare(hosts, 0.1, (0, 0.6), (13, 0.1))

    def test_two_full_and_one_empty_host(self) -> None:
        self._compare({'a': 8, 'b': 8, 'c': 0}, 0.1, (5, 0.1), (5, 0.1))

    def test_twenty_equal_and_five_new_hosts(self) -> None:
        hosts = {f'h{n:02}': 10 for n in range(20)}
        hosts |= {f'x{n}': 0 for n in range(5)}
        self._compare(hosts, 0.07, (0, 0.7), (46, 0.1))

    def test_nearly_tied(self) -> None:
        cpu = policy('cpu', threshold=0.1)
        scores, vms = even({'a': 8, 'b': 8, 'c': 0, 'd': 0}, 0.1)
        scores['b'] = [0.799]
        result = plan(scopes.scope([cpu], scores, vms), [cpu], 8, **PLAIN)
        self.assertEqual(8, len(result.steps))
        self.assertAlmostEqual(0.001, result.combined_after, places=9)

    def _opposite(self) -> tuple[Snapshot, list[Policy]]:
        policies = [
            policy('cpu', 0.5, threshold=0.1),
            policy('ram', 0.5, threshold=0.1),
        ]
        vms = [vm(f'a{n}', 'a', [0.2, 0.05]) for n in range(4)]
        vms += [vm(f'b{n}', 'b', [0.05, 0.2]) for n in range(4)]
        scores = {'a': [0.8, 0.2], 'b': [0.2, 0.8]}
        return scopes.scope(policies, scores, vms), policies

    def test_only_swaps_help_opposite_hosts(self) -> None:
        snapshot, policies = self._opposite()
        self.assertEqual([], plan(snapshot, policies, **PLAIN).steps)
        stuck = plan(snapshot, policies, swap_moves=SwapMoves.NONE)
        self.assertEqual([], stuck.steps)
        self.assertIs(StopReason.STUCK, stuck.stopped)
        result = plan(snapshot, policies)
        self.assertEqual(4, len(result.steps))
        self.assertAlmostEqual(0.0, result.combined_after)
        self.assertIs(StopReason.BALANCED, result.stopped)

    def test_the_second_half_of_a_swap_requires_the_first(self) -> None:
        """Alone it might make a policy worse."""
        snapshot, policies = self._opposite()
        steps = plan(snapshot, policies).steps
        for first, second in (steps[:2], steps[2:]):
            self.assertEqual('', first.requires)
            self.assertEqual(first.instance, second.requires)

    def test_a_swap_needs_two_steps_of_the_budget(self) -> None:
        snapshot, policies = self._opposite()
        self.assertEqual([], plan(snapshot, policies, 1).steps)
        self.assertEqual(2, len(plan(snapshot, policies, 3).steps))

    def test_a_swap_fits_step_by_step(self) -> None:
        """Room for one more on one host only decides who goes first."""
        for roomy, full in (('a', 'b'), ('b', 'a')):
            snapshot, policies = self._opposite()
            scopes.give_room(
                snapshot,
                {
                    roomy: {'VCPU': 0, 'MEMORY_MB': 5 * 1024},
                    full: {'VCPU': 0, 'MEMORY_MB': 4 * 1024},
                },
            )
            result = plan(snapshot, policies)
            self.assertEqual(
                [roomy, full, roomy, full],
                [step.destination for step in result.steps],
            )

    def test_no_swap_without_room_in_between(self) -> None:
        snapshot, policies = self._opposite()
        scopes.give_room(
            snapshot,
            {host: {'VCPU': 0, 'MEMORY_MB': 4 * 1024} for host in 'ab'},
        )
        result = plan(snapshot, policies)
        self.assertEqual([], result.steps)
        self.assertIn('MEMORY_MB, 0 are free', result.unmovable['a0'])

    def test_members_apart_are_not_swapped(self) -> None:
        snapshot, policies = self._opposite()
        everyone = list(snapshot.instances)
        snapshot.groups.append(
            ServerGroup('g', 'anti-affinity', everyone, max_server_per_host=4)
        )
        self.assertEqual([], plan(snapshot, policies).steps)

    def test_plateau_moves_that_buy_nothing_are_dropped(self) -> None:
        """Three moves lead across; with a budget of two none is made."""
        cpu = policy('cpu', threshold=0.1)
        hosts = {'a': 8, 'b': 8, 'c': 8, 'd': 0, 'e': 0, 'f': 0}
        snapshot = scopes.scope([cpu], *even(hosts, 0.1))
        across = plan(snapshot, [cpu], 3)
        self.assertEqual(3, len(across.steps))
        self.assertAlmostEqual(0.6, across.combined_after)
        short = plan(snapshot, [cpu], 2)
        self.assertEqual([], short.steps)
        self.assertIs(StopReason.STUCK, short.stopped)
        self.assertAlmostEqual(0.8, short.combined_after)
        # all is as before: what was tried is movable, and explained
        self.assertEqual(24, len(short.unmovable))

    def test_a_plateau_move_that_makes_all_content(self) -> None:
        """cpu gives what ram takes, and ends at its threshold."""
        policies = [
            policy('cpu', 0.5, threshold=0.3),
            policy('ram', 0.5, threshold=0.5),
        ]
        snapshot = scopes.scope(
            policies,
            {'a': [0.65, 0.3], 'b': [0.3, 0.4]},
            [vm('v', 'a', [0.05, 0.05])],
        )
        for budget in (1, 5):
            result = plan(snapshot, policies, budget)
            self.assertEqual([('v', 'a', 'b')], moves(result))
            self.assertIs(StopReason.BALANCED, result.stopped)

    def test_a_swap_begins_with_the_milder_half(self) -> None:
        policies = [
            policy('cpu', 0.5, threshold=0.1),
            policy('ram', 0.5, threshold=0.1),
        ]
        snapshot = scopes.scope(
            policies,
            {'a': [0.2, 0.8], 'b': [0.8, 0.2]},
            [vm('a0', 'a', [0.05, 0.2]), vm('b0', 'b', [0.3, 0.05])],
        )
        result = plan(snapshot, policies)
        self.assertEqual([('b0', 'b', 'a'), ('a0', 'a', 'b')], moves(result))


class TestChoice(base.BaseTestCase):
    def test_the_best_for_all_policies_together(self) -> None:
        """The best move for cpu alone is worse combined."""
        policies = [
            policy('cpu', 0.5, threshold=0.1),
            policy('ram', 0.5, threshold=1.0),
        ]
        vms = [
            vm('only-cpu', 'a', [0.3, 0.0]),
            vm('cpu-and-ram', 'a', [0.35, 0.45]),
        ]
        snapshot = scopes.scope(
            policies, {'a': [0.9, 0.5], 'b': [0.1, 0.5]}, vms
        )
        result = plan(snapshot, policies, 1, **PLAIN)
        self.assertEqual([('only-cpu', 'a', 'b')], moves(result))
        self.assertAlmostEqual(0.2, result.combined_after * 2)

    def test_known_sequence(self) -> None:
        """Largest improvement first, each from the new state."""
        cpu = policy('cpu', threshold=0.05)
        vms = [
            vm('big', 'a', [0.4]),
            vm('mid', 'a', [0.2]),
            vm('small', 'a', [0.1]),
        ]
        scores = {'a': [0.9], 'b': [0.1], 'c': [0.4]}
        result = plan(scopes.scope([cpu], scores, vms), [cpu], **PLAIN)
        self.assertEqual([('big', 'a', 'b')], moves(result)[:1])
        self.assertEqual(
            [0.8, 0.1],
            [
                round(result.steps[0].combined_before, 9),
                round(result.steps[0].combined_after, 9),
            ],
        )

    def _ties(self) -> tuple[Snapshot, list[Policy]]:
        # The second highest host limits what any move can gain.
        cpu = policy('cpu', threshold=0.1)
        vms = [
            vm('v1', 'a', [0.10], memory_mb=1024),
            vm('v2', 'a', [0.30], memory_mb=16 * 1024),
            vm('v3', 'a', [0.30], memory_mb=8 * 1024),
        ]
        scores = {'a': [0.9], 'b': [0.85], 'c': [0.3], 'd': [0.1], 'e': [0.1]}
        return scopes.scope([cpu], scores, vms), [cpu]

    def test_ties(self) -> None:
        """The gain is .05 for all; who goes is the tie-break's choice."""
        table = [
            (TieBreak.FIRST, ('v1', 'a', 'c')),
            # .30 to the coldest, the lighter of two, the first of two
            (TieBreak.VARIANCE, ('v3', 'a', 'd')),
            (TieBreak.VARIANCE_PER_GIB, ('v1', 'a', 'd')),
        ]
        for tie_break, expected in table:
            snapshot, policies = self._ties()
            result = plan(snapshot, policies, 1, tie_break=tie_break)
            with self.subTest(tie_break=tie_break):
                self.assertEqual([expected], moves(result))

    def test_an_instance_moves_once_unless_told_otherwise(self) -> None:
        again = once = 0
        for seed in range(150):
            for repeat in (True, False):
                snapshot, policies, settings = scopes.chance(seed)
                settings.repeat_moves = repeat
                settings.max_migrations = 20
                settings.exhaust = True
                result = propose([snapshot], policies, settings).scopes[0]
                names = [step.instance for step in result.steps]
                if repeat:
                    again += len(names) > len(set(names))
                else:
                    self.assertEqual(len(names), len(set(names)))
                    once += bool(names)
        self.assertGreater(again, 0)
        self.assertGreater(once, 0)


class TestAcceptance(base.BaseTestCase):
    """What a move may do to a policy that it was not made for."""

    def _moved(self, ram: tuple[float, float], threshold: float) -> bool:
        policies = [
            policy('cpu', 0.9, threshold=0.1),
            policy('ram', 0.1, threshold=threshold),
        ]
        snapshot = scopes.scope(
            policies,
            {'a': [0.8, ram[0]], 'b': [0.2, ram[1]]},
            [vm('v', 'a', [0.3, 0.1])],
        )
        return bool(plan(snapshot, policies, 1).steps)

    def test_worse_but_below_its_threshold(self) -> None:
        self.assertTrue(self._moved((0.3, 0.3), 0.25))

    def test_ends_at_its_threshold(self) -> None:
        self.assertTrue(self._moved((0.3, 0.3), 0.2))

    def test_pushed_past_its_threshold(self) -> None:
        self.assertFalse(self._moved((0.3, 0.3), 0.15))

    def test_violated_already_and_made_worse(self) -> None:
        self.assertFalse(self._moved((0.3, 0.5), 0.15))

    def test_violated_already_and_made_better(self) -> None:
        self.assertTrue(self._moved((0.7, 0.3), 0.15))


class TestStop(base.BaseTestCase):
    def _plan(self, threshold: float, budget: int) -> AggregateResult:
        cpu = policy('cpu', threshold=threshold)
        scores, vms = even({'a': 8, 'b': 2}, 0.1)
        return plan(scopes.scope([cpu], scores, vms), [cpu], budget)

    def test_balanced(self) -> None:
        """Equality counts as content."""
        result = self._plan(0.2, 10)
        self.assertEqual(2, len(result.steps))
        self.assertIs(StopReason.BALANCED, result.stopped)
        self.assertIn('after 2 migrations', result.reason)
        self.assertIn('cpu 0.200 <= 0.2', result.reason)

    def test_nothing_to_do(self) -> None:
        result = self._plan(0.6, 10)
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.BALANCED, result.stopped)
        self.assertIn('within all thresholds', result.reason)

    def test_budget(self) -> None:
        result = self._plan(0.1, 2)
        self.assertEqual(2, len(result.steps))
        self.assertIs(StopReason.BUDGET, result.stopped)
        self.assertIn('the budget of 2 migrations is used', result.reason)
        self.assertIn('cpu 0.200 > 0.1 (a 0.600, b 0.400)', result.reason)

    def test_stuck(self) -> None:
        cpu = policy('cpu', threshold=0.1)
        snapshot = scopes.scope(
            [cpu], {'a': [0.8], 'b': [0.2]}, [vm('v', 'a', [0.7])]
        )
        result = plan(snapshot, [cpu])
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertIn(
            'no legal migration, sequence of migrations or swap', result.reason
        )
        self.assertIn('cpu 0.600 > 0.1', result.reason)
        self.assertIn('1 legal destination,', result.unmovable['v'])

    def test_exhaust(self) -> None:
        cpu = policy('cpu', threshold=0.5)
        scores, vms = even({'a': 8, 'b': 2}, 0.1)
        snapshot = scopes.scope([cpu], scores, vms)
        result = plan(snapshot, [cpu], 10, exhaust=True)
        self.assertEqual(3, len(result.steps))
        self.assertAlmostEqual(0.0, result.combined_after)
        self.assertIn('no policy is over its threshold', result.reason)


class TestSoftRules(base.BaseTestCase):
    """A soft rule has its price, a hard one has none."""

    def _plan(self, kind: str, **more: Any) -> AggregateResult:
        """One move is left to make; it gains .2 and breaks the rule."""
        cpu = policy('cpu', threshold=0.1)
        snapshot = scopes.scope(
            [cpu],
            {'a': [0.4], 'b': [0.2]},
            [vm('v', 'a', [0.1]), vm('w', 'b', [0.1])],
            groups=[ServerGroup('g', kind, ['v', 'w'])],
        )
        return plan(snapshot, [cpu], **more)

    def test_price(self) -> None:
        weighed = SoftRules.PENALTY
        table: list[tuple[str, dict[str, Any], bool]] = [
            ('soft-anti-affinity', {}, False),
            ('soft-anti-affinity', {'soft_rule_penalty': 0.0}, False),
            ('soft-anti-affinity', {'soft_rules': weighed}, True),
            (
                'soft-anti-affinity',
                {'soft_rules': weighed, 'soft_rule_penalty': 0.19},
                True,
            ),
            (
                'soft-anti-affinity',
                {'soft_rules': weighed, 'soft_rule_penalty': 0.2},
                False,
            ),
            (
                'anti-affinity',
                {'soft_rules': weighed, 'soft_rule_penalty': 0.0},
                False,
            ),
        ]
        for kind, more, moved in table:
            with self.subTest(kind=kind, more=more):
                self.assertEqual(moved, bool(self._plan(kind, **more).steps))

    def test_the_reason_tells_of_it(self) -> None:
        result = self._plan(
            'soft-anti-affinity',
            soft_rules=SoftRules.PENALTY,
            soft_rule_penalty=0.3,
        )
        self.assertEqual(
            '1 legal destination, but none lowers the combined imbalance '
            'enough; 1 would break a soft server group, at a penalty',
            result.stayed['v'],
        )

    def test_no_plateau_move_breaks_one(self) -> None:
        """It gains nothing, so it pays no price, not even none."""
        cpu = policy('cpu', threshold=0.1)
        hosts = {'a': 8, 'b': 8, 'c': 8, 'd': 0, 'e': 0, 'f': 0}
        scores, vms = even(hosts, 0.1)
        everyone = [one.uuid for one, _ in vms]
        free = Settings(
            max_migrations=100,
            soft_rules=SoftRules.PENALTY,
            soft_rule_penalty=0.0,
        )
        for groups in (
            [],
            [ServerGroup('g', 'soft-affinity', everyone)],
        ):
            snapshot = scopes.scope([cpu], scores, vms, groups=groups)
            [result] = propose([snapshot], [cpu], free).scopes
            self.assertEqual(not groups, bool(result.steps))


class TestDust(base.BaseTestCase):
    """What a plan buys is to be more than what measuring errs by."""

    def plan(self, least, lowest, load=0.05):
        """Nothing can leave the highest host, only the lowest can rise."""
        cpu = policy('cpu', threshold=0.15)
        hosts = {'a': [0.6], 'b': [0.3], 'c': [lowest], 'd': [0.1]}
        vms = [
            vm('a-0', 'a', [0.6], locked=True),
            vm('b-0', 'b', [load]),
            vm('d-0', 'd', [0.1], locked=True),
        ]
        return plan(
            scopes.scope([cpu], hosts, vms),
            [cpu],
            search=SearchName.BEST,
            min_plan_gain=least,
        )

    def test_a_gain_of_noise(self):
        result = self.plan(0.025, lowest=0.09, load=0.012)
        self.assertEqual([], moves(result))
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertIn(
            '; 1 migration would lower no policy by min_plan_gain (0.025)',
            result.reason,
        )

    def test_a_gain_beyond_it(self):
        self.assertEqual(
            [('b-0', 'b', 'c')], moves(self.plan(0.025, lowest=0.05))
        )

    def test_who_measures_better_may_ask_for_less(self):
        self.assertEqual(
            [('b-0', 'b', 'c')], moves(self.plan(0.005, lowest=0.09))
        )

    def test_what_a_budget_cuts_off(self):
        cpu = policy('cpu', threshold=0.15)
        vms = [vm(f'a-{n}', 'a', [0.015]) for n in range(30)]
        snapshot = scopes.scope([cpu], {'a': [0.6], 'b': [0.1]}, vms)
        result = plan(
            snapshot,
            [cpu],
            search=SearchName.BEST,
            max_migrations=1,
            min_plan_gain=0.04,
        )
        self.assertEqual(1, len(result.steps))
        self.assertIs(StopReason.BUDGET, result.stopped)

    def test_what_is_above_a_threshold_by_noise(self):
        cpu = policy('cpu', threshold=0.15)
        hosts = {'a': [0.26], 'b': [0.1]}
        vms = [vm('a-0', 'a', [0.005]), vm('a-1', 'a', [0.255], locked=True)]
        snapshot = scopes.scope([cpu], hosts, vms)
        found = [
            moves(
                plan(
                    snapshot,
                    [cpu],
                    search=SearchName.BEST,
                    min_plan_gain=least,
                )
            )
            for least in (0.0, 0.025)
        ]
        self.assertEqual([[('a-0', 'a', 'b')], []], found)

    def test_a_policy_of_little_weight_counts_as_well(self):
        """Measuring errs by as much whatever a policy weighs."""
        pair = [
            policy('cpu', 0.9, threshold=0.15),
            policy('ram', 0.1, threshold=0.15),
        ]
        hosts = {'a': [0.3, 0.5], 'b': [0.3, 0.1]}
        vms = [vm('a-0', 'a', [0.0, 0.2])]
        result = plan(
            scopes.scope(pair, hosts, vms),
            pair,
            search=SearchName.BEST,
            min_plan_gain=0.1,
        )
        self.assertEqual([('a-0', 'a', 'b')], moves(result))


class TestCalm(base.BaseTestCase):
    """Audit after audit of a cloud in which nothing can be better."""

    CLUSTERS, AUDITS, NOISE = 3, 8, 0.02

    def moved(self, **more):
        """How many migrations of how many servers, and into empty hosts."""
        total, servers, exchanges = 0, 0, 0
        for seed in range(self.CLUSTERS):
            rng = random.Random(seed)
            own = {f'h{n}': rng.uniform(0.01, 0.1) for n in range(6)}
            at = {f'v{n}': (f'h{n}', rng.uniform(0.05, 0.3)) for n in range(3)}
            servers += len(at)
            for _ in range(self.AUDITS):
                for one in moves(self.audit(rng, own, at, **more)):
                    uuid, _, destination = one
                    exchanges += destination not in {h for h, _ in at.values()}
                    at[uuid] = destination, at[uuid][1]
                    total += 1
        return total, servers, exchanges

    def audit(self, rng, own, at, **more):
        cpu = policy('cpu', threshold=0.15)
        values = dict(own)
        for host, usage in at.values():
            values[host] += 1.1 * usage
        noisy = {
            host: [max(0.0, value + rng.gauss(0.0, self.NOISE))]
            for host, value in values.items()
        }
        vms = [vm(uuid, host, [usage]) for uuid, (host, usage) in at.items()]
        return plan(
            scopes.scope([cpu], noisy, vms),
            [cpu],
            max_migrations=3,
            search=SearchName.BEST,
            **more,
        )

    def test_hardly_anything_moves(self):
        total, servers, exchanges = self.moved(
            unexplained_load=UnexplainedLoad.FOLLOWS,
            min_gain=0.0005,
            min_plan_gain=0.04,
        )
        self.assertLessEqual(total, servers / 10)
        self.assertEqual(0, exchanges)

    def test_without_both_servers_wander(self):
        total, servers, _ = self.moved()
        self.assertGreater(total, servers)
