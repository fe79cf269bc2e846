# SPDX-License-Identifier: Apache-2.0
"""Drawings of the architecture, made from ``pyproject.toml``.

``staircase`` draws the rooms of a package as the contracts of import-linter
have them, the top above. ``hosts`` draws the processes that load Kronos, with
the entry points that each of them finds.
"""

import abc
import html
import tomllib
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from docutils.parsers import rst

TOP = Path(__file__).resolve().parents[2]
WIDTH, ROW, GAP, LINE = 720, 34, 12, 18
KINDS = {
    'watcher_goals': ('watcher-decision-engine', 'goal'),
    'watcher_strategies': ('watcher-decision-engine', 'strategy'),
    'watcher_planners': ('watcher-decision-engine', 'planner'),
    'watcher_actions': ('watcher-applier', 'action'),
    'openstack.kronos.v1': ('openstack client', 'command'),
}
"""Group of entry points to who loads them, and what each of them is."""
MONITOR = 'kronos-instance-monitor'
OTHERS = {
    'nova-scheduler': ['weigher kronos.weighers.load.KronosWeigher'],
    'compute node': [f'service {MONITOR}'],
}
"""What is found by its path, and what is a process of its own."""


def layers(package: str) -> list[list[str]]:
    """The floors of a package, each with its rooms, the top first."""
    for contract in _pyproject()['tool']['importlinter']['contracts']:
        if package in contract.get('containers', ()):
            return [
                [room.strip() for room in floor.split('|')]
                for floor in contract['layers']
            ]
    raise ValueError(f'no contract has the layers of {package}')


def loaded() -> dict[str, list[str]]:
    """Name of each process to what it loads."""
    project, found = _pyproject()['project'], {}
    for group, (process, kind) in KINDS.items():
        for name in project['entry-points'][group]:
            told = name.replace('_', ' ') if kind == 'command' else name
            found.setdefault(process, []).append(f'{kind} {told}')
    found['shell'] = [
        f'command {name}' for name in project['scripts'] if name != MONITOR
    ]
    return {**found, **OTHERS}


def _pyproject() -> dict:
    return tomllib.loads((TOP / 'pyproject.toml').read_text())


def staircase_svg(floors: Sequence[Sequence[str]], name: str) -> str:
    """Each floor a row of boxes, and an arrow down to the next one."""
    step = ROW + GAP
    parts = []
    for floor, rooms in enumerate(floors):
        width = (WIDTH - GAP * (len(rooms) - 1)) / len(rooms)
        top = floor * step
        for number, room in enumerate(rooms):
            left = number * (width + GAP)
            parts.append(_box(left, top, width, ROW))
            parts.append(_text(left + width / 2, top + 22, room, 'middle'))
        if floor:
            middle = WIDTH / 2
            parts.append(
                f'<path d="M{middle} {top - GAP} v{GAP - 2} m-4 -5 l4 5 l4 -5"'
                ' fill="none" stroke="currentColor"/>'
            )
    return _svg(parts, len(floors) * step, f'The floors of {name}')


def hosts_svg(found: dict[str, list[str]]) -> str:
    """A box for each process, with what it loads."""
    parts, top = [], 0
    for process, names in found.items():
        height = ROW + LINE * len(names)
        parts.append(_box(0, top, WIDTH, height))
        parts.append(_text(GAP, top + 22, process, 'start', 'bold'))
        for number, name in enumerate(names):
            below = top + ROW + LINE * number + 8
            parts.append(_text(WIDTH / 3, below, name, 'start'))
        top += height + GAP
    return _svg(parts, top, 'The processes that load Kronos')


def _box(left: float, top: float, width: float, height: float) -> str:
    return (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" rx="4" fill="none" stroke="currentColor"/>'
    )


def _text(
    left: float, top: float, text: str, anchor: str, weight: str = 'normal'
) -> str:
    return (
        f'<text x="{left:.0f}" y="{top:.0f}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{html.escape(text)}</text>'
    )


def _svg(parts: list[str], height: float, title: str) -> str:
    return (
        f'<svg viewBox="-1 -1 {WIDTH + 2} {height + 2:.0f}" role="img" '
        f'aria-label="{html.escape(title)}" style="max-width:{WIDTH}px" '
        'font-family="monospace" font-size="13" fill="currentColor">'
        + ''.join(parts)
        + '</svg>'
    )


class _Drawing(rst.Directive, abc.ABC):
    """A figure in HTML, and its words wherever else."""

    @abc.abstractmethod
    def drawn(self) -> tuple[str, str]: ...

    def run(self) -> list[nodes.Node]:
        figure, words = self.drawn()
        if self.state.document.settings.env.app.builder.format == 'html':
            return [nodes.raw('', figure, format='html')]
        return [nodes.literal_block(words, words)]


class Staircase(_Drawing):
    required_arguments = 1

    def drawn(self) -> tuple[str, str]:
        name = self.arguments[0]
        floors = layers(name)
        words = '\n'.join(' | '.join(rooms) for rooms in floors)
        return staircase_svg(floors, name), words


class Hosts(_Drawing):
    def drawn(self) -> tuple[str, str]:
        found = loaded()
        words = '\n'.join(
            f'{process}: {", ".join(names)}'
            for process, names in found.items()
        )
        return hosts_svg(found), words


def setup(app):
    app.add_directive('staircase', Staircase)
    app.add_directive('hosts', Hosts)
    return {'parallel_read_safe': True}
