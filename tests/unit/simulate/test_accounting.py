# SPDX-License-Identifier: Apache-2.0
"""Do the sums over time say what happened?"""

import random
from typing import Any

import numpy as np
from oslotest import base

from kronos.simulate import accounting
from kronos.simulate.accounting import Accounting, Figures, Move

STEP = 300.0
HOUR, DAY = 3600.0, 86400.0


def moved(instance: int, source: int, destination: int, **more: Any) -> Move:
    return Move(
        instance,
        source,
        destination,
        **{'start_s': 0.0, 'seconds': 30.0, 'memory_mb': 1024.0, **more},
    )


def figures(
    accounts: Accounting,
    intervals: list[tuple[list[int], list[Move]]],
    usage: list[float],
    skip_s: float = 0.0,
) -> Figures:
    """Of intervals of so many hosts of instances that ask for the same."""
    use = np.array(usage)
    for host, moves in intervals:
        accounts.interval(use, use, np.array(host), moves, STEP)
    return accounts.figures(skip_s)


class Literal:
    """The definitions once more, second by second and server by server."""

    def __init__(self, capacity: list[float], core: list[float]) -> None:
        self.capacity, self.core = capacity, core
        self.joules = self.on = self.short = self.hot = self.full = 0.0
        self.usage = self.lacking = self.lacking_moving = 0.0

    def second(
        self,
        usage: dict[int, float],
        later: dict[int, float],
        place: dict[int, int],
        going: dict[int, int],
    ) -> None:
        """One in which nothing changes but what is asked for."""
        power = [0.0, 0.0]
        for at, use in enumerate((usage, later)):
            for host, most in enumerate(self.capacity):
                here = [one for one in place if place[one] == host]
                coming = [one for one in going if going[one] == host]
                if not here and not coming:
                    continue
                mine = {one: min(use[one], self.core[host]) for one in here}
                extra = [
                    0.1 * min(use[one], self.core[host]) for one in coming
                ]
                need = sum(mine.values()) + sum(extra)
                factor = min(1.0, most / need) if need else 1.0
                used = min(1.0, need * factor / most)
                power[at] += 100 + 100 * used
                if at == 0:
                    self.count(host, here, coming, use, mine, factor, going)
                    got = need * factor
                    lack = sum(use[one] for one in here + coming) - got
                    self.short += lack > 1e-9 * most
        self.joules += sum(power) / 2

    def count(
        self,
        host: int,
        here: list[int],
        coming: list[int],
        use: dict[int, float],
        mine: dict[int, float],
        factor: float,
        going: dict[int, int],
    ) -> None:
        load = sum(use[one] for one in here) / self.capacity[host]
        self.on += 1
        self.hot += load > 0.9
        self.full += load > 1.0
        for one in here:
            granted = mine[one] * factor * (0.9 if one in going else 1.0)
            self.usage += use[one]
            self.lacking += use[one] - granted
            self.lacking_moving += (use[one] - granted) * (one in going)


