# SPDX-License-Identifier: Apache-2.0
"""The bars of slots on a page: each host before and after the plan.

As many hosts have a bar as with policies, and by the same rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kronos.reports.html import bars, scale
from kronos.reports.html.scale import Scale


@dataclass
class SlotBar:
    """A host; ``x`` are units of the scale."""

    host: str
    before: int
    after: int
    x_before: float
    x_after: float
    gap: int
    """Hosts between this and the bar before it that have none."""


@dataclass
class SlotFigure:
    """What is drawn of one flavor."""

    flavor: str
    target: int
    """0: as many as possible."""
    before: int
    after: int
    by_sum: int
    scale: Scale
    hosts: int
    with_slots_before: int
    """Hosts that have at least one."""
    with_slots_after: int
    bars: list[SlotBar] = field(default_factory=list)
    gap: int = 0
    """Hosts below the last bar that have none."""


def figures(outcome: Mapping[str, Any] | None) -> list[SlotFigure]:
    """A figure for each wanted flavor.

    :param outcome: ``room`` of a scope of the document; None: none was made
    """
    if outcome is None:
        return []
    by_host = outcome.get('by_host', {})
    return [
        _figure(flavor, outcome, rows)
        for flavor, rows in by_host.items()
        if rows
    ]


def _figure(
    flavor: str,
    outcome: Mapping[str, Any],
    by_host: list[Mapping[str, Any]],
) -> SlotFigure:
    rows = [{**row, 'value': row['before']} for row in by_host]
    rows.sort(key=lambda row: (-row['before'], -row['after'], row['host']))
    figure = SlotFigure(
        flavor=flavor,
        target=outcome['wanted'][flavor],
        before=outcome['before'][flavor],
        after=outcome['after'][flavor],
        by_sum=outcome['by_sum'][flavor],
        scale=scale.scale(
            (max(row['before'], row['after']) for row in rows), least_step=1.0
        ),
        hosts=len(rows),
        with_slots_before=sum(row['before'] > 0 for row in rows),
        with_slots_after=sum(row['after'] > 0 for row in rows),
    )
    last = -1
    for index in bars.standing_out(rows, has_after=True):
        figure.bars.append(_bar(figure.scale, rows[index], index - last - 1))
        last = index
    figure.gap = len(rows) - 1 - last
    return figure


def _bar(axis: Scale, row: Mapping[str, Any], gap: int) -> SlotBar:
    return SlotBar(
        row['host'],
        row['before'],
        row['after'],
        axis.position(row['before']),
        axis.position(row['after']),
        gap,
    )
