# SPDX-License-Identifier: Apache-2.0
"""Do overfull hosts give away as few servers as they must?"""

from collections.abc import Mapping, Sequence
from typing import Any

from oslotest import base

from kronos.engine.planning import move_reasons, propose
from kronos.engine.reasons import Code
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import (
    AggregateResult,
    Event,
    MigrationPhase,
    Origin,
    Outcome,
    Reading,
    ServerGroup,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.builders.scopes import vm

NOW = 100_000.0


def policy(**more: Any) -> Policy:
    return scopes.policy(
        'cpu',
        **{
            'mode': Mode.PACK,
            'capacity_query': 'up',
            'capacity_threshold': 0.7,
            'relief_threshold': 0.9,
            'max_migrations_per_cycle': 20,
            **more,
        },
    )


def scope(
    usages: Mapping[str, Sequence[float]],
    names: str = 'abcd',
    **more: Any,
) -> Snapshot:
    """Hosts that show the sum of their servers, and no others.

    :param usages: host to those of its servers, which are a0, a1 ...
    """
    servers = [
        vm(f'{host}{number}', host, [usage])
        for host, rows in usages.items()
        for number, usage in enumerate(rows)
    ]
    hosts = {name: [sum(usages.get(name, ()))] for name in names}
    snapshot = scopes.scope([policy()], hosts, servers, **more)
    readings = snapshot.readings['cpu']
    readings.capacity = Reading('', samples=readings.imbalance.samples)
    snapshot.taken_at = NOW
    return snapshot


def plan(
    snapshot: Snapshot, rule: Policy | None = None, **settings: Any
) -> AggregateResult:
    settings.setdefault('search', SearchName.GREEDY)
    report = propose.propose(
        [snapshot], [rule or policy()], Settings(**settings)
    )
    return report.scopes[0]


def relieved(result: AggregateResult) -> list[tuple[str, str, str]]:
    return [
        (step.instance, step.source, step.destination)
        for step in result.steps
        if step.phase is MigrationPhase.RELIEVE
    ]


def moved(instance: str, source: str, host: str, age: float) -> Event:
    return Event(instance, source, host, Outcome.MOVED, NOW - age, Origin.NOVA)


class TestChoice(base.BaseTestCase):
    def test_smallest_that_suffices(self) -> None:
        """To the fullest host in use that stays below the ceiling."""
        snapshot = scope(
            {'a': [0.1, 0.25, 0.3, 0.3], 'b': [0.3], 'c': [0.35], 'd': [0.5]}
        )
        result = plan(snapshot)
        self.assertEqual([('a1', 'a', 'c')], relieved(result)[:1])
        self.assertIn('1 host relieved by 1 migration (a)', result.reason)
        self.assertIn(
            'relieves a, which is overfull', move_reasons.of(result.steps)
        )

    def test_largest_first(self) -> None:
        """Where none suffices alone."""
        snapshot = scope({'a': [0.1] * 7 + [0.15, 0.14], 'b': [0.3]})
        self.assertEqual(
            [('a7', 'a', 'b'), ('a8', 'a', 'b')],
            relieved(plan(snapshot)),
        )

    def test_between_the_limits(self) -> None:
        """Nothing leaves; nor with the same limit, or without any."""
        usages = {'a': [0.3, 0.3, 0.25], 'b': [0.3]}
        self.assertEqual([], relieved(plan(scope(usages))))
        usages['a'][2] = 0.35
        off = policy(relief_threshold=1.0)
        self.assertEqual([], relieved(plan(scope(usages), off)))
        self.assertEqual(1, len(relieved(plan(scope(usages)))))

    def test_ceiling_above_the_limit(self) -> None:
        high = policy(relief_threshold=0.5, capacity_threshold=0.8)
        self.assertEqual(0.8, high.relief_limit)
        usages = {'a': [0.3, 0.3, 0.1], 'b': [0.3]}
        self.assertEqual([], relieved(plan(scope(usages), high)))

    def test_empty_host(self) -> None:
        """One is opened where none in use has room, and then kept."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.5], 'c': [0.5]}
        result = plan(scope(usages))
        self.assertEqual([('a2', 'a', 'd')], relieved(result))
        self.assertEqual(
            relieved(result),
            [
                (step.instance, step.source, step.destination)
                for step in result.steps
            ],
        )

    def test_several_hosts_fill_one(self) -> None:
        """The fullest host comes first."""
        usages = {
            'a': [0.35, 0.3, 0.27],
            'b': [0.36, 0.3, 0.33],
            'c': [0.69],
        }
        result = plan(scope(usages, 'abcd'))
        self.assertEqual(
            [('b1', 'b', 'd'), ('a2', 'a', 'd')], relieved(result)
        )

    def test_budget(self) -> None:
        """It is the plan's; what stays says so."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.4, 0.3, 0.25]}
        result = plan(scope(usages), policy(max_migrations_per_cycle=1))
        self.assertEqual(1, len(result.steps))
        self.assertEqual(Code.BUDGET_USED, result.stayed['b0'].code)
        self.assertIn('the budget of 1 is used', result.reason)


class TestRules(base.BaseTestCase):
    def test_no_place(self) -> None:
        """It stays above, with the reason of each of its servers."""
        usages = {'a': [0.5, 0.45], 'b': [0.5], 'c': [0.5], 'd': [0.5]}
        result = plan(scope(usages), search=SearchName.GREEDY, keep_hosts=4)
        self.assertEqual([], result.steps)
        self.assertIn('a is at 0.950 by cpu, above 0.9', result.reason)
        [stage] = [one for one in result.stages if one.name == 'relieve']
        self.assertIn('no other host can take any of its servers', stage.text)

    def test_scope_in_cooldown(self) -> None:
        """It relieves, and empties nothing."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.1], 'c': [0.1]}
        snapshot = scope(usages)
        snapshot.events = [moved('c0', 'd', 'c', 60.0)]
        result = plan(snapshot, cooldown_seconds=600.0)
        self.assertEqual([('a2', 'a', 'b')], relieved(result))
        self.assertEqual(1, len(result.steps))
        self.assertIs(StopReason.COOLDOWN, result.stopped)
        self.assertEqual(Code.SCOPE_COOLDOWN, result.stayed['c0'].code)
        snapshot = scope({'a': [0.4, 0.3], 'b': [0.1], 'c': [0.1]})
        snapshot.events = [moved('c0', 'd', 'c', 60.0)]
        result = plan(snapshot, cooldown_seconds=600.0)
        self.assertEqual([], result.steps)
        self.assertEqual('cooldown', result.stages[-1].name)

    def test_what_has_just_moved(self) -> None:
        """It stays, and goes back nowhere."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.1], 'c': [0.3]}
        snapshot = scope(usages)
        snapshot.events = [moved('a2', 'd', 'a', 60.0)]
        result = plan(snapshot, instance_cooldown_seconds=600.0)
        self.assertEqual([('a1', 'a', 'c')], relieved(result))
        self.assertEqual(Code.INSTANCE_COOLDOWN, result.stayed['a2'].code)
        snapshot.events = [moved('a2', 'c', 'a', 60.0)]
        result = plan(snapshot, return_guard_seconds=600.0)
        self.assertEqual([('a2', 'a', 'b')], relieved(result))

    def test_young(self) -> None:
        """Only if nothing else suffices."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.1]}
        snapshot = scope(usages)
        snapshot.instances['a2'].created = NOW - 60.0
        result = plan(snapshot, min_age_seconds=3600.0)
        self.assertEqual([('a1', 'a', 'b')], relieved(result))
        for instance in snapshot.instances.values():
            instance.created = NOW - 60.0
        result = plan(snapshot, min_age_seconds=3600.0)
        self.assertEqual([('a2', 'a', 'b')], relieved(result))
        self.assertEqual(1, len(result.steps))
        self.assertEqual(Code.INSTANCE_YOUNG, result.stayed['b0'].code)

    def test_on_their_way(self) -> None:
        """What leaves already is not on the host; what comes is."""
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.3], 'c': [0.1]}
        snapshot = scope(usages)
        snapshot.events = [
            Event('a1', 'a', 'c', Outcome.UNDER_WAY, NOW, Origin.NOVA)
        ]
        result = plan(snapshot, cooldown_seconds=600.0)
        self.assertEqual([], relieved(result))
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.3], 'c': [0.2], 'd': [0.2]}
        snapshot = scope(usages, 'abcde')
        snapshot.events = [
            Event('d0', 'd', 'b', Outcome.PLANNED, NOW, Origin.WATCHER)
        ]
        result = plan(snapshot, cooldown_seconds=600.0)
        self.assertEqual([('a2', 'a', 'c')], relieved(result))

    def test_groups(self) -> None:
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.3], 'c': [0.1]}
        group = ServerGroup('g', 'anti-affinity', ['a2', 'b0'])
        result = plan(scope(usages, groups=[group]))
        self.assertEqual([('a2', 'a', 'c')], relieved(result))

    def test_headroom_hosts(self) -> None:
        """An empty host is opened where else one could not be lost."""
        usages = {'a': [0.3, 0.3, 0.35], 'b': [0.35], 'c': [0.2]}
        snapshot = scope(usages, 'abcde')
        self.assertEqual([('a0', 'a', 'b')], relieved(plan(snapshot)))
        result = plan(snapshot, headroom_hosts=1)
        self.assertEqual(1, len(relieved(result)))

    def test_drained_hosts_take_nothing(self) -> None:
        usages = {'a': [0.4, 0.3, 0.25], 'b': [0.3], 'c': [0.1]}
        snapshot = scope(usages)
        assert snapshot.services is not None
        snapshot.services['b'].status = 'disabled'
        result = plan(snapshot, evacuate=True)
        self.assertEqual([('a2', 'a', 'c')], relieved(result))
        self.assertEqual(
            ['evacuate', 'relieve', 'pack'],
            [one.name for one in result.stages][-3:],
        )
