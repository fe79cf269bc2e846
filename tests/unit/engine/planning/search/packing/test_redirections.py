# SPDX-License-Identifier: Apache-2.0
"""Does as much leave a drained host as can, each by one migration?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import (
    AggregateResult,
    Reading,
    ServerGroup,
    Snapshot,
)
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', threshold=0.9, capacity_threshold=0.95)


def tight(**more: Any) -> Snapshot:
    """Only on a is room for the 4 vCPUs of big; it is the emptiest."""
    vms = [
        vm('big', 'off', [0.01], vcpus=4),
        vm('small', 'off', [0.2], vcpus=2),
        vm('a0', 'a', [0.1], vcpus=2),
        vm('b0', 'b', [0.4], vcpus=4),
    ]
    hosts = {'a': [0.1], 'b': [0.4], 'off': [0.21]}
    snapshot = scopes.scope([CPU], hosts, vms, **more)
    room = {'VCPU': 6, 'MEMORY_MB': 9999}
    scopes.give_room(snapshot, dict.fromkeys(hosts, room))
    return snapshot


def drain(
    snapshot: Snapshot, cpu: Policy = CPU, **more: Any
) -> AggregateResult:
    settings = Settings(
        **{
            'evacuate': True,
            'drain_hosts': ['off'],
            'rebalance': False,
            'unlimited': True,
            'search': SearchName.BEST,
            **more,
        }
    )
    return propose([snapshot], [cpu], settings).scopes[0]


def moves(result: AggregateResult) -> list[tuple[str, str]]:
    return [(step.instance, step.destination) for step in result.steps]


class TestRedirections(base.BaseTestCase):
    def test_one_goes_elsewhere(self) -> None:
        greedy = drain(tight(), search=SearchName.GREEDY)
        self.assertEqual([('small', 'a')], moves(greedy))
        result = drain(tight())
        self.assertEqual([('small', 'b'), ('big', 'a')], moves(result))
        self.assertEqual('off: all 2 instances leave', result.reason)

    def test_nothing_changes_where_all_can_leave(self) -> None:
        snapshot = tight()
        snapshot.instances['big'].vcpus = 2
        plans = [
            drain(snapshot, search=search).steps
            for search in (SearchName.GREEDY, SearchName.BEST)
        ]
        self.assertEqual(2, len(plans[0]))
        self.assertEqual(plans[0], plans[1])

    def test_in_mode_pack(self) -> None:
        """The largest is small, and the fullest of its hosts b."""
        snapshot = tight()
        snapshot.readings['cpu'].capacity = Reading(
            '', samples=list(snapshot.readings['cpu'].imbalance.samples)
        )
        snapshot.instances['small'].vcpus = 1
        snapshot.instances['big'].vcpus = 2
        snapshot.hosts['a'].headroom['VCPU'].used = 5  # type: ignore
        cpu = CPU.model_copy(
            update={'mode': Mode.PACK, 'capacity_query': 'up'}
        )
        greedy = drain(snapshot, cpu, search=SearchName.GREEDY)
        self.assertEqual([('small', 'b')], moves(greedy))
        result = drain(snapshot, cpu)
        self.assertEqual([('small', 'a'), ('big', 'b')], moves(result))

    def test_what_a_policy_objects_to_is_left(self) -> None:
        """With small on b it would be .6 against .11."""
        cpu = CPU.model_copy(update={'threshold': 0.45})
        result = drain(tight(), cpu)
        self.assertEqual([('small', 'a')], moves(result))
        self.assertIn('no legal destination', result.stayed['big'])
        result = drain(tight(), cpu, drain_may_exceed_threshold=True)
        self.assertEqual(2, len(result.steps))

    def test_rules_of_groups(self) -> None:
        snapshot = tight()
        snapshot.groups = [ServerGroup('g', 'anti-affinity', ['small', 'b0'])]
        self.assertEqual([('small', 'a')], moves(drain(snapshot)))

    def test_within_the_budget(self) -> None:
        result = drain(tight(), max_migrations=1)
        self.assertEqual(1, len(result.steps))

    def test_small_ones_where_a_large_one_takes_all_room(self) -> None:
        """Three leave instead of one that has their room."""
        vms = [
            vm('big', 'off', [0.3], vcpus=6),
            *(vm(f's{n}', 'off', [0.01], vcpus=2) for n in range(3)),
            vm('a0', 'a', [0.1], vcpus=1),
        ]
        hosts = {'a': [0.1], 'off': [0.33]}
        snapshot = scopes.scope([CPU], hosts, vms)
        room = {'VCPU': 7, 'MEMORY_MB': 9999}
        scopes.give_room(snapshot, dict.fromkeys(hosts, room))
        snapshot.hosts['off'].headroom = None
        greedy = drain(snapshot, search=SearchName.GREEDY)
        self.assertEqual(['big'], [one for one, _ in moves(greedy)])
        leave = {one for one, _ in moves(drain(snapshot))}
        self.assertEqual({'s0', 's1', 's2'}, leave)
