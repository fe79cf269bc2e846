# SPDX-License-Identifier: Apache-2.0
"""The findings of kronos-test-config, with their remedies.

One fault shows in many places. A check that knows what a finding may follow
from names these causes; the finding is then shown below the first of them that
was found, without a remedy of its own, whichever check found it first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypedDict, Unpack


class Level(StrEnum):
    ERROR = 'error'
    """What was asked for will not work."""
    WARNING = 'warning'
    """It works, but not as one may think."""
    NOTE = 'note'


LEVELS = list(Level)
"""The worst first."""


class Cause(StrEnum):
    """Causes that several checks know of; others are named by a function."""

    FILES = 'files'
    """No configuration file was found."""
    KEYSTONE = 'keystone'
    NOVA = 'nova'
    PERMISSION = 'permission'
    PLACEMENT = 'placement'
    PROMETHEUS = 'prometheus'
    """Its address or its credentials."""
    NO_SERIES = 'no series'
    """It answers, and has nothing that any policy asks for."""
    STALE = 'stale'
    INCOMPLETE = 'incomplete'
    """Prometheus itself says that series may be missing."""
    EXCLUSIONS = 'exclusions'
    SCOPES = 'scopes'
    CLOCK = 'clock'


def option(name: str) -> str:
    """The cause of what an option does that is not as it should be."""
    return f'option {name}'


def group(name: str) -> str:
    """The same of any option of a group."""
    return f'group {name}'


def query(text: str) -> str:
    """The cause of what a query does that several policies may have."""
    return f'query {text}'


def names(remedy: str) -> str:
    """The cause of what host names in another form do."""
    return f'names {remedy}'


@dataclass
class Finding:
    level: Level
    code: str
    """Stable; documented in test-config.rst."""
    text: str
    remedy: str
    key: str = field(default='', compare=False)
    """What it is the cause of is found by this; '': of nothing."""
    because: Sequence[str] = field(default=(), compare=False)
    """The causes that it may follow from, the nearest first."""


class _Causes(TypedDict, total=False):
    """As the fields of a finding."""

    key: str
    because: Sequence[str]


@dataclass
class Tree:
    """A cause, and all that follows from it."""

    cause: Finding
    effects: list[Finding] = field(default_factory=list)

    @property
    def level(self) -> Level:
        """The worst of all; what an error follows from is one."""
        return min(
            (item.level for item in (self.cause, *self.effects)),
            key=LEVELS.index,
        )

    @property
    def rank(self) -> tuple[int, int]:
        """The worst first, then what most follows from."""
        return LEVELS.index(self.level), -len(self.effects)

    def document(self) -> dict[str, Any]:
        return {
            **_row(self.cause),
            'level': self.level.value,
            'follows': [
                {**_row(item), 'mend': ''}
                for item in sorted(
                    self.effects, key=lambda item: LEVELS.index(item.level)
                )
            ],
        }


@dataclass
class Findings:
    """All that was found, in the order of the checks."""

    items: list[Finding] = field(default_factory=list)

    def error(
        self, code: str, text: str, remedy: str, **causes: Unpack[_Causes]
    ) -> None:
        self._add(Finding(Level.ERROR, code, text, remedy, **causes))

    def warning(
        self, code: str, text: str, remedy: str, **causes: Unpack[_Causes]
    ) -> None:
        self._add(Finding(Level.WARNING, code, text, remedy, **causes))

    def note(
        self, code: str, text: str, remedy: str = '', **causes: Unpack[_Causes]
    ) -> None:
        self._add(Finding(Level.NOTE, code, text, remedy, **causes))

    def _add(self, finding: Finding) -> None:
        if finding not in self.items:
            self.items.append(finding)

    def has(self, key: str) -> bool:
        """Whether a cause was found."""
        return any(item.key == key for item in self.items)

    @property
    def is_good(self) -> bool:
        return all(item.level is not Level.ERROR for item in self.items)

    def trees(self) -> list[Tree]:
        """Each cause with what follows from it, the most likely first."""
        first: dict[str, int] = {}
        for number, item in enumerate(self.items):
            first.setdefault(item.key, number)
        trees: dict[int, Tree] = {}
        roots = [
            self._root(number, first) for number in range(len(self.items))
        ]
        for number in sorted(set(roots)):
            trees[number] = Tree(self.items[number])
        for number, item in enumerate(self.items):
            if number not in trees:
                trees[roots[number]].effects.append(item)
        return sorted(trees.values(), key=lambda tree: tree.rank)

    def _root(self, number: int, first: Mapping[str, int]) -> int:
        """The finding that one goes back to, which may be itself."""
        passed = [number]
        while True:
            above = self._above(passed[-1], first)
            if above is None:
                return passed[-1]
            if above in passed:  # two that name each other
                return min(passed[passed.index(above) :])
            passed.append(above)

    def _above(self, number: int, first: Mapping[str, int]) -> int | None:
        """The cause of a finding; None: it is one."""
        finding = self.items[number]
        for key in filter(None, (*finding.because, finding.key)):
            if first.get(key, number) != number:
                return first[key]
        return None

    def document(self) -> list[dict[str, Any]]:
        """The causes, the worst first, with what follows from each."""
        return [tree.document() for tree in self.trees()]


def _row(finding: Finding) -> dict[str, Any]:
    return {
        'level': finding.level.value,
        'code': finding.code,
        'text': finding.text,
        'mend': finding.remedy,
    }
