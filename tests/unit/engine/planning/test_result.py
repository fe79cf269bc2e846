# SPDX-License-Identifier: Apache-2.0
"""Does the result tell how the scope stands before and after?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import (
    AggregateResult,
    EffectRatio,
    Event,
    GroupStanding,
    InstanceStanding,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies import fingerprints
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', 0.5, threshold=0.1)
RAM = policy('ram', 0.5, threshold=0.1)
NAMES = 'cpu', 'ram'


def crowded(**more: Any) -> Snapshot:
    """Four of .2 and .1 on a; b is empty, c disabled with one instance."""
    snapshot = scopes.scope(
        [CPU, RAM],
        {'a': [0.8, 0.4], 'b': [0.0, 0.0], 'c': [0.3, 0.3]},
        [
            *(vm(f'v{n}', 'a', [0.2, 0.1], name=f'web-{n}') for n in range(4)),
            vm('w', 'c', [0.3, 0.3]),
        ],
        **more,
    )
    (snapshot.services or {})['c'].status = 'disabled'
    return snapshot


def plan(*snapshots: Snapshot, **more: Any) -> list[AggregateResult]:
    settings = Settings(**{'max_migrations': 10, **more})
    return propose(list(snapshots), [CPU, RAM], settings).scopes


class TestEffect(base.BaseTestCase):
    def test_each_move_says_what_it_should_change(self) -> None:
        """As a share of either host, with the queries that say so."""
        (result,) = plan(crowded())
        self.assertNotEqual([], result.steps)
        for step in result.steps:
            cpu, ram = step.effect['cpu'], step.effect['ram']
            self.assertAlmostEqual(0.2, cpu.leaving)
            self.assertAlmostEqual(0.2, cpu.arriving)
            self.assertAlmostEqual(0.1, ram.leaving)
            self.assertEqual(fingerprints.of(CPU), cpu.query)
            self.assertEqual(fingerprints.of(RAM), ram.query)


class TestFactors(base.BaseTestCase):
    """Plans with the ratio 0.5 of earlier plans, or 1.5."""

    def planned(self, use: EffectUse, ratio: float) -> AggregateResult:
        snapshot = crowded()
        snapshot.effects = [EffectRatio(name, ratio, 3) for name in NAMES]
        (result,) = plan(snapshot, use_effect=use)
        self.assertNotEqual([], result.steps)
        return result

    def test_each_step_is_half(self) -> None:
        """A step's parameter stays as measured, or ratios would swing."""
        first = self.planned(EffectUse.DAMP, 0.5).steps[0]
        fall = first.imbalance_before['cpu'] - first.imbalance_after['cpu']
        self.assertAlmostEqual(0.2, fall)
        (plain,) = plan(crowded())
        step = plain.steps[0]
        fall = step.imbalance_before['cpu'] - step.imbalance_after['cpu']
        self.assertAlmostEqual(0.4, fall)
        self.assertEqual(step.effect, first.effect)

    def test_true_loads(self) -> None:
        """Scores that follow moves by half are as the plan predicts.

        No destination ends above the highest host of before.
        """
        result = self.planned(EffectUse.DAMP, 0.5)
        for judged in result.policies:
            loads = {score.host: score.value for score in judged.scores}
            highest = max(loads.values())
            for step in result.steps:
                shares = step.effect[judged.name]
                loads[step.source] -= 0.5 * shares.leaving
                loads[step.destination] += 0.5 * shares.arriving
                self.assertLess(loads[step.destination], highest)
            for score in judged.scores:
                self.assertAlmostEqual(loads[score.host], score.after)

    def test_calibrated(self) -> None:
        """Also above 1; damping does nothing there."""
        result = self.planned(EffectUse.CALIBRATE, 1.5)
        step = result.steps[0]
        fall = step.imbalance_before['cpu'] - step.imbalance_after['cpu']
        self.assertAlmostEqual(0.6, fall)
        self.assertEqual(2, len([*_scaled(result)]))
        damped = self.planned(EffectUse.DAMP, 1.5)
        (plain,) = plan(crowded())
        self.assertEqual(plain.steps, damped.steps)
        self.assertEqual([], _scaled(damped))


def _scaled(result: AggregateResult) -> list[str]:
    return [text for text in result.warnings if 'use_effect' in text]


class TestHostsOver(base.BaseTestCase):
    def test_of_a_scope_that_is_not_planned(self) -> None:
        """It has the same hosts as one that is."""
        snapshot = crowded()
        snapshot.taken_at = 1000.0
        (planned,) = plan(snapshot)
        move = Event('x', 'b', 'a', Outcome.MOVED, 990.0, Origin.NOVA)
        snapshot.events = [move]
        (rests,) = plan(snapshot, cooldown_seconds=600.0)
        self.assertIs(StopReason.COOLDOWN, rests.stopped)
        self.assertEqual(1, planned.hosts_over_before)
        self.assertEqual(
            (planned.hosts_over_before,) * 2,
            (rests.hosts_over_before, rests.hosts_over_after),
        )

    def test_where_nothing_is_known(self) -> None:
        snapshot = crowded()
        snapshot.services = None
        (found,) = plan(snapshot)
        self.assertEqual(0, found.hosts_over_before)


