# SPDX-License-Identifier: Apache-2.0
"""The calls and ranges of a PromQL expression, read from its text.

All else, such as operators, stays text: no more is known of the language than
brackets, strings, comments and the ranges behind a selector.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kronos.common.units.time_units import UNITS

_STRING = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
_TOKEN = re.compile(
    rf'(?P<space>\s+|\#[^\n]*)'
    rf'|(?P<text>{_STRING})'
    rf'|(?P<labels>\{{(?:{_STRING}|[^"\'`}}])*\}})'
    r'|(?P<range>\[[^\[\]]*\])'
    r'|(?P<word>[A-Za-z_][\w:]*)'
    r'|(?P<other>.)',
    re.DOTALL,
)
_DURATION = re.compile(r'(?:\d+(?:ms|[smhdwy]))+')
_NUMBER = re.compile(r'\d+(?:\.\d*)?|\.\d+')
_PART = re.compile(r'(\d+)(ms|[smhdwy])')
MOST_DEPTH = 100
"""Of brackets in brackets."""


@dataclass
class Call:
    """Brackets, with the name of a function before them if there is one."""

    name: str
    arguments: 'list[list[Item]]'
    space: str = ''
    """Between the name and its brackets."""


@dataclass
class Ranged:
    """What has a range behind it: a selector, or an expression."""

    items: 'list[Item]'
    range: str
    """The text between the square brackets."""
    modifiers: str = ''
    """What is behind them: ``offset 1h``, ``@ end()``."""

    @property
    def is_subquery(self) -> bool:
        return ':' in self.range

    @property
    def seconds(self) -> float:
        return seconds_of(self.range.partition(':')[0])

    @property
    def resolution(self) -> float:
        """Seconds between the points of a subquery; 0: Prometheus' own."""
        return seconds_of(self.range.partition(':')[2])


Item: TypeAlias = str | Call | Ranged


class _Parser:
    def __init__(self, query: str) -> None:
        self._tokens = [
            (match.lastgroup or '', match[0])
            for match in _TOKEN.finditer(query)
        ]
        self._place = self._depth = 0

    def items(self) -> list[Item]:
        """Until a comma or a bracket that is not closed in them."""
        items: list[Item] = []
        while self._place < len(self._tokens):
            kind, text = self._tokens[self._place]
            if kind == 'other' and text in ',)':
                break
            self._place += 1
            if kind == 'space':
                items += [] if items[-1:] == [' '] else [' ']
            elif kind == 'range':
                items = _with_range(items, text[1:-1].strip())
            elif kind == 'other' and text == '(':
                items.append(self._call(items))
            else:
                items.append(text)
        return items

    def whole(self) -> list[Item]:
        items = self.items()
        while self._place < len(self._tokens):
            # A bracket or a comma too much; Prometheus says so itself.
            items.append(self._tokens[self._place][1])
            self._place += 1
            items += self.items()
        return items

    def _call(self, before: list[Item]) -> Call:
        """A call whose first bracket has been read, and its name."""
        space = ''
        if before and before[-1] == ' ':
            space = str(before.pop())
        name = ''
        if before and isinstance(before[-1], str) and _is_name(before[-1]):
            name = str(before.pop())
        elif space:
            before.append(space)
            space = ''
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ValueError(
                f'it has more than {MOST_DEPTH} brackets in brackets'
            )
        arguments = [self.items()]
        while self._token() == ',':
            self._place += 1
            arguments.append(self.items())
        self._place += 1
        self._depth -= 1
        return Call(name, arguments, space)

    def _token(self) -> str:
        if self._place >= len(self._tokens):
            return ''
        return self._tokens[self._place][1]


def parse(query: str) -> list[Item]:
    """The parts of an expression, in its order.

    :raises ValueError: it is nested too deeply
    """
    return _Parser(query).whole()


def text(items: Sequence[Item]) -> str:
    """The text of parts, comments left out."""
    return ''.join(map(_text, items))


def ranged(argument: Sequence[Item]) -> Ranged | None:
    """An argument that is a range vector, with its modifiers."""
    for number, item in enumerate(argument):
        if isinstance(item, Ranged):
            before = text(argument[:number]).strip()
            behind = text(argument[number + 1 :]).rstrip()
            if before:
                return None
            return Ranged(item.items, item.range, behind)
    return None


def seconds_of(duration: str) -> float:
    """A duration as PromQL writes it, ``1h30m``; 0 where it is none."""
    bare = duration.strip()
    if not _DURATION.fullmatch(bare):
        return float(bare) if _NUMBER.fullmatch(bare) else 0.0
    return sum(
        float(number) * UNITS[unit] for number, unit in _PART.findall(bare)
    )


def duration(seconds: float) -> str:
    """The same in the other direction: ``5m``, ``90s``."""
    for unit in ('h', 'm', 's'):
        if seconds % UNITS[unit] == 0:
            return f'{seconds / UNITS[unit]:.0f}{unit}'
    return f'{seconds * 1000:.0f}ms'


def _is_name(word: str) -> bool:
    return re.fullmatch(r'[A-Za-z_][\w:]*', word) is not None


def _with_range(before: list[Item], range_text: str) -> list[Item]:
    """The items with a range behind the last operand of theirs."""
    items = list(before)
    space: list[Item] = []
    while items and items[-1] == ' ':
        space.append(items.pop())
    operand: list[Item] = []
    if items and isinstance(items[-1], str) and items[-1].startswith('{'):
        operand.insert(0, items.pop())
        while items and items[-1] == ' ':
            items.pop()
        if items and isinstance(items[-1], str) and _is_name(items[-1]):
            operand.insert(0, items.pop())
    elif items:
        operand.insert(0, items.pop())
    return [*items, Ranged(operand, range_text)]


def _text(item: Item) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Ranged):
        return f'{text(item.items)}[{item.range}]{item.modifiers}'
    arguments = ','.join(map(text, item.arguments))
    return f'{item.name}{item.space}({arguments})'
