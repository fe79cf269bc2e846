# SPDX-License-Identifier: Apache-2.0
"""Is a host drained without metrics, and nothing else done?"""

import copy

from oslotest import base

from kronos.engine.explain import scenario, why_not
from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Health,
    MigrationPhase,
    Reading,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode
from tests.builders import scopes
from tests.builders.scopes import policy, vm

POLICIES = [policy('cpu', 0.6), policy('ram', 0.4)]
GIB = 1024


def cloud() -> Snapshot:
    """Of a and b, b has more memory free; off is to be left."""
    snapshot = scopes.scope(
        POLICIES,
        {'a': [0.1, 0.1], 'b': [0.6, 0.1], 'off': [0.3, 0.1]},
        [
            vm('u', 'a', [0.1, 0.1], memory_mb=12 * GIB),
            vm('v', 'b', [0.6, 0.1], memory_mb=8 * GIB),
            *(
                vm(f'w{n}', 'off', [0.1, 0.1], memory_mb=4 * GIB)
                for n in '123'
            ),
        ],
    )
    room = {'VCPU': 99, 'MEMORY_MB': 32 * GIB}
    scopes.give_room(snapshot, {'a': room, 'b': room, 'off': room})
    assert snapshot.services is not None
    snapshot.services['off'].status = 'disabled'
    for readings in snapshot.readings.values():
        readings.capacity = copy.deepcopy(readings.imbalance)
    return snapshot


def away(*names: str) -> Snapshot:
    """Prometheus says nothing of some policies."""
    snapshot = cloud()
    for name in names:
        snapshot.readings[name].imbalance = Reading(
            'up', Health.UNREACHABLE, error='no answer', is_away=True
        )
    return snapshot


def plan(
    snapshot: Snapshot, mode: Mode = Mode.SPREAD, **more: object
) -> AggregateResult:
    policies = [
        one.model_copy(update={'mode': mode, 'capacity_query': 'up'})
        for one in POLICIES
    ]
    settings = Settings(**{'evacuate': True, 'max_migrations': 9, **more})
    before = copy.deepcopy(snapshot)
    found = propose([snapshot], policies, settings).scopes[0]
    assert before == snapshot
    return found


def moves(result: AggregateResult) -> list[tuple[str, str]]:
    return [(one.instance, one.destination) for one in result.steps]


