# SPDX-License-Identifier: Apache-2.0
"""Drawings of panels: SVG that is the same for the same series."""

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tests import dashboards
from tests.dashboards import Panel

COLUMN, UNIT, GAP = 50, 24, 8
"""Pixels of a column and of a row of Grafana's grid, and between panels."""
WIDTH = dashboards.COLUMNS * COLUMN
MOST_NAMES = 8
"""Series that a legend names, and rows that a table shows."""
LETTER = 6.8
"""Pixels of a letter, about."""
_UNITS = (('d', 86400.0), ('h', 3600.0), ('min', 60.0), ('s', 1.0))
_PREFIXES = (('G', 1e9), ('M', 1e6), ('k', 1e3))


@dataclass(frozen=True)
class Scheme:
    """Colours of a drawing."""

    ground: str
    card: str
    edge: str
    text: str
    faint: str
    lines: tuple[str, ...]
    good: str
    warning: str


SCHEMES = {
    'light': Scheme(
        '#f6f7f9', '#ffffff', '#d5dae0', '#1b1f24', '#4a525c',
        ('#0b63b5', '#a94800', '#2f7d32', '#8e24aa', '#00796b', '#b71c1c',
         '#5d4037', '#3949ab'),
        '#2f7d32', '#a94800',
    ),
    'dark': Scheme(
        '#12161b', '#1c232b', '#343e49', '#e8ebee', '#aab2bc',
        ('#5fb0ef', '#f0a136', '#7fca82', '#d08be3', '#5cc8bb', '#f08080',
         '#bfa193', '#9fa8ff'),
        '#7fca82', '#f0a136',
    ),
}  # fmt: skip


@dataclass
class Series:
    """What a query returned under one name."""

    name: str
    points: list[tuple[float, float]]
    """Unix seconds and values; of an instant query the one at the end."""
    labels: dict[str, str] = field(default_factory=dict)


def draw(
    panels: Iterable[tuple[Panel, Sequence[Series]]],
    start: float,
    end: float,
    scheme: Scheme,
) -> str:
    """The whole dashboard.

    :param start: Unix seconds at the left of each chart
    :param end: the same at the right
    """
    parts, height = [], 0
    for panel, series in panels:
        height = max(height, (panel.top + panel.height) * UNIT)
        place = f'translate({panel.left * COLUMN} {panel.top * UNIT})'
        body = _Drawing(panel, scheme, start, end).of(series)
        parts += [f'<g transform="{place}">', *body, '</g>']
    return '\n'.join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {WIDTH} {height + GAP}" '
            'aria-label="The dashboard of Kronos in Grafana" '
            'font-family="sans-serif" font-size="11">',
            f'<rect width="{WIDTH}" height="{height + GAP}" '
            f'fill="{scheme.ground}"/>',
            *parts,
            '</svg>\n',
        ]
    )


def shown(value: float, unit: str) -> str:
    """A value with its unit, short."""
    if unit == 's':
        if value == 0:
            return '0 s'
        if abs(value) < 0.1:
            return f'{value * 1000:.1f} ms'
        for word, size in _UNITS:
            if abs(value) >= size:
                return f'{value / size:.1f} {word}'
        return f'{value:.2f} s'
    if unit == 'percentunit':
        return f'{value * 100:.0f} %'
    ending = ' B/s' if unit == 'Bps' else ''
    for word, size in _PREFIXES:
        if abs(value) >= size:
            return f'{value / size:.1f} {word}{ending or ""}'.replace(
                ' ' + word + ' ', f' {word}'
            )
    return f'{value:.2f}'.rstrip('0').rstrip('.') + ending