class TestScores(base.BaseTestCase):
    def test_after_the_plan(self) -> None:
        """Per policy and host; a host that does not count has none."""
        (result,) = plan(crowded())
        self.assertEqual(2, len(result.steps))
        cpu, ram = result.policies
        found = {one.host: (one.value, one.after) for one in cpu.scores}
        self.assertEqual({'a', 'b'}, set(found))
        for host, before, after in (('a', 0.8, 0.4), ('b', 0.0, 0.4)):
            self.assertEqual(before, found[host][0])
            self.assertAlmostEqual(after, found[host][1])
        for one in ram.scores:
            self.assertAlmostEqual(0.2, one.after)

    def test_the_imbalance_is_theirs(self) -> None:
        """Max - min of the values that are told, before and after."""
        for budget in (1, 2):
            (result,) = plan(crowded(), max_migrations=budget)
            for one in result.policies:
                after = [score.after for score in one.scores]
                self.assertEqual(one.imbalance_after, max(after) - min(after))

    def test_nothing_is_moved(self) -> None:
        still = crowded()
        still.services = None
        (shut,) = plan(still)
        self.assertEqual([], shut.steps)
        self.assertEqual([[], []], [one.scores for one in shut.policies])
        lonely = crowded()
        (lonely.services or {})['b'].status = 'disabled'
        (alone,) = plan(lonely)
        self.assertEqual([], alone.steps)
        for one in alone.policies:
            for score in one.scores:
                self.assertEqual(score.value, score.after)

    def test_a_skipped_policy_has_none(self) -> None:
        snapshot = crowded()
        snapshot.readings['ram'].imbalance.samples[0].value = 37.0
        (result,) = plan(snapshot)
        self.assertNotEqual([], result.steps)
        self.assertEqual([], result.policies[1].scores)
        self.assertEqual(0.0, result.policies[1].imbalance_after)


class TestInstances(base.BaseTestCase):
    def test_where_planning_found_them(self) -> None:
        (result,) = plan(crowded())
        self.assertEqual(
            {
                'v0': InstanceStanding('web-0', 'a'),
                'v1': InstanceStanding('web-1', 'a'),
                'v2': InstanceStanding('web-2', 'a'),
                'v3': InstanceStanding('web-3', 'a'),
                'w': InstanceStanding('', 'c'),
            },
            result.instances,
        )

    def test_what_an_earlier_scope_moved_is_where_it_goes(self) -> None:
        later = dataclasses.replace(crowded(), scope='later')
        first, second = plan(crowded(), later, max_migrations=1)
        (step,) = first.steps
        self.assertEqual('b', second.instances[step.instance].host)


class TestGroups(base.BaseTestCase):
    def groups(self, *groups: ServerGroup, **more: Any) -> Any:
        (result,) = plan(crowded(groups=groups), **more)
        return result.groups

    def test_repaired(self) -> None:
        """What was wrong, and that it is not any more."""
        (found,) = self.groups(
            ServerGroup('g', 'anti-affinity', ['v1', 'v0', 'x'], 'db'),
            enforce_hard_affinity=True,
        )
        self.assertEqual(
            GroupStanding(
                uuid='g',
                name='db',
                policy='anti-affinity',
                most_per_host=1,
                enforced=True,
                members=['v0', 'v1'],
                elsewhere=1,
                broken_before='anti-affinity group db: 2 members on a',
                broken_after='',
            ),
            found,
        )

    def test_not_enforced_but_broken(self) -> None:
        """It is told all the same; the violations have only enforced ones."""
        group = ServerGroup('g', 'anti-affinity', ['v0', 'v1', 'v2'], 'db')
        (found,) = self.groups(group, max_migrations=1)
        self.assertFalse(found.enforced)
        self.assertIn('3 members on a', found.broken_before)
        self.assertIn('2 members on a', found.broken_after)

    def test_without_members_in_the_scope(self) -> None:
        self.assertEqual([], self.groups(ServerGroup('g', 'affinity', ['x'])))

    def test_in_the_order_of_their_uuids(self) -> None:
        found = self.groups(
            ServerGroup('h', 'affinity', ['v0']),
            ServerGroup('g', 'anti-affinity', ['v1'], max_server_per_host=3),
        )
        self.assertEqual(['g', 'h'], [one.uuid for one in found])
        self.assertEqual([3, 1], [one.most_per_host for one in found])