class TestDrain(base.BaseTestCase):
    def test_by_free_memory(self) -> None:
        """20 of 32 GiB are free on a and 24 on b."""
        for mode in Mode:
            result = plan(away('cpu', 'ram'), mode, rebalance=False)
            with self.subTest(mode=mode):
                self.assertEqual(
                    [('w1', 'b'), ('w2', 'a'), ('w3', 'b')], moves(result)
                )
                self.assertIn(
                    'drained without metrics, by the memory that '
                    'Placement has free',
                    result.unmeasured,
                )
                self.assertIn(
                    'policy cpu: imbalance_query: no answer', result.unmeasured
                )
                self.assertIn(result.unmeasured, result.warnings)
                self.assertEqual(StopReason.DONE, result.stopped)

    def test_server_groups_and_room_hold(self) -> None:
        snapshot = away('cpu', 'ram')
        snapshot.groups = [ServerGroup('g', 'anti-affinity', ['v', 'w1'])]
        room = snapshot.hosts['a'].headroom
        assert room is not None
        room['MEMORY_MB'].used = 27 * GIB
        result = plan(snapshot, rebalance=False)
        self.assertEqual(
            {('w1', 'a'), ('w2', 'b'), ('w3', 'b')}, set(moves(result))
        )
        snapshot.hosts['a'].headroom = None
        result = plan(snapshot, rebalance=False)
        self.assertEqual({('w2', 'b'), ('w3', 'b')}, set(moves(result)))
        self.assertIn('w1', result.stayed)

    def test_nothing_else_is_planned(self) -> None:
        """Spread and pack stand still, whatever they were asked for."""
        snapshot = away('cpu', 'ram')
        snapshot.groups = [ServerGroup('g', 'affinity', ['u', 'v'])]
        for mode in Mode:
            result = plan(snapshot, mode, enforce_hard_affinity=True)
            self.assertEqual(
                {MigrationPhase.EVACUATE}, {one.phase for one in result.steps}
            )
            self.assertEqual({'off'}, {one.source for one in result.steps})

    def test_the_policies_that_are_left_are_used(self) -> None:
        for required in (False, True):
            result = plan(
                away('cpu'), rebalance=False, require_all_policies=required
            )
            with self.subTest(required=required):
                self.assertEqual(3, len(result.steps))
                self.assertEqual(
                    ['cpu', 'ram'], [one.name for one in result.policies]
                )
                self.assertEqual(required, bool(result.unmeasured))
        self.assertIn('by the policies that are left', result.unmeasured)
        self.assertIn('require_all_policies is set', result.unmeasured)

    def test_no_host_has_a_value_of_every_policy(self) -> None:
        snapshot = cloud()
        del snapshot.readings['cpu'].imbalance.samples[0]
        del snapshot.readings['ram'].imbalance.samples[1]
        result = plan(snapshot, rebalance=False, min_host_coverage=0.1)
        self.assertEqual(3, len(result.steps))
        self.assertIn('0 of 3 hosts can take part', result.unmeasured)

    def test_too_few_hosts_have_a_value(self) -> None:
        """Then what the others have counts for nothing."""
        snapshot = cloud()
        for readings in snapshot.readings.values():
            del readings.imbalance.samples[0]
        result = plan(snapshot, rebalance=False)
        self.assertEqual(
            ['placement_memory'], [one.name for one in result.policies]
        )
        self.assertEqual(
            [('w1', 'b'), ('w2', 'a'), ('w3', 'b')], moves(result)
        )
        self.assertIn('min_host_coverage is 0.9', result.unmeasured)

    def test_what_is_no_matter_of_metrics_stands_still(self) -> None:
        alone = cloud()
        assert alone.services is not None
        alone.services['a'].state = alone.services['b'].state = 'down'
        result = plan(alone, rebalance=False)
        self.assertEqual(StopReason.TOO_FEW_HOSTS, result.stopped)
        nobody = away('cpu', 'ram')
        for host in nobody.hosts.values():
            host.headroom = None
        result = plan(nobody, rebalance=False)
        self.assertEqual(StopReason.NO_POLICY, result.stopped)
        self.assertEqual([], result.steps)
        nothing = away('cpu', 'ram')
        assert nothing.services is not None
        nothing.services['off'].status = 'enabled'
        result = plan(nothing)
        self.assertEqual(StopReason.NO_POLICY, result.stopped)
        self.assertEqual('', result.unmeasured)

    def test_the_explanation_is_of_the_same_plan(self) -> None:
        snapshot, settings = (
            away('cpu', 'ram'),
            Settings(evacuate=True, rebalance=False, max_migrations=9),
        )
        snapshot.instances['w2'].locked = True
        report = propose([snapshot], POLICIES, settings)
        [case] = scenario.cases([snapshot], POLICIES, settings, report)
        asked = why_not.Explainer(case, report.scopes[0])
        codes = {
            (one.instance, one.destination): one.code
            for one in asked.verdicts(['w1', 'w2', 'u'], ['a', 'b'])
        }
        self.assertEqual(
            {
                ('w1', 'a'): Code.BETTER_DESTINATION,
                ('w1', 'b'): Code.PLANNED,
                ('w2', 'a'): Code.INSTANCE_LOCKED,
                ('w2', 'b'): Code.INSTANCE_LOCKED,
                ('u', 'a'): Code.ALREADY_THERE,
                ('u', 'b'): Code.NOT_ASKED,
            },
            codes,
        )
