# SPDX-License-Identifier: Apache-2.0
"""The view of a document: what is shown, in the order of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.reports import parts, thresholds
from kronos.reports.html import (
    bars,
    effect_bars,
    grouping,
    hosts,
    limits,
    naming,
    sankey,
    sorting,
    unmoved,
)
from kronos.reports.html.hosts import HostFigures, ZoneFigures

MOVES = 500
"""Moves that have a row in the table."""
LISTED = 100
"""Warnings, and hosts that take no part, that are listed."""
_SAYS = {
    'balanced': 'Balanced',
    'budget': 'Budget used',
    'cooldown': 'Cooling down',
    'done': 'Done',
    'exclusions_unknown': 'Hosts at fault unknown',
    'no_policy': 'No usable policy',
    'no_services': 'Services unknown',
    'packed': 'Packed',
    'stuck': 'Stuck',
    'too_few_hosts': 'Too few hosts',
    'window': 'Window closed',
    'window_too_short': 'Window too short',
    'window_unusable': 'Window unusable',
}
_GOOD = frozenset({'balanced', 'done', 'packed'})
_BAD = frozenset(
    {
        'exclusions_unknown',
        'no_policy',
        'no_services',
        'stuck',
        'too_few_hosts',
        'window_unusable',
    }
)
"""Why planning ended, as the colour of its words."""
_PHASES = {
    'affinity': 'repair of a server group',
    'evacuate': 'drain of a host',
    'pack': 'pack',
    'relieve': 'relief of a host',
    'spread': 'spread',
}


@dataclass
class MoveRow:
    number: int
    uuid: str
    name: str
    source: str
    destination: str
    source_zone: str
    destination_zone: str
    phase: str
    why: str
    """In words; empty in old reports."""
    memory_mb: int
    seconds: float
    """That it is expected to take; 0 in old reports, and if not known."""
    requires: str
    """Name of the instance whose move must have succeeded before."""
    imbalances: list[float]
    """After it, by policy in use."""
    combined: float


@dataclass
class Scope:
    """One scope; ``plan`` is its row of the document, for plain values."""

    number: int
    plan: Mapping[str, Any]
    outcome: str
    colour: str
    """Of the outcome: good, bad, or '' for neither."""
    over: thresholds.Change
    """The policies over their thresholds."""
    certified: str
    """What no plan gets below, as a sentence; '' where nothing is said."""
    rest: str
    """Which hosts no migration helps, and how even the others are; '' where
    none was set aside."""
    policies: list[bars.Figure]
    used: list[str]
    """Names of the policies with values."""
    fills: bool
    """Whether hosts are to be filled, and others emptied."""
    moves: list[MoveRow]
    move_sorting: sorting.Sorting | None
    flow: sankey.Flow | None
    hosts: list[HostFigures]
    host_sorting: sorting.Sorting | None
    zones: list[ZoneFigures]
    has_places: bool
    groups: grouping.Groups | None
    drains: list[unmoved.DrainedHost]
    staying: unmoved.Staying
    limits: limits.Limits | None
    effects: list[effect_bars.EffectFigure]
    """Of earlier plans."""
    added: Mapping[str, Any]
    """What the sections of extensions draw."""


def scopes(document: Mapping[str, Any]) -> list[Scope]:
    """:raises ValueError: if the document is of another format"""
    if document.get('format_version') != 1:
        raise ValueError(
            "the report's format_version must be the number 1, the only "
            f'supported version; it is {document.get("format_version")!r}'
        )
    return [
        _scope(number, row)
        for number, row in enumerate(document['scopes'], start=1)
    ]


def phase(name: str) -> str:
    of_parts = (part.phases.get(name) for part in parts.every())
    return _PHASES.get(name) or next(filter(None, of_parts), name)


def _outcome(stopped: str) -> tuple[str, str]:
    """Why planning ended, and the colour of that."""
    for part in parts.every():
        if stopped in part.stops:
            return part.stops[stopped], 'bad'
    colour = {stopped in _GOOD: 'good', stopped in _BAD: 'bad'}.get(True, '')
    return _SAYS.get(stopped, stopped), colour


def _certified(row: Mapping[str, Any]) -> str:
    """How good the plan is; '' where nobody knows, or an older report."""
    certificate = row.get('certificate') or row.get('packing') or {}
    text: str = certificate.get('text', '')
    return text


def _scope(number: int, row: Mapping[str, Any]) -> Scope:
    where = hosts.instance_hosts(row)
    row = naming.named(row, where.names)
    figures = [bars.figure(policy) for policy in row['policies']]
    used = [figure.name for figure in figures if figure.bars]
    rows = hosts.hosts(row, where, used)
    steps = row['steps']
    zone_of = {row.name: row.zone for row in rows}
    fills = any(figure.fills for figure in figures)
    outcome, colour = _outcome(row['stopped'])
    return Scope(
        number=number,
        plan=row,
        outcome=outcome,
        colour=colour,
        over=thresholds.of_row(row),
        certified=_certified(row),
        rest=(row.get('rest') or {}).get('text', ''),
        policies=figures,
        used=used,
        fills=fills,
        moves=_moves(steps, zone_of),
        move_sorting=sorting.moves(steps[:MOVES], evens=not fills),
        flow=sankey.flow(steps, zone_of),
        hosts=rows,
        host_sorting=sorting.hosts(rows, used, where.is_known),
        zones=hosts.zones(rows, steps),
        has_places=where.is_known,
        groups=grouping.groups(row, where),
        drains=unmoved.drains(row, where),
        staying=unmoved.staying(row, where),
        limits=limits.limits(row, where),
        effects=effect_bars.figures(row.get('effect')),
        added={
            name: figure
            for part in parts.every()
            for name, figure in part.figures(row).items()
        },
    )


def _moves(
    steps: Sequence[Mapping[str, Any]], zone_of: Mapping[str, str]
) -> list[MoveRow]:
    names = {
        step['instance']: step['instance_name'] or step['instance']
        for step in steps
    }
    return [
        MoveRow(
            number=number,
            uuid=step['instance'],
            name=step['instance_name'],
            source=step['source'],
            destination=step['destination'],
            source_zone=zone_of.get(step['source'], ''),
            destination_zone=zone_of.get(step['destination'], ''),
            phase=phase(step['phase']),
            why=step.get('why', ''),
            memory_mb=step['memory_mb'],
            seconds=step.get('seconds', 0.0),
            requires=names.get(step['requires'], step['requires']),
            imbalances=list(step['imbalance_after'].values()),
            combined=step['combined_after'],
        )
        for number, step in enumerate(steps[:MOVES], start=1)
    ]
