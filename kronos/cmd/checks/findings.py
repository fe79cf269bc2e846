# SPDX-License-Identifier: Apache-2.0
"""The findings of kronos-test-config, with their remedies."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    ERROR = 'error'
    """What was asked for will not work."""
    WARNING = 'warning'
    """It works, but not as one may think."""
    NOTE = 'note'


@dataclass
class Finding:
    level: Level
    code: str
    """Stable; documented in test-config.rst."""
    text: str
    mend: str


@dataclass
class Findings:
    """All that was found, in the order of the checks."""

    items: list[Finding] = field(default_factory=list)

    def error(self, code: str, text: str, mend: str) -> None:
        self._add(Level.ERROR, code, text, mend)

    def warning(self, code: str, text: str, mend: str) -> None:
        self._add(Level.WARNING, code, text, mend)

    def note(self, code: str, text: str, mend: str = '') -> None:
        self._add(Level.NOTE, code, text, mend)

    def _add(self, level: Level, code: str, text: str, mend: str) -> None:
        finding = Finding(level, code, text, mend)
        if finding not in self.items:
            self.items.append(finding)

    @property
    def is_good(self) -> bool:
        return all(one.level is not Level.ERROR for one in self.items)

    def count(self, level: Level) -> int:
        return sum(one.level is level for one in self.items)

    def document(self) -> list[dict[str, Any]]:
        """The worst first."""
        levels = list(Level)
        found = sorted(self.items, key=lambda one: levels.index(one.level))
        return [
            {
                'level': one.level.value,
                'code': one.code,
                'text': one.text,
                'mend': one.mend,
            }
            for one in found
        ]