class TestLiteral(base.BaseTestCase):
    def test_the_same_as_second_by_second(self) -> None:
        """With births, deaths, failures and moves over several intervals."""
        for seed in range(12):
            with self.subTest(seed=seed):
                self.check(random.Random(seed))

    def check(self, rng: random.Random) -> None:
        hosts, servers, step = rng.randint(2, 4), rng.randint(1, 7), 20
        capacity = [rng.choice((2.0, 4.0)) for _ in range(hosts)]
        core = [rng.choice((1.0, 1.5)) for _ in range(hosts)]
        accounts = Accounting(
            capacity, lambda used: 100 + 100 * used, np.array(core)
        )
        literal = Literal(capacity, core)
        place = [rng.randrange(-1, hosts) for _ in range(servers)]
        ask = [rng.choice((0.2, 0.9, 1.7)) for _ in range(servers)]
        under_way: list[Move] = []
        for _ in range(6):
            then = [rng.choice((0.2, 0.9, 1.7)) for _ in range(servers)]
            free = [
                each
                for each in range(servers)
                if place[each] >= 0
                and each not in {move.instance for move in under_way}
            ]
            for each in rng.sample(free, min(2, len(free))):
                target = rng.choice(
                    [h for h in range(hosts) if h != place[each]]
                )
                start = rng.randrange(step)
                under_way.append(
                    Move(
                        each,
                        place[each],
                        target,
                        start,
                        rng.randrange(1, 2 * step),
                        fails=rng.random() < 0.3,
                    )
                )
            accounts.interval(
                np.array(ask), np.array(then), np.array(place), under_way, step
            )
            self.seconds(literal, ask, then, place, under_way, step)
            under_way = self.next(place, under_way, step)
            ask = then
            each = rng.randrange(servers)
            if each not in {move.instance for move in under_way}:
                place[each] = rng.randrange(hosts) if place[each] < 0 else -1
        self.compare(literal, accounts.figures())

    def seconds(
        self,
        literal: Literal,
        ask: list[float],
        then: list[float],
        place: list[int],
        moves: list[Move],
        step: int,
    ) -> None:
        """What is asked for counts as at the beginning of each piece."""
        edges = {0.0, float(step)}
        for move in moves:
            edges |= {move.start_s, move.end_s}
        cuts = sorted(edge for edge in edges if 0 <= edge <= step)
        for begin, end in zip(cuts, cuts[1:], strict=False):
            where = {
                each: host for each, host in enumerate(place) if host >= 0
            }
            going = {}
            for move in moves:
                if move.end_s <= begin and not move.fails:
                    where[move.instance] = move.destination
                if move.start_s <= begin < move.end_s:
                    going[move.instance] = move.destination

            uses = [
                {
                    each: ask[each] + (then[each] - ask[each]) * second / step
                    for each in where
                }
                for second in (begin, end)
            ]
            for _ in range(int(end - begin)):
                literal.second(uses[0], uses[1], where, going)

    def next(
        self, place: list[int], moves: list[Move], step: int
    ) -> list[Move]:
        """Those that go on, with everybody else where it is then."""
        result = []
        for move in moves:
            if move.end_s > step:
                result.append(
                    Move(
                        move.instance,
                        move.source,
                        move.destination,
                        move.start_s - step,
                        move.seconds,
                        fails=move.fails,
                    )
                )
            elif not move.fails:
                place[move.instance] = move.destination
        return result

    def compare(self, literal: Literal, result: Figures) -> None:
        for expected, value in (
            (literal.joules / 3.6e6, result.kwh),
            (literal.on / 3600, result.host_hours),
            (literal.short / literal.on, result.slatah),
            (literal.hot / 3600, result.hot_hours),
            (literal.full / 3600, result.full_hours),
            (literal.lacking / literal.usage, result.not_given),
            (literal.lacking_moving / literal.usage, result.pdm),
        ):
            self.assertAlmostEqual(expected, value, 9)


