# SPDX-License-Identifier: Apache-2.0
"""What does pack do but for the greedy search? And is nothing broken by it?"""

import dataclasses
import random
from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import SearchName
from kronos.engine.types import (
    AggregateResult,
    Event,
    Origin,
    Outcome,
    Snapshot,
    StopReason,
)
from tests.unit.engine.oracles import legality
from tests.unit.engine.planning import test_pack
from tests.unit.engine.planning.test_pack import (
    moves,
    policy,
    scope,
    seven,
    three,
    vm,
)
from tests.unit.engine.planning.test_pack_literal import packed

LOTS = 150


def plan(snapshot: Snapshot, **settings: Any) -> AggregateResult:
    settings.setdefault('search', SearchName.BEST)
    return test_pack.plan(snapshot, **settings)


def four() -> Snapshot:
    """h1 is the least loaded, and takes four migrations."""
    return scope(
        [
            *(vm(f'a{n}', 'h1', [0.01]) for n in range(4)),
            vm('b', 'h2', [0.1]),
            vm('c', 'h3', [0.15]),
            *(vm(f'd{n}', 'h4', [0.1]) for n in range(5)),
        ],
        {'h1': [0.04], 'h2': [0.1], 'h3': [0.15], 'h4': [0.5]},
    )


class TestBudget(base.BaseTestCase):
    def test_as_many_hosts_as_it_allows(self) -> None:
        greedy = plan(four(), max_migrations=3, search=SearchName.GREEDY)
        self.assertEqual((4, 4), _in_use(greedy))
        result = plan(four(), max_migrations=3)
        self.assertEqual((4, 2), _in_use(result))
        self.assertEqual(
            ['b', 'c'], [step.instance for step in result.steps][:2]
        )
        self.assertIs(StopReason.BUDGET, result.stopped)
        self.assertEqual(
            '2 hosts emptied by 3 migrations (h2, h3), 2 hosts stay in use; '
            'h1: 1 of 4 leaves now, and the next audit goes on; the budget '
            'of 3 migrations is used',
            result.reason,
        )
        self.assertEqual(
            'h1: 1 of 4 leaves now; it leaves with a later audit, because the '
            'budget of 3 migrations is used',
            result.stayed['a1'],
        )

    def test_the_fullest_host_stays(self) -> None:
        result = plan(four(), max_migrations=20)
        self.assertEqual((4, 1), _in_use(result))
        self.assertEqual(6, len(result.steps))
        self.assertIs(StopReason.PACKED, result.stopped)
        self.assertEqual(
            'h4 is not emptied: 1 host in use, keep_hosts is 1',
            result.stayed['d0'],
        )

    def test_the_optimal_search_packs_in_the_same_way(self) -> None:
        self.assertEqual(
            plan(four(), max_migrations=3).steps,
            plan(four(), max_migrations=3, search=SearchName.OPTIMAL).steps,
        )

    def test_partial_drains_use_what_is_left(self) -> None:
        result = plan(four(), max_migrations=4, pack_partial_drains=True)
        self.assertEqual((4, 2), _in_use(result))
        self.assertEqual(4, len(result.steps))

    def test_rooms_for_lost_hosts(self) -> None:
        """With h4 lost, h3 alone could not take what is there."""
        result = plan(four(), max_migrations=9, headroom_hosts=1)
        self.assertEqual((4, 2), _in_use(result))


