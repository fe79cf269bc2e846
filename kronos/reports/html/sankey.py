# SPDX-License-Identifier: Apache-2.0
"""The Sankey diagram: who goes where, from the left to the right."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.reports.html import formatting

ENDS = 28
"""So many hosts a side can still be followed; the rest become one row."""
ROW = 38
"""Pixels of a row; the template's style has the same."""
NUMBERS = 6
"""Moves that are named beside a host."""
SWEEPS = 4
"""Times that a side is sorted by the other, for fewer crossings."""


@dataclass
class End:
    """A host on one side."""

    host: str
    """Empty: all hosts that have no row of their own."""
    zone: str
    numbers: list[int] = field(default_factory=list)
    """Of its moves, from 1; as in the table."""
    others: int = 0
    """Hosts that this row stands for, if it has no name."""

    @property
    def named(self) -> str:
        text = ' '.join(f'#{number}' for number in self.numbers[:NUMBERS])
        more = len(self.numbers) - NUMBERS
        return f'{text} +{formatting.whole(more)}' if more > 0 else text


@dataclass
class Link:
    """The moves of one phase from one row to another."""

    phase: str
    count: int
    path: formatting.Drawing
    stroke: float
    """Pixels."""


@dataclass
class Flow:
    sources: list[End]
    destinations: list[End]
    links: list[Link]
    phases: list[str]
    height: int
    """Pixels."""
    top_left: int
    """Pixels above the first row, and ``top_right`` the same."""
    top_right: int
    number_sources: int
    number_destinations: int


_Pair = tuple[str, str, str]


def flow(
    steps: Sequence[Mapping[str, Any]], zones: Mapping[str, str]
) -> Flow | None:
    """:param zones: by host; None if nothing is moved"""
    if not steps:
        return None
    lefts = _ends([step['source'] for step in steps], zones)
    rights = _ends([step['destination'] for step in steps], zones)
    pairs: Counter[_Pair] = Counter()
    for step in steps:
        source = step['source'] if step['source'] in lefts else ''
        destination = (
            step['destination'] if step['destination'] in rights else ''
        )
        pairs[source, destination, step['phase']] += 1
    left_order, right_order = _untangle(list(lefts), list(rights), pairs)
    rows = max(len(left_order), len(right_order))
    tops = [
        (rows - len(order)) * ROW // 2 for order in (left_order, right_order)
    ]
    return Flow(
        sources=[lefts[host] for host in left_order],
        destinations=[rights[host] for host in right_order],
        links=_links(pairs, left_order, right_order, tops),
        phases=list(dict.fromkeys(step['phase'] for step in steps)),
        height=rows * ROW,
        top_left=tops[0],
        top_right=tops[1],
        number_sources=len({step['source'] for step in steps}),
        number_destinations=len({step['destination'] for step in steps}),
    )


def _ends(hosts: list[str], zones: Mapping[str, str]) -> dict[str, End]:
    """The rows of a side by host, those beyond :data:`ENDS` under ''."""
    most = Counter(hosts).most_common()
    own = most if len(most) <= ENDS else most[: ENDS - 1]
    ends = {host: End(host, zones.get(host, '')) for host, _ in own}
    if len(own) < len(most):
        ends[''] = End('', '', others=len(most) - len(own))
    for number, host in enumerate(hosts, start=1):
        ends[host if host in ends else ''].numbers.append(number)
    return ends


def _untangle(
    lefts: list[str], rights: list[str], pairs: Mapping[_Pair, int]
) -> tuple[list[str], list[str]]:
    """Sort each side by the middle of its partners, the rest last."""
    lefts, rights = sorted(lefts), sorted(rights)
    for _ in range(SWEEPS):
        rights.sort(key=_middle(lefts, pairs, 0))
        lefts.sort(key=_middle(rights, pairs, 1))
    return lefts, rights


def _middle(
    partners: list[str], pairs: Mapping[_Pair, int], side: int
) -> Callable[[str], tuple[bool, float]]:
    """:param side: of a pair, where the partners stand"""
    place = {host: index for index, host in enumerate(partners)}
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for pair, count in pairs.items():
        own = pair[1 - side]
        sums[own] = sums.get(own, 0.0) + place[pair[side]] * count
        counts[own] = counts.get(own, 0) + count
    return lambda host: (host == '', sums[host] / counts[host])


def _links(
    pairs: Mapping[_Pair, int],
    lefts: list[str],
    rights: list[str],
    tops: list[int],
) -> list[Link]:
    source_rows = {host: index for index, host in enumerate(lefts)}
    destination_rows = {host: index for index, host in enumerate(rights)}
    links = []
    for (source, destination, phase), count in sorted(
        pairs.items(), key=lambda pair: -pair[1]
    ):
        start = tops[0] + source_rows[source] * ROW + ROW // 2
        end = tops[1] + destination_rows[destination] * ROW + ROW // 2
        path = f'M0 {start}C50 {start} 50 {end} 100 {end}'
        stroke = min(2.0 + 1.5 * (count - 1), ROW * 0.6)
        links.append(Link(phase, count, formatting.Drawing(path), stroke))
    return links