class TestCounts(base.BaseTestCase):
    """Two hosts of 4 cores, and two servers of one core."""

    def test_a_return_counts_for_a_day(self) -> None:
        for pause, returns in ((10, 1), (288, 0)):
            outward, back = moved(0, 0, 1), moved(0, 1, 0)
            result = figures(
                Accounting([4.0, 4.0]),
                [
                    ([0, 0], [outward]),
                    *[([1, 0], [])] * (pause - 1),
                    ([1, 0], [back]),
                    ([0, 0], []),
                ],
                [1.0, 1.0],
            )
            self.assertEqual((2, returns), (result.moves, result.returns))
            self.assertEqual((2, 2.0), (result.most_moves, result.gib))

    def test_a_third_host_is_no_return(self) -> None:
        result = figures(
            Accounting([4.0, 4.0, 4.0]),
            [([0, 0], [moved(0, 0, 1)]), ([1, 0], [moved(0, 1, 2)])],
            [1.0, 1.0],
        )
        self.assertEqual(0, result.returns)

    def test_whoever_dies_within_the_hour(self) -> None:
        for pause, gone in ((12, 1), (13, 0)):
            result = figures(
                Accounting([4.0, 4.0]),
                [
                    ([0, 0], [moved(0, 0, 1)]),
                    *[([1, 0], [])] * (pause - 1),
                    ([-1, 0], []),
                ],
                [1.0, 1.0],
            )
            self.assertEqual(
                (gone, float(gone)), (result.gone, result.gone_gib)
            )
            self.assertLess(result.instances, 2.0)

    def test_the_first_plan_can_be_left_out(self) -> None:
        runs = [([0, 0], [moved(0, 0, 1)]), ([1, 0], [moved(0, 1, 0)])]
        result = figures(Accounting([4.0, 4.0]), runs, [1.0, 1.0], STEP)
        self.assertEqual(1, result.moves)
        self.assertEqual(STEP / DAY, result.days)
        self.assertEqual(DAY / STEP, result.moves_per_day)
        self.assertEqual(DAY / STEP / 2, result.moves_per_instance_day)

    def test_a_failure_is_no_move(self) -> None:
        result = figures(
            Accounting([4.0, 4.0]),
            [([0, 0], [moved(0, 0, 1, fails=True)]), ([0, 0], [])],
            [1.0, 1.0],
        )
        self.assertEqual(
            (0, 1, 0.0), (result.moves, result.failed, result.gib)
        )
        self.assertEqual(0.5, result.spread)
        self.assertGreater(result.pdm, 0.0)

    def test_a_move_over_two_intervals_counts_once(self) -> None:
        slow = moved(0, 0, 1, seconds=450.0)
        rest = moved(0, 0, 1, start_s=-STEP, seconds=450.0)
        result = figures(
            Accounting([4.0, 4.0]),
            [([0, 0], [slow]), ([0, 0], [rest])],
            [1.0, 1.0],
        )
        self.assertEqual(1, result.moves)
        self.assertAlmostEqual(0.1 * 450 / 1200, result.pdm)
        # Both are apart after the second interval only.
        self.assertEqual(0.25, result.spread)

    def test_an_unknown_use_is_none(self) -> None:
        result = figures(
            Accounting([4.0, 4.0]), [([0, 1], [])], [float('nan'), 2.0]
        )
        self.assertEqual((0.5, 0.25), (result.spread, result.deviation))
        self.assertIsNone(result.kwh)
        self.assertIsNone(result.esv)

    def test_nothing_at_all(self) -> None:
        result = Accounting([4.0], lambda used: used).figures()
        self.assertEqual((0.0, 0, 0.0), (result.kwh, result.moves, result.esv))
        self.assertEqual(0.0, result.moves_per_day)
        self.assertEqual(0.0, result.moves_per_instance_day)


class TestDefinitions(base.BaseTestCase):
    """One host of 2 cores that has them whole, or two of one."""

    def test_a_full_host(self) -> None:
        result = figures(Accounting([2.0]), [([0, 0], [])] * 12, [2.0, 0.5])
        self.assertEqual((1.0, 1.0), (result.hot_hours, result.full_hours))
        self.assertAlmostEqual(0.2, result.not_given)
        self.assertEqual(1.0, result.slatah)

    def test_one_server_cannot_have_more_than_a_core(self) -> None:
        result = figures(
            Accounting([2.0], core=[1.0]), [([0], [])] * 12, [1.5]
        )
        self.assertAlmostEqual(1 / 3, result.not_given)
        self.assertEqual((0.0, 0.0), (result.hot_hours, result.full_hours))

    def test_load_changes_evenly(self) -> None:
        accounts = Accounting([1.0], lambda used: 1000 * used)
        accounts.interval(
            np.array([0.2]), np.array([0.6]), np.array([0]), [], HOUR
        )
        self.assertAlmostEqual(0.4, accounts.figures().kwh)

    def test_an_empty_host_is_off(self) -> None:
        accounts = Accounting([1.0, 1.0], lambda used: 1000 + used)
        accounts.interval(
            np.array([0.0]), np.array([0.0]), np.array([1]), [], HOUR
        )
        self.assertAlmostEqual(1.0, accounts.figures().kwh)
        self.assertEqual(1.0, accounts.figures().hosts_in_use)

    def test_what_takes_a_server_in_is_on(self) -> None:
        accounts = Accounting([1.0, 1.0], lambda used: 1000.0 + 0 * used)
        move = moved(0, 0, 1, seconds=900.0)
        accounts.interval(
            np.array([0.5]), np.array([0.5]), np.array([0]), [move], HOUR
        )
        self.assertAlmostEqual(1.25, accounts.figures().kwh)
        lacking = accounting.OVERHEAD * 0.25
        self.assertAlmostEqual(lacking, accounts.figures().pdm)
