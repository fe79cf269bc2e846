# SPDX-License-Identifier: Apache-2.0
"""Is the right code given, in small scopes worked out by hand?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.explain import (
    counterfactual,
    nearest_miss,
    remedies,
    scenario,
    why_not,
)
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import EffectUse, SearchName, Settings
from kronos.engine.types import (
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    PlanningInput,
    Reading,
    Rest,
    ServerGroup,
    SetAside,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import stuck_ends
from tests.builders.scopes import PLAIN, give_room, policy, scope, vm

NOW = 1000.0


class Asked:
    """A planned scope that is asked about pairs."""

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], **settings: Any
    ) -> None:
        self.settings = Settings(**{**PLAIN, **settings})
        report = propose.propose([snapshot], policies, self.settings)
        [self.case] = scenario.cases(
            [snapshot], policies, self.settings, report
        )
        [self.result] = report.scopes
        self.why = why_not.Explainer(self.case, self.result)

    def codes(self, uuid: str) -> dict[str, str]:
        found = self.why.verdicts([uuid], self.why.hosts)
        return {one.destination: one.code.value for one in found}

    def of(self, uuid: str, host: str) -> Verdict:
        return self.why.verdict(uuid, host)


def cpu(**more: Any) -> list[Policy]:
    return [policy('cpu', **{'threshold': 0.1, **more})]


def three(*vms: Any, **more: Any) -> Snapshot:
    """a at 0.8, b at 0.3, c at 0.5."""
    hosts = {'a': [0.8], 'b': [0.3], 'c': [0.5]}
    return scope(cpu(), hosts, list(vms), **more)


class TestSpread(base.BaseTestCase):
    def test_the_chosen_one_and_the_other_destination(self) -> None:
        """a -> b: 0.6, 0.5, 0.5 (gains 0.4); a -> c: 0.6, 0.3, 0.7 (0.1)."""
        asked = Asked(three(vm('v', 'a', [0.2])), cpu(), max_migrations=1)
        self.assertEqual(
            {'a': 'already_there', 'b': 'planned', 'c': 'better_destination'},
            asked.codes('v'),
        )
        other = asked.of('v', 'c')
        self.assertEqual(1, other.better)
        self.assertAlmostEqual(0.1, other.gain or 0.0)
        self.assertIn('step 1 lowers it by 0.4000', other.text)

    def test_the_budget_is_used(self) -> None:
        """After w: 0.6, 0.5, 0.5; v then gains 0.05 at b: 0.55, 0.55."""
        snapshot = three(vm('v', 'a', [0.05]), vm('w', 'a', [0.2]))
        asked = Asked(
            snapshot, [policy('cpu', threshold=0.0)], max_migrations=1
        )
        found = asked.of('v', 'b')
        self.assertIs(Code.BUDGET_USED, found.code)
        self.assertAlmostEqual(0.05, found.gain or 0.0)
        self.assertIn(
            'no migration is left in the budget; the plan makes 1 move '
            'instead, first w from a to b',
            found.text,
        )

    def test_canary_moves_are_used(self) -> None:
        """The same, although the budget has migrations left."""
        snapshot = three(vm('v', 'a', [0.05]), vm('w', 'a', [0.2]))
        found = Asked(
            snapshot,
            [policy('cpu', threshold=0.0)],
            max_migrations=9,
            use_effect=EffectUse.LIMIT,
            canary_moves=1,
        ).of('v', 'b')
        self.assertIs(Code.BUDGET_USED, found.code)
        self.assertIn(
            'but canary_moves allows 1 migration for balance: fewer than 3 '
            'earlier plans of the scope are measured (0); the plan makes 1 '
            'move instead, first w from a to b',
            found.text,
        )

    def test_the_scope_is_balanced(self) -> None:
        """The same at a threshold that is reached."""
        snapshot = three(vm('v', 'a', [0.05]), vm('w', 'a', [0.2]))
        found = Asked(snapshot, cpu(), max_migrations=9).of('v', 'b')
        self.assertIs(Code.SCOPE_BALANCED, found.code)

    def test_a_better_move_took_its_gain(self) -> None:
        """v gained 0.2 at b; after w (0.6, 0.5, 0.5) its 0.2 gain nothing."""
        snapshot = three(vm('v', 'a', [0.1]), vm('w', 'a', [0.2]))
        found = Asked(snapshot, cpu(), max_migrations=9).of('v', 'b')
        self.assertIs(Code.BETTER_MOVE, found.code)
        self.assertEqual(1, found.better)
        self.assertIn('lowered the combined imbalance by 0.2000', found.text)
        self.assertAlmostEqual(0.0, found.gain or 0.0)

    def test_a_policy_would_get_worse(self) -> None:
        """c -> a: 0.9, 0.3, 0.4, a width of 0.6 after 0.5."""
        asked = Asked(three(vm('v', 'c', [0.1])), cpu())
        found = asked.of('v', 'a')
        self.assertIs(Code.WORSENS_POLICY, found.code)
        self.assertIn('from 0.5000 to 0.6000', found.text)
        self.assertEqual('cpu', found.reasons[0].about)

    def test_no_gain(self) -> None:
        """c -> b leaves 0.8 and lowers nothing but raises b: 0.45, 0.35."""
        snapshot = scope(
            cpu(),
            {'a': [0.8], 'b': [0.3], 'c': [0.5], 'd': [0.3]},
            [vm('v', 'c', [0.05])],
        )
        found = Asked(snapshot, cpu()).of('v', 'b')
        self.assertIs(Code.NO_GAIN, found.code)
        self.assertAlmostEqual(0.0, found.gain or 0.0)

    def test_rules_in_their_order(self) -> None:
        """Room, then the group, then the policy: lifting one is not enough."""
        snapshot = three(
            vm('v', 'a', [0.9], memory_mb=4096),
            vm('w', 'b', [0.0]),
            groups=[ServerGroup('g', 'anti-affinity', ['v', 'w'], 'db')],
        )
        give_room(snapshot, {'b': {'VCPU': 8, 'MEMORY_MB': 2048}})
        asked = Asked(snapshot, cpu())
        found = asked.of('v', 'b')
        self.assertEqual(
            ['no_room', 'group_apart', 'worsens_policy'],
            [str(one.code) for one in found.reasons],
        )
        self.assertEqual('it needs 4096 MEMORY_MB, 1024 are free', found.text)
        self.assertEqual(3072.0, found.reasons[0].value)
        for reason in found.reasons:
            left = counterfactual.relaxed(asked.case, found, reason)
            self.assertEqual(
                [str(reason)],
                counterfactual.still_against(left, asked.result, found),
            )
        freed = counterfactual.relaxed(asked.case, found)
        self.assertEqual(
            [], counterfactual.still_against(freed, asked.result, found)
        )

    def test_an_instance_that_is_held_twice(self) -> None:
        snapshot = three(vm('v', 'a', [0.2], locked=True, task_state='busy'))
        found = Asked(snapshot, cpu()).of('v', 'b')
        self.assertEqual(
            ['instance_locked', 'instance_busy'],
            [str(one.code) for one in found.reasons],
        )
        self.assertAlmostEqual(0.4, found.gain or 0.0)

    def test_a_cooldown_of_the_scope_and_a_lock(self) -> None:
        """What else keeps it is told, as if the cooldown were over."""
        snapshot = three(vm('v', 'a', [0.2], locked=True), vm('w', 'b', [0.1]))
        snapshot.taken_at = NOW
        snapshot.events = [
            Event('w', 'c', 'b', Outcome.MOVED, NOW - 60, Origin.NOVA)
        ]
        asked = Asked(snapshot, cpu(), cooldown_seconds=600.0)
        found = asked.of('v', 'b')
        self.assertEqual(
            ['scope_cooldown', 'instance_locked'],
            [str(one.code) for one in found.reasons],
        )

    def test_a_host_that_is_down_and_not_measured(self) -> None:
        snapshot = three(vm('v', 'a', [0.2]))
        service = (snapshot.services or {})['b']
        service.state, service.status = 'down', 'disabled'
        samples = snapshot.readings['cpu'].imbalance.samples
        snapshot.readings['cpu'].imbalance.samples = [
            one for one in samples if one.label != 'b'
        ]
        asked = Asked(snapshot, cpu(), min_host_coverage=0.5)
        found = asked.of('v', 'b')
        self.assertEqual(
            [
                ('host_down', 'b'),
                ('host_disabled', 'b'),
                ('host_no_sample', 'b'),
            ],
            [(str(one.code), one.host) for one in found.reasons],
        )
        self.assertIsNone(found.gain)


class TestOtherPhases(base.BaseTestCase):
    def test_evacuation_hears_policies(self) -> None:
        """d is drained; v would raise a from 0.5 to 0.7, b to 0.6."""
        snapshot = scope(
            cpu(),
            {'a': [0.5], 'b': [0.45], 'd': [0.2]},
            [vm('v', 'd', [0.2])],
        )
        (snapshot.services or {})['d'].status = 'disabled'
        asked = Asked(snapshot, cpu(), evacuate=True, rebalance=False)
        found = asked.of('v', 'a')
        self.assertIs(MigrationPhase.EVACUATE, found.phase)
        self.assertIs(Code.WORSENS_POLICY, found.code)

    def test_nothing_asks_for_it(self) -> None:
        snapshot = three(vm('v', 'a', [0.2]))
        asked = Asked(snapshot, cpu(), evacuate=True, rebalance=False)
        self.assertIs(Code.NOT_ASKED, asked.of('v', 'b').code)

    def test_a_repair_waits(self) -> None:
        """H: w is on its way; v and u are kept apart when it is there."""
        snapshot = three(
            vm('u', 'a', [0.0]),
            vm('v', 'a', [0.0]),
            vm('w', 'b', [0.0]),
            groups=[ServerGroup('g', 'anti-affinity', ['u', 'v', 'w'], 'g')],
        )
        snapshot.taken_at = NOW
        snapshot.events = [
            Event('w', 'b', 'c', Outcome.UNDER_WAY, NOW, Origin.NOVA)
        ]
        hosts = dict(snapshot.hosts)
        hosts['e'] = dataclasses.replace(hosts['a'], name='e')
        snapshot.hosts = hosts
        (snapshot.services or {})['e'] = dataclasses.replace(
            (snapshot.services or {})['a'], host='e'
        )
        reading = snapshot.readings['cpu'].imbalance
        reading.samples.append(
            dataclasses.replace(reading.samples[1], label='e')
        )
        asked = Asked(
            snapshot, cpu(), enforce_hard_affinity=True, rebalance=False
        )
        self.assertIs(Code.GROUP_WAITS, asked.of('v', 'e').code)

    def test_a_group_that_cannot_be_whole(self) -> None:
        """It is legal, and brings it closer, but two others are locked."""
        snapshot = three(
            vm('u', 'a', [0.0]),
            vm('v', 'b', [0.0]),
            vm('w', 'c', [0.0]),
            groups=[ServerGroup('g', 'affinity', ['u', 'v', 'w'], 'g')],
        )
        for uuid in 'vw':
            snapshot.instances[uuid].locked = True
        asked = Asked(
            snapshot, cpu(), enforce_hard_affinity=True, rebalance=False
        )
        found = asked.of('u', 'b')
        self.assertIs(Code.GROUP_NOT_REPAIRED, found.code)
        self.assertIn('brought together as a whole', found.text)


class TestStuck(base.BaseTestCase):
    """Lifting them takes the stuck migrations away, and no more."""

    def _asked(self, *routes: tuple[str, str, str], **more: Any) -> Asked:
        snapshot = three(vm('v', 'a', [0.2]), vm('w', 'a', [0.1]))
        snapshot.taken_at = 1e6
        snapshot.events = [
            Event(*route, Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for route in routes
        ]
        return Asked(snapshot, cpu(), **more)

    def _lifted(self, asked: Asked, uuid: str, host: str) -> None:
        found = counterfactual.minimal(
            asked.case, asked.result, asked.of(uuid, host)
        )
        for reason in found.reasons:
            left = counterfactual.relaxed(asked.case, found, reason)
            self.assertNotEqual(
                [], counterfactual.still_against(left, asked.result, found)
            )
        freed = counterfactual.relaxed(asked.case, found)
        self.assertEqual(
            [], counterfactual.still_against(freed, asked.result, found)
        )

    def test_out_of_a_host(self) -> None:
        asked = self._asked(('w', 'a', 'c'))
        self.assertEqual([], asked.result.steps)
        for uuid, code in [
            ('v', Code.HOST_STUCK_OUT),
            ('w', Code.INSTANCE_ON_ITS_WAY),
        ]:
            found = asked.of(uuid, 'b')
            self.assertEqual([code], [one.code for one in found.reasons])
            self._lifted(asked, uuid, 'b')

    def test_into_a_host(self) -> None:
        asked = self._asked(('x', 'p', 'b'), ('y', 'q', 'b'))
        found = asked.of('v', 'b')
        self.assertEqual(
            [Code.HOST_STUCK_INTO], [one.code for one in found.reasons]
        )
        self._lifted(asked, 'v', 'b')

    def test_at_both_ends(self) -> None:
        asked = self._asked(('x', 'p', 'b'), ('y', 'q', 'b'), ('x', 'a', 'p'))
        self.assertEqual(
            [Code.HOST_STUCK_OUT, Code.HOST_STUCK_INTO],
            [one.code for one in asked.of('v', 'b').reasons],
        )
        self._lifted(asked, 'v', 'b')

    def test_its_own_is_one_of_them(self) -> None:
        """Without it b is not held any more, and still a by the other."""
        asked = self._asked(('v', 'a', 'b'), ('w', 'a', 'b'))
        self.assertEqual(
            [Code.INSTANCE_ON_ITS_WAY, Code.HOST_STUCK_OUT],
            [one.code for one in asked.of('v', 'b').reasons],
        )
        self._lifted(asked, 'v', 'b')


class TestPack(base.BaseTestCase):
    def _asked(self, *vms: Any, **settings: Any) -> Asked:
        rules = cpu(
            mode=Mode.PACK, capacity_query='up', capacity_threshold=0.8
        )
        hosts = {'a': [0.5], 'b': [0.3], 'c': [0.1], 'e': [0.0]}
        snapshot = scope(rules, hosts, list(vms))
        used = snapshot.readings['cpu'].imbalance.samples
        snapshot.readings['cpu'].capacity = Reading('', samples=list(used))
        return Asked(snapshot, rules, max_migrations=9, **settings)

    def test_full_hosts_first_and_empty_ones_never(self) -> None:
        """c is emptied to a, the fullest; b could take it too."""
        asked = self._asked(
            vm('v', 'c', [0.1]), vm('w', 'a', [0.5]), vm('x', 'b', [0.3])
        )
        self.assertEqual(
            {
                'a': 'planned',
                'b': 'better_destination',
                'c': 'already_there',
                'e': 'pack_no_target',
            },
            asked.codes('v'),
        )

    def test_a_ceiling(self) -> None:
        """0.5 + 0.3 + 0.1 is not below 0.8."""
        asked = self._asked(
            vm('v', 'c', [0.1]), vm('w', 'a', [0.5]), vm('x', 'b', [0.3])
        )
        found = asked.of('x', 'a')
        self.assertIs(Code.OVER_CEILING, found.code)
        self.assertIn('would be at 0.900 there', found.text)

    def test_a_host_that_is_kept_for_another_instance(self) -> None:
        asked = self._asked(
            vm('v', 'c', [0.05]),
            vm('y', 'c', [0.05], locked=True),
            vm('w', 'a', [0.5], locked=True),
        )
        found = asked.of('v', 'a')
        self.assertIs(Code.PACK_NOT_WHOLE, found.code)
        self.assertIn('its instance y stays: it is locked', found.text)

    def test_hosts_that_are_kept(self) -> None:
        asked = self._asked(
            vm('v', 'c', [0.1]), vm('w', 'a', [0.5]), keep_hosts=2
        )
        self.assertIs(Code.PACK_KEEP_HOSTS, asked.of('v', 'a').code)


class TestBesideStuckHosts(base.BaseTestCase):
    def test_the_others_are_within_their_thresholds(self) -> None:
        """b1 at .7 and t1 at .02 are .68 apart, below two that are stuck."""
        found = stuck_ends.zone_beside_a_zone(threshold=0.7)
        case = PlanningInput(*found, [])
        result = propose.plan_again(case)
        self.assertIs(StopReason.STUCK, result.stopped)
        verdict = why_not.Explainer(case, result).verdict('v16', 'b2')
        self.assertIs(Code.SCOPE_BALANCED, verdict.code)
        self.assertTrue(verdict.of_rest)
        self.assertEqual(
            'it is legal and it lowers the combined imbalance of the hosts '
            'that are not set aside by 0.1000, from 0.6800 to 0.5800, but '
            'these are within all thresholds: cpu 0.680 <= 0.7',
            verdict.text,
        )
        helping = []
        for remedy in remedies.of_search(case, result, verdict):
            limit = float(remedy.overrides['threshold.cpu'])
            policies = [policy('cpu', threshold=limit)]
            plan = propose.plan_again(
                dataclasses.replace(case, policies=policies)
            )
            if 'v16' in [one.instance for one in plan.steps]:
                helping.append(limit)
        self.assertEqual(0.3399, helping[0])

    def test_what_has_become_possible(self) -> None:
        """a at .8 can be helped now, as if it had not been before."""
        snapshot, policies = three(vm('v', 'a', [0.2])), cpu(threshold=0.45)
        case = PlanningInput(snapshot, policies, Settings(**PLAIN), [])
        result = propose.plan_again(case)
        result.steps, result.stopped = [], StopReason.STUCK
        result.rest = Rest([SetAside('cpu', 'a', True, 0.8, 'stuck')])
        verdict = why_not.Explainer(case, result).verdict('v', 'c')
        self.assertIs(Code.NEXT_AUDIT, verdict.code)
        self.assertEqual(
            'it is legal and it lowers the combined imbalance by 0.1000, from '
            '0.5000 to 0.4000, but only after the moves for the hosts that '
            'are not set aside; the next audit checks again',
            verdict.text,
        )

    def test_a_plan_that_is_dust(self) -> None:
        """One that gains more than min_gain, and less than a plan must."""
        snapshot = three(vm('v', 'a', [0.01]))
        more = {'search': SearchName.BEST, 'min_gain': 0.001}
        asked = Asked(snapshot, cpu(), min_plan_gain=0.03, **more)
        self.assertEqual([], asked.result.steps)
        found = asked.of('v', 'b')
        self.assertIs(Code.NO_GAIN, found.code)
        self.assertIn('lowers a policy by min_plan_gain (0.03)', found.text)
        asked = Asked(snapshot, cpu(), **{**more, 'min_gain': 0.05})
        self.assertIn('is less than min_gain (0.05)', asked.of('v', 'b').text)


class TestNearestMiss(base.BaseTestCase):
    def test_the_one_that_a_lock_keeps(self) -> None:
        """v would gain 0.4; w, which has no room anywhere, 0.2."""
        snapshot = three(
            vm('v', 'a', [0.2], locked=True),
            vm('w', 'a', [0.1], memory_mb=9999, vcpus=99),
        )
        room = {'VCPU': 8, 'MEMORY_MB': 4096}
        give_room(snapshot, {'b': room, 'c': room})
        asked = Asked(snapshot, cpu())
        self.assertEqual([], asked.result.steps)
        found = nearest_miss.nearest_miss(asked.why)
        assert found is not None
        self.assertEqual(('v', 'b'), (found.instance, found.destination))
        self.assertIs(Code.INSTANCE_LOCKED, found.code)
        self.assertEqual([], found.also)

    def test_a_scope_that_stands_still_for_its_hosts(self) -> None:
        snapshot = three(vm('v', 'a', [0.2]))
        for name in ('b', 'c'):
            (snapshot.services or {})[name].state = 'down'
        asked = Asked(snapshot, cpu())
        self.assertIsNone(nearest_miss.nearest_miss(asked.why))
        self.assertIs(Code.HOST_DOWN, asked.of('v', 'b').code)

    def test_scopes_that_share_an_instance(self) -> None:
        """What the first scope plans the second one leaves alone."""
        first = three(vm('v', 'a', [0.2]))
        second = dataclasses.replace(first, scope='second')
        settings = Settings(**PLAIN, max_migrations=1)
        report = propose.propose([first, second], cpu(), settings)
        cases = scenario.cases([first, second], cpu(), settings, report)
        why = why_not.Explainer(cases[1], report.scopes[1])
        found = why.verdict('v', 'c')
        self.assertIs(Code.INSTANCE_PLANNED_BEFORE, found.code)
        self.assertIn('in scope agg', found.text)
