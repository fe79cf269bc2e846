# SPDX-License-Identifier: Apache-2.0
"""Does a swap leave things better, whole and half, and is none missed?"""

import itertools
import random
from collections.abc import Iterator

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings, SwapMoves
from kronos.engine.types import AggregateResult, Snapshot, StopReason
from kronos.policies.models import Policy
from tests.builders import scopes
from tests.builders.scopes import policy, vm
from tests.unit.engine.oracles import legality

CASES = 300
SAME = 1e-9
Scores = dict[str, list[float]]


def opposite(seed: int) -> tuple[Snapshot, list[Policy]]:
    """Hosts of which each is hot by another policy, and few servers."""
    rng = random.Random(seed)
    policies = [
        policy(name, 0.5, threshold=rng.choice([0.05, 0.1, 0.2]))
        for name in ('cpu', 'ram')
    ]
    names = [f'h{n}' for n in range(rng.randint(2, 3))]
    vms = []
    for at, host in enumerate(names):
        for n in range(rng.randint(1, 3)):
            usage = [rng.choice([0.02, 0.05, 0.1]) for _ in policies]
            usage[at % 2] += rng.choice([0.05, 0.1, 0.2])
            vms.append(vm(f'v{at}{n}', host, usage))
    hosts = {
        host: [sum(u[p] for one, u in vms if one.host == host) for p in (0, 1)]
        for host in names
    }
    return scopes.scope(policies, hosts, vms), policies


def plan(seed: int, how: SwapMoves) -> AggregateResult:
    snapshot, policies = opposite(seed)
    settings = Settings(max_migrations=8, swap_moves=how, plateau_moves=False)
    result = propose([snapshot], policies, settings).scopes[0]
    faults = legality.Judge(snapshot, policies, settings).faults(result)
    assert not faults, (seed, faults)
    return result


class Brute:
    """All exchanges that are left at the end of a plan, one by one."""

    def __init__(self, seed: int, result: AggregateResult) -> None:
        snapshot, self._policies = opposite(seed)
        moved = {step.instance: step.destination for step in result.steps}
        self._free = sorted(set(snapshot.instances) - set(moved))
        self._at = {
            uuid: moved.get(uuid, one.host)
            for uuid, one in snapshot.instances.items()
        }
        self._scores: Scores = {
            host: [
                next(s.after for s in one.scores if s.host == host)
                for one in result.policies
            ]
            for host in snapshot.hosts
        }
        self._usage = {
            uuid: [
                next(
                    sample.value
                    for sample in reading.profile.samples
                    if sample.label == uuid
                )
                for reading in snapshot.readings.values()
                if reading.profile is not None
            ]
            for uuid in snapshot.instances
        }

    def swaps(self) -> Iterator[bool]:
        """Of each that helps and meets no objection, if it is safe."""
        start = self._widths(self._scores)
        limits = [one.threshold for one in self._policies]
        for first, second in itertools.combinations(self._free, 2):
            if self._at[first] == self._at[second]:
                continue
            both = [
                self._widths(self._moved(self._scores, pair))
                for pair in (
                    [(first, second)],
                    [(second, first)],
                    [(first, second), (second, first)],
                )
            ]
            *halves, whole = both
            columns = list(zip(start, limits, whole, strict=True))
            if sum(start) <= sum(whole) + 2 * SAME or any(
                after > max(before, limit) + SAME
                for before, limit, after in columns
            ):
                continue
            yield any(
                all(
                    between <= self._most(before, limit) + SAME
                    for before, limit, between in zip(
                        start, limits, half, strict=True
                    )
                )
                for half in halves
            )

    @staticmethod
    def _most(before: float, limit: float) -> float:
        """What is over its threshold may double, but not above 1."""
        if before <= limit + SAME:
            return limit
        return max(before, min(2.0 * before, 1.0))

    def _moved(self, scores: Scores, pairs: list[tuple[str, str]]) -> Scores:
        """Each first one goes to where the second one is."""
        found = {host: list(values) for host, values in scores.items()}
        for uuid, other in pairs:
            for p, used in enumerate(self._usage[uuid]):
                found[self._at[uuid]][p] -= used
                found[self._at[other]][p] += used
        return found

    def _widths(self, scores: Scores) -> list[float]:
        columns = zip(*scores.values(), strict=True)
        return [max(column) - min(column) for column in columns]


class TestSwaps(base.BaseTestCase):
    def test_whole_and_half(self) -> None:
        """The judge looks at both; safe ones are fewer, but not all."""
        number = {}
        for how in SwapMoves:
            steps = [s for n in range(CASES) for s in plan(n, how).steps]
            number[how] = sum(bool(step.requires) for step in steps)
        self.assertEqual(0, number[SwapMoves.NONE])
        self.assertGreater(number[SwapMoves.SAFE], CASES // 10)
        self.assertGreater(number[SwapMoves.ANY], number[SwapMoves.SAFE])

    def test_none_is_missed(self) -> None:
        told = 0
        for seed in range(CASES):
            result = plan(seed, SwapMoves.SAFE)
            if result.stopped is StopReason.STUCK and len(result.steps) < 7:
                left = list(Brute(seed, result).swaps())
                self.assertNotIn(True, left, seed)
                told += bool(left)
                self.assertEqual(
                    bool(left), '(swap_moves is safe)' in result.reason, seed
                )
        self.assertGreater(told, CASES // 20)

    def test_what_it_was_as_a_flag(self) -> None:
        self.assertIs(SwapMoves.SAFE, SwapMoves(True))
        self.assertIs(SwapMoves.NONE, SwapMoves(False))
        self.assertRaises(ValueError, SwapMoves, 'maybe')