class _Drawing:
    """One panel, from its upper left corner on."""

    def __init__(
        self, panel: Panel, scheme: Scheme, start: float, end: float
    ) -> None:
        self._panel = panel
        self._scheme = scheme
        self._start, self._end = start, end
        self._width = panel.width * COLUMN
        self._height = panel.height * UNIT

    def of(self, series: Sequence[Series]) -> list[str]:
        """Its elements."""
        if self._panel.kind == 'row':
            return [self._text(GAP, 18, self._panel.title, size=14, bold=True)]
        forms: dict[str, Callable[[Sequence[Series]], list[str]]] = {
            'timeseries': self._chart,
            'stat': self._numbers,
            'bargauge': self._bars,
            'table': self._table,
        }
        body = forms[self._panel.kind](series)
        if not series:
            body = [self._text(self._width / 2 - 20, 90, 'No data')]
        return [
            f'<rect x="{GAP / 2:g}" y="{GAP / 2:g}" rx="3" '
            f'width="{self._width - GAP}" height="{self._height - GAP}" '
            f'fill="{self._scheme.card}" stroke="{self._scheme.edge}"/>',
            self._text(14, 22, self._panel.title, size=12, bold=True),
            *body,
        ]

    def _text(
        self,
        left: float,
        top: float,
        text: str,
        color: str = '',
        size: int = 0,
        bold: bool = False,
        anchor: str = '',
    ) -> str:
        attributes = f'x="{left:.0f}" y="{top:.0f}"'
        attributes += f' fill="{color or self._scheme.text}"'
        attributes += f' font-size="{size}"' if size else ''
        attributes += ' font-weight="bold"' if bold else ''
        attributes += f' text-anchor="{anchor}"' if anchor else ''
        return f'<text {attributes}>{html.escape(text)}</text>'

    def _unit(self, name: str) -> str:
        for pattern, unit in self._panel.units.items():
            if dashboards.fits(pattern, name):
                return unit
        return self._panel.unit

    def _chart(self, series: Sequence[Series]) -> list[str]:
        left, right = 60, self._width - 16
        top, bottom = 36, self._height - 58
        highest, lowest = self._extent(series)
        parts = []
        for tick in range(4):
            value = lowest + (highest - lowest) * tick / 3
            at = bottom - (bottom - top) * tick / 3
            parts += [
                f'<path d="M{left} {at:.1f}H{right}" '
                f'stroke="{self._scheme.edge}"/>',
                self._text(
                    left - 5,
                    at + 4,
                    shown(value, self._panel.unit),
                    self._scheme.faint,
                    10,
                    anchor='end',
                ),
            ]
        for quarter in range(5):
            at = left + (right - left) * quarter / 4
            text = f'{quarter * 6:02}:00'
            parts.append(
                self._text(
                    at, bottom + 14, text, self._scheme.faint, 10, False,
                    'middle' if quarter < 4 else 'end',
                )
            )  # fmt: skip

        def place(moment: float, value: float) -> tuple[float, float]:
            ratio = (moment - self._start) / (self._end - self._start)
            high = (value - lowest) / ((highest - lowest) or 1)
            return left + (right - left) * ratio, bottom - (
                bottom - top
            ) * high

        form = self._stack if self._panel.stacked else self._lines
        return [*parts, *form(series, place), *self._legend(series)]

    def _extent(self, series: Sequence[Series]) -> tuple[float, float]:
        totals: dict[float, float] = {}
        values = [0.0]
        for row in series:
            for moment, value in row.points:
                totals[moment] = totals.get(moment, 0) + value
                values.append(value)
        if self._panel.stacked:
            values = [0.0, *totals.values()]
        return _rounded(max(values)), -_rounded(-min(values))

    def _lines(
        self,
        series: Sequence[Series],
        place: Callable[[float, float], tuple[float, float]],
    ) -> list[str]:
        parts = []
        for number, row in enumerate(series):
            points, last = '', -math.inf
            step = (self._end - self._start) / 90
            for moment, value in row.points:
                x, y = place(moment, value)
                letter = 'L' if moment - last < step else 'M'
                points += f'{letter}{x:.1f} {y:.1f}'
                last = moment
            dashed = any(
                dashboards.fits(pattern, row.name)
                for pattern in self._panel.dashed
            )
            dash = ' stroke-dasharray="6 4"' if dashed else ''
            parts.append(
                f'<path d="{points}" fill="none" stroke-width="1.5" '
                f'stroke="{self._color(number)}"{dash}/>'
            )
        return parts

    def _stack(
        self,
        series: Sequence[Series],
        place: Callable[[float, float], tuple[float, float]],
    ) -> list[str]:
        floors: dict[float, float] = {}
        parts = []
        for number, row in enumerate(series):
            path = ''
            for moment, value in row.points:
                if value < 0.01:
                    continue
                floor = floors.get(moment, 0)
                x, low = place(moment, floor)
                _, high = place(moment, floor + value)
                path += f'M{x:.1f} {low:.1f}V{high:.1f}'
                floors[moment] = floor + value
            bar = max(2, self._width // 130)
            parts.append(
                f'<path d="{path}" stroke="{self._color(number)}" '
                f'stroke-width="{bar}"/>'
            )
        return parts

    def _legend(self, series: Sequence[Series]) -> list[str]:
        left, top, parts = 14.0, self._height - 28, []
        for number, row in enumerate(series[:MOST_NAMES]):
            size = 22 + len(row.name) * LETTER
            if left + size > self._width - 10 and left > 14:
                left, top = 14.0, top + 14
            if top > self._height - 12:
                break
            parts += [
                f'<path d="M{left:.0f} {top - 4}h10" stroke-width="3" '
                f'stroke="{self._color(number)}"/>',
                self._text(left + 14, top, row.name, self._scheme.faint),
            ]
            left += size
        return parts

    def _numbers(self, series: Sequence[Series]) -> list[str]:
        parts = []
        step = min(44, (self._height - 50) // max(1, len(series)))
        size = min(20, step - 6)
        for number, row in enumerate(series):
            value = row.points[-1][1]
            top = 58 + number * step
            parts += [
                self._text(14, top, row.name, self._scheme.faint, 12),
                self._text(
                    self._width - 16,
                    top,
                    shown(value, self._unit(row.name)),
                    self._judged(value),
                    size,
                    True,
                    'end',
                ),
            ]
        return parts

    def _bars(self, series: Sequence[Series]) -> list[str]:
        parts = []
        most = max((row.points[-1][1] for row in series), default=0) or 1
        wide = self._width - 90
        for number, row in enumerate(series[:MOST_NAMES]):
            value, top = row.points[-1][1], 44 + number * 29
            parts += [
                self._text(14, top, row.name, self._scheme.faint),
                f'<rect x="14" y="{top + 4}" height="12" '
                f'width="{wide * value / most:.1f}" '
                f'fill="{self._color(0)}"/>',
                self._text(
                    self._width - 16,
                    top + 14,
                    shown(value, self._panel.unit),
                    anchor='end',
                ),
            ]
        return parts

    def _table(self, series: Sequence[Series]) -> list[str]:
        if not series:
            return []
        heads = [*series[0].labels, 'Value']
        rows = [
            [*row.labels.values(), shown(row.points[-1][1], self._panel.unit)]
            for row in series[:MOST_NAMES]
        ]
        # A letter of air between columns.
        longest = [
            max(map(len, cells)) + 2
            for cells in zip(heads, *rows, strict=True)
        ]
        letter = (self._width - 28) / sum(longest)
        places = [14 + sum(longest[:n]) * letter for n in range(len(heads))]
        parts = []
        for number, cells in enumerate([heads, *rows]):
            for left, text in zip(places, cells, strict=True):
                parts.append(
                    self._text(
                        left,
                        46 + number * 20,
                        text,
                        '' if number else self._scheme.faint,
                        bold=not number,
                    )
                )
        return parts

    def _color(self, number: int) -> str:
        lines = self._scheme.lines
        return lines[number % len(lines)]

    def _judged(self, value: float) -> str:
        if not self._panel.steps:
            return ''
        bad = value >= self._panel.steps[0]
        return self._scheme.warning if bad else self._scheme.good


def _rounded(value: float) -> float:
    """The next number above with one digit, which an axis ends at."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.5, 2, 3, 5, 7.5, 10)
    return next(
        step * power for step in steps if step * power >= value * 0.999
    )
