# SPDX-License-Identifier: Apache-2.0
"""Which hosts can be helped, and how even these can become? By trying all.

Plain Python over numbers; nothing of the searches. A host can be helped where
one legal move leaves both of its ends nearer to the others. Of the hosts at
an end that cannot, those go out first that keep the others farther apart.
"""

from collections.abc import Iterator

from kronos.engine.simulation.simulation import Simulation

SAME = 1e-9
Placement = tuple[int, ...]


class Helped:
    """One scope before its spreading."""

    def __init__(self, simulation: Simulation) -> None:
        utilization = simulation.utilization
        self._base = utilization.scores.tolist()
        self._usage = utilization.usage.tolist()
        self._weights = utilization.weights.tolist()
        self.thresholds = utilization.thresholds.tolist()
        self._hosts = range(len(utilization.counts))
        self.start: Placement = tuple(simulation.placement.host_of.tolist())
        self._allowed = {
            one: [
                host
                for host in self._hosts
                if not simulation.constraints.why_not(one, host)
            ]
            for one in range(len(self.start))
            if simulation.movable[one]
        }

    def scores(self, p: int, at: Placement) -> list[float]:
        found = list(self._base[p])
        for one, host in enumerate(at):
            if host != self.start[one]:
                found[self.start[one]] -= self._usage[p][one]
                found[host] += self._usage[p][one]
        return found

    def width(self, p: int, at: Placement, hosts: set[int]) -> float:
        values = self.scores(p, at)
        return max(values[h] for h in hosts) - min(values[h] for h in hosts)

    def rest(self, p: int, at: Placement) -> set[int]:
        """The hosts that a policy is judged by."""
        values, left = self.scores(p, at), set(self._hosts)
        while self.width(p, at, left) > self.thresholds[p] + SAME:
            ends = []
            for sign in (1, -1):
                top = max(sign * values[h] for h in left)
                end = {h for h in left if sign * values[h] >= top - SAME}
                stuck = {h for h in end if not self._helps(p, at, h, sign)}
                if stuck and stuck != left:
                    narrower = self.width(p, at, left - stuck)
                    ends.append((narrower / len(stuck), len(stuck), stuck))
            if not ends:
                break
            left -= min(ends, key=lambda end: end[:2])[2]
        return left

    def _helps(self, p: int, at: Placement, host: int, sign: int) -> bool:
        value = sign * self.scores(p, at)[host]
        for one, to in self.moves(at):
            if host not in (at[one], to) or (sign > 0) != (host == at[one]):
                continue
            after = self.scores(p, _moved(at, one, to))
            ends = sign * after[at[one]], sign * after[to]
            if max(ends) < value - SAME:
                worth = self._weights[p] * (value - max(ends))
                every = set(self._hosts)
                worth += sum(
                    self._weights[q]
                    * (
                        self.width(q, at, every)
                        - self.width(q, _moved(at, one, to), every)
                    )
                    for q in range(len(self._weights))
                    if q != p
                )
                if worth > SAME:
                    return True
        return False

    def moves(self, at: Placement) -> Iterator[tuple[int, int]]:
        """Legal ones to which no policy objects, each server once."""
        every = set(self._hosts)
        for one, hosts in self._allowed.items():
            if at[one] != self.start[one]:
                continue
            for to in hosts:
                after = _moved(at, one, to)
                if to != at[one] and not any(
                    self.width(p, after, every)
                    > max(self.width(p, at, every), most) + SAME
                    for p, most in enumerate(self.thresholds)
                ):
                    yield one, to

    def combined(self, at: Placement, rests: list[set[int]]) -> float:
        return sum(
            weight * self.width(p, at, rests[p])
            for p, weight in enumerate(self._weights)
        )

    def lowest(self, rests: list[set[int]], moves: int) -> float:
        """The least combined imbalance of some hosts after so many moves."""
        found = self.combined(self.start, rests)
        reached = {self.start}
        for _ in range(moves):
            reached = {
                _moved(at, one, to)
                for at in reached
                for one, to in self.moves(at)
            }
            for at in reached:
                found = min(found, self.combined(at, rests))
        return found


def _moved(at: Placement, one: int, to: int) -> Placement:
    return (*at[:one], to, *at[one + 1 :])
