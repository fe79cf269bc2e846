# SPDX-License-Identifier: Apache-2.0
"""The bars of a policy: each host before and after the plan.

Up to :data:`ALL` hosts have a bar each. Of more, those do that stand out,
and an overview has all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.reports.html import formatting
from kronos.reports.html import overview as overviews
from kronos.reports.html import scale as scales
from kronos.reports.html.scale import Band, Scale

ALL = 48
"""So many bars with names can still be looked through."""
HIGHEST, LOWEST, CHANGED = 8, 4, 8
"""Hosts of a larger scope that have a bar each, of every kind."""
SMALL_GAP = 3
"""So few hosts between two bars have theirs, too."""


@dataclass
class Bar:
    """A host; values are ratios, ``x`` units of the scale."""

    host: str
    before: float
    after: float | None
    x_before: float
    x_after: float
    over_before: bool
    over_after: bool
    gap: int = 0
    """Hosts between this and the bar before it that have none."""


@dataclass
class Figure:
    """What is drawn and told of one policy."""

    name: str
    weight: float
    threshold: float
    fills: bool
    """Whether hosts are to be filled: then no threshold counts."""
    ceiling: float
    """``capacity_threshold``, up to which they may be."""
    skipped: str
    health: str
    imbalance_before: float
    imbalance_after: float
    missing_hosts: list[str]
    unmatched_labels: list[str]
    scale: Scale
    before: Band | None = None
    after: Band | None = None
    """None, too, if the report is too old to tell."""
    bars: list[Bar] = field(default_factory=list)
    hosts: int = 0
    gap: int = 0
    """Hosts below the last bar that have none."""
    overview: overviews.Overview | None = None

    @property
    def is_content_before(self) -> bool:
        return self.imbalance_before <= self.threshold + formatting.EPSILON

    @property
    def is_content_after(self) -> bool:
        return self.imbalance_after <= self.threshold + formatting.EPSILON


def figure(policy: Mapping[str, Any]) -> Figure:
    """:param policy: of a scope of the document"""
    threshold, fills = policy['threshold'], policy.get('mode') == 'pack'
    width = None if fills else threshold
    rows = [
        row for row in policy['scores'] if formatting.is_number(row['value'])
    ]
    rows.sort(key=lambda row: (-row['value'], row['host']))
    befores = [row['value'] for row in rows]
    afters = [row.get('after') for row in rows]
    is_complete = all(formatting.is_number(after) for after in afters)
    before = scales.band(befores, width)
    after = scales.band(afters, width) if is_complete else None
    ceiling = policy.get('capacity_threshold', 1.0)
    ends = _ends(before, after, ceiling if fills else None)
    drawn = Figure(
        name=policy['name'],
        weight=policy['weight'],
        threshold=threshold,
        fills=fills,
        ceiling=ceiling,
        skipped=policy['skipped'],
        health=policy['health'],
        imbalance_before=policy['imbalance_before'],
        imbalance_after=policy['imbalance_after'],
        missing_hosts=policy['missing_hosts'],
        unmatched_labels=policy['unmatched_labels'],
        scale=scales.scale(ends),
        before=before,
        after=after,
        hosts=len(rows),
    )
    if before is not None:
        _draw(drawn, before, rows)
        if len(rows) > ALL:
            drawn.overview = overviews.overview(
                befores, afters if is_complete else [], before, after
            )
    return drawn


def _ends(
    before: Band | None, after: Band | None, ceiling: Any
) -> list[float]:
    """What the scale has to reach."""
    ends = [
        end
        for band in (before, after)
        if band
        for end in (band.highest, band.ceiling)
    ]
    if ends and formatting.is_number(ceiling):
        ends.append(ceiling)
    return ends


def _draw(drawn: Figure, before: Band, rows: list[Mapping[str, Any]]) -> None:
    last = -1
    after = drawn.after
    for index in standing_out(rows, after is not None):
        row = rows[index]
        value = row['after'] if after else None
        drawn.bars.append(
            Bar(
                host=row['host'],
                before=row['value'],
                after=value,
                x_before=drawn.scale.position(row['value']),
                x_after=drawn.scale.position(value or 0.0),
                over_before=before.over(row['value']),
                over_after=after is not None and after.over(row['after']),
                gap=index - last - 1,
            )
        )
        last = index
    drawn.gap = len(rows) - 1 - last


def standing_out(
    rows: Sequence[Mapping[str, Any]], has_after: bool
) -> list[int]:
    """Positions, in order, of the hosts that have a bar.

    :param rows: the highest first, each with its ``value`` and ``after``
    """
    every = range(len(rows))
    if len(rows) <= ALL:
        return list(every)
    chosen = {*every[:HIGHEST], *every[-LOWEST:]}
    if has_after:
        by_after = sorted(every, key=lambda index: -rows[index]['after'])
        changes = [abs(row['after'] - row['value']) for row in rows]
        by_change = sorted(every, key=lambda index: -changes[index])
        chosen |= {*by_after[:HIGHEST], *by_after[-LOWEST:]}
        chosen |= {
            index
            for index in by_change[:CHANGED]
            if changes[index] > formatting.EPSILON
        }
    return _filled(sorted(chosen))


def _filled(chosen: list[int]) -> list[int]:
    """Without gaps that are hardly worth a line."""
    indexes = chosen[:1]
    for index in chosen[1:]:
        if index - indexes[-1] - 1 <= SMALL_GAP:
            indexes.extend(range(indexes[-1] + 1, index))
        indexes.append(index)
    return indexes
