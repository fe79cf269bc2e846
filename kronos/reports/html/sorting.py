# SPDX-License-Identifier: Apache-2.0
"""The sorting of long tables, without a script.

Each row has its rank in every order as a property of its style; a radio button
says which of them counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.reports.html import formatting
from kronos.reports.html.hosts import HostFigures

FEW = 12
"""Rows that can be taken in at a glance and need no sorting."""

Ranks = list[int | None]


@dataclass
class Sorting:
    labels: list[str]
    """Of the orders that can be chosen; the first is that of the rows."""
    styles: list[str]
    """Of each row: the ranks as ``--1``, ``--2``, ...; without, it is last."""


def ranks(values: Sequence[Any], highest_first: bool = False) -> Ranks:
    """The place of each value, from 1: equal ones share it, None has none."""
    distinct = {value for value in values if value is not None}
    order = sorted(distinct, reverse=highest_first)
    place = {value: rank for rank, value in enumerate(order, start=1)}
    return [place.get(value) for value in values]


def hosts(
    rows: Sequence[HostFigures], policies: Sequence[str], has_places: bool
) -> Sorting | None:
    """Orders of the table of hosts, which is by name.

    :param policies: names of those that the rows have values of
    :param has_places: whether it is known what is on the hosts
    :returns: None if the table is short, or has no figures
    """
    orders = []
    if has_places:
        orders.append(('servers', _highest_first(row.after for row in rows)))
    for index, name in enumerate(policies):
        seen = (_seen(*row.values[index]) for row in rows)
        orders.append((name, _highest_first(seen)))
    counts = [len(row.leaving) + len(row.coming) or None for row in rows]
    if any(counts):
        orders.append(('moves', _highest_first(counts)))
    return _sorting('name', orders, len(rows))


def moves(steps: Sequence[Mapping[str, Any]], evens: bool) -> Sorting | None:
    """Orders of the table of moves, which is that of the plan.

    :param evens: whether moves are made for what they gain
    :returns: None if the table is short
    """
    names = [step['instance_name'] or step['instance'] for step in steps]
    phases = [step['phase'] for step in steps]
    gains = [step.get('gain') for step in steps]
    orders = [
        ('server', ranks(names)),
        ('from', ranks([step['source'] for step in steps])),
        ('to', ranks([step['destination'] for step in steps])),
    ]
    if len(set(phases)) > 1:
        orders.append(('why', ranks(phases)))
    orders.append(
        ('memory', _highest_first(step['memory_mb'] for step in steps))
    )
    if evens and any(gain is not None for gain in gains):
        orders.append(('gain', _highest_first(gains)))
    return _sorting('order of the plan', orders, len(steps))


def _highest_first(values: Iterable[float | None]) -> Ranks:
    numbers = [
        value if formatting.is_number(value) else None for value in values
    ]
    return ranks(numbers, highest_first=True)


def _seen(before: float | None, after: float | None) -> float | None:
    """What the cell of a host ends with."""
    return before if after is None else after


def _sorting(
    own: str, orders: Sequence[tuple[str, Ranks]], rows: int
) -> Sorting | None:
    if rows <= FEW or not orders:
        return None
    styles = []
    for row in range(rows):
        numbered = [
            (number, by[row]) for number, (_, by) in enumerate(orders, start=1)
        ]
        styles.append(
            ';'.join(
                f'--{number}:{rank}'
                for number, rank in numbered
                if rank is not None
            )
        )
    return Sorting([own, *(label for label, _ in orders)], styles)