class TestSeveralAudits(base.BaseTestCase):
    """A host that needs more moves than one budget has."""

    def test_the_next_audit_goes_on(self) -> None:
        """Nothing but the history tells that they have begun."""
        snapshot, told, sources = seven(), [], []
        cpu = policy(max_migrations_per_cycle=3)
        for audit in range(3):
            result = test_pack.plan(snapshot, [cpu], search=SearchName.BEST)
            sources.append({step.source for step in result.steps})
            told.append([host.text for host in result.begun])
            snapshot = test_pack._after(snapshot, result, 3600.0 * audit)
            for event in snapshot.events:
                event.phase = 'pack'
        # h2 has the fewest; what left it has filled the others meanwhile.
        self.assertEqual([{'h2'}, {'h2'}, set()], sources)
        self.assertEqual([['h2: 3 of 4 leave now'], [], []], told)
        self.assertEqual(
            {'h1', 'h3'}, {one.host for one in snapshot.instances.values()}
        )

    def half_empty(self) -> Snapshot:
        """Of h3 pack has sent something to h1, and there is h2."""
        snapshot = three()
        snapshot.events = [
            Event(
                'a',
                'h3',
                'h1',
                Outcome.MOVED,
                0.0,
                Origin.WATCHER,
                phase='pack',
            )
        ]
        return snapshot

    def test_what_is_begun_comes_first_and_takes_nothing(self) -> None:
        """h3 is the fullest, and has the most instances."""
        self.assertEqual(
            [('a', 'h1', 'h3'), ('b', 'h2', 'h3')], moves(plan(three()))
        )
        result = plan(self.half_empty())
        self.assertEqual(
            [('c', 'h3', 'h2'), ('d', 'h3', 'h2'), ('a', 'h1', 'h2')],
            moves(result),
        )

    def test_it_takes_nothing_even_if_it_cannot_be_emptied(self) -> None:
        snapshot = self.half_empty()
        snapshot.instances['d'].locked = True
        result = plan(snapshot)
        self.assertNotIn('h3', [host for _, _, host in moves(result)])
        self.assertEqual(1, len(result.steps))

    def test_a_move_by_hand_begins_nothing(self) -> None:
        snapshot = self.half_empty()
        snapshot.events[0].phase = ''
        self.assertEqual(moves(plan(three())), moves(plan(snapshot)))

    def test_the_greedy_search_stays_as_it_was(self) -> None:
        greedy = {'search': SearchName.GREEDY}
        self.assertEqual(
            moves(plan(three(), **greedy)),
            moves(plan(self.half_empty(), **greedy)),
        )

    def test_it_is_the_last_to_take_what_is_drained(self) -> None:
        """h3 is begun, and fuller than h2, which is fuller than h1."""
        snapshot = self.half_empty()
        asked = {'evacuate': True, 'drain_hosts': ['h1'], 'rebalance': False}
        result = plan(snapshot, **asked)
        self.assertEqual([('a', 'h1', 'h2')], moves(result))
        snapshot.hosts['h2'].closed = 'for the test'
        self.assertEqual([('a', 'h1', 'h3')], moves(plan(snapshot, **asked)))


class TestLots(base.BaseTestCase):
    def test_never_fewer_hosts_and_no_rule_broken(self) -> None:
        """And never more than can be emptied."""
        better = moves = 0
        for seed in range(LOTS):
            snapshot, policies, settings = packed(seed)
            greedy, best = (
                propose(
                    [snapshot],
                    policies,
                    dataclasses.replace(settings, search=search),
                ).scopes[0]
                for search in (SearchName.GREEDY, SearchName.BEST)
            )
            asked = dataclasses.replace(settings, search=SearchName.BEST)
            judge = legality.Judge(snapshot, policies, asked)
            self.assertEqual([], judge.faults(best), seed)
            self.assertLessEqual(_in_use(best)[1], _in_use(greedy)[1], seed)
            moves += len(best.steps)
            better += _in_use(best)[1] < _in_use(greedy)[1]
            if best.packing is not None:
                self.assertLessEqual(
                    best.packing.emptied, best.packing.at_most
                )
        self.assertGreater(better, 3)
        self.assertGreater(moves, LOTS // 2)

    def test_what_is_begun_takes_nothing(self) -> None:
        begun = moves = 0
        for seed in range(LOTS):
            snapshot, policies, settings = packed(seed)
            settings.search = SearchName.BEST
            snapshot.taken_at = 1e6
            rng = random.Random(seed)
            hosts = sorted(snapshot.hosts)
            for uuid in sorted(snapshot.instances)[:2]:
                source = rng.choice(hosts)
                destination = snapshot.instances[uuid].host
                snapshot.events.append(
                    Event(
                        uuid,
                        source,
                        destination,
                        Outcome.MOVED,
                        1e5,
                        Origin.WATCHER,
                        phase='pack',
                    )
                )
            (result,) = propose([snapshot], policies, settings).scopes
            judge = legality.Judge(snapshot, policies, settings)
            self.assertEqual([], judge.faults(result), seed)
            moves += len(result.steps)
            names = {one.source for one in snapshot.events}
            begun += sum(step.source in names for step in result.steps)
        self.assertGreater(moves, LOTS // 2)
        self.assertGreater(begun, moves // 3)


def _in_use(result: AggregateResult) -> tuple[int, int]:
    return result.hosts_in_use_before, result.hosts_in_use_after
