# SPDX-License-Identifier: Apache-2.0
"""The dashboard in ``deploy/grafana``, read as Grafana reads it."""

import json
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests import places

FILE = places.TOP / 'deploy' / 'grafana' / 'kronos.json'
ALERTS = places.TOP / 'deploy' / 'prometheus' / 'kronos-alerts.yml'
COLUMNS = 24
"""Of Grafana's grid."""
ALL = '.*'
"""What the variable of the scope is if all are chosen."""
_VARIABLE = re.compile(r'\$(?:\{(\w+)(?::\w+)?\}|(\w+))')


@dataclass
class Query:
    """A query of a panel."""

    expression: str
    legend: str
    """With ``{{label}}``; '' names no series."""
    instant: bool


@dataclass
class Panel:
    """A panel, with the place that Grafana gives it."""

    number: int
    kind: str
    """``timeseries``, ``stat``, ``bargauge``, ``table`` or ``row``."""
    title: str
    description: str
    left: int
    top: int
    width: int
    height: int
    unit: str = ''
    queries: list[Query] = field(default_factory=list)
    dashed: list[str] = field(default_factory=list)
    """Patterns of the names of series whose lines are dashed."""
    units: dict[str, str] = field(default_factory=dict)
    """Units other than that of the panel, by a pattern of the name."""
    steps: list[float] = field(default_factory=list)
    """From which values on the colour warns."""
    stacked: bool = False

    def overlaps(self, other: 'Panel') -> bool:
        """Whether two panels share a cell of the grid."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.top < other.top + other.height
            and other.top < self.top + self.height
        )


def read(path: pathlib.Path = FILE) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def panels(document: dict[str, Any]) -> Iterator[Panel]:
    """The panels and the rows, from the top."""
    for raw in document['panels']:
        place = raw['gridPos']
        config = raw.get('fieldConfig', {})
        defaults = config.get('defaults', {})
        stacking = defaults.get('custom', {}).get('stacking', {})
        yield Panel(
            number=raw['id'],
            kind=raw['type'],
            title=raw['title'],
            description=raw.get('description', ''),
            left=place['x'],
            top=place['y'],
            width=place['w'],
            height=place['h'],
            unit=defaults.get('unit', ''),
            queries=[
                Query(
                    target['expr'],
                    target.get('legendFormat', ''),
                    target.get('instant', False),
                )
                for target in raw.get('targets', ())
            ],
            dashed=[*_overrides(config, 'custom.lineStyle')],
            units=_overrides(config, 'unit'),
            steps=[
                step['value']
                for step in defaults.get('thresholds', {}).get('steps', ())
                if step['value'] is not None
            ],
            stacked=stacking.get('mode') == 'normal',
        )


def _overrides(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Values of a property, by the pattern of the series that have it."""
    return {
        override['matcher']['options'].strip('/'): entry['value']
        for override in config.get('overrides', ())
        for entry in override['properties']
        if entry['id'] == name
    }


def filled(expression: str, scope: str = ALL, interval: str = '15m') -> str:
    """A query as Grafana sends it.

    :param scope: what the variable of the scope is
    :param interval: what ``$__rate_interval`` is
    :raises KeyError: a variable that the dashboard does not have
    """
    values = {'scope': scope, '__rate_interval': interval, '__range': '1d'}
    return _VARIABLE.sub(
        lambda match: values[match[1] or match[2]], expression
    )


def alerts() -> list[dict[str, Any]]:
    """The rules of the planner's alerts, in their order."""
    groups = yaml.safe_load(ALERTS.read_text())['groups']
    return [rule for group in groups for rule in group['rules']]


def fits(pattern: str, name: str) -> bool:
    """Whether an override is about the series of a name."""
    return re.search(pattern, name) is not None
