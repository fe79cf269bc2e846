# SPDX-License-Identifier: Apache-2.0
"""The row of an option of planning: all that is known of it, once.

It is the field of a dataclass. The option of oslo.config, the field of the
engine's settings, and the keys of recordings and reports follow from it.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeVar, cast

from kronos.common.plugins import entry_points

T = TypeVar('T')


class Choice(StrEnum):
    """The words that an option may have, each with its meaning.

    One without a meaning is no choice of operators.
    """

    meaning: str

    def __new__(cls, word: str, meaning: str = '') -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Those of operators, each with its meaning."""
        return [(word.value, word.meaning) for word in cls if word.meaning]


@dataclass(frozen=True)
class Row:
    """What oslo.config needs of an option."""

    default: Any
    """Of ``[kronos]``."""
    help: str
    name: str = ''
    """In ``[kronos]``, unless it is that of the field."""
    field: str = ''
    """Of the settings."""
    kind: Any = None
    """Type of the field."""
    least: float | None = None
    most: float | None = None
    is_whole: bool = False
    """Whether only whole numbers may be configured."""
    choices: type[Choice] | None = None
    has_lines: bool = False
    """Whether each of its values is a line of its own in a file."""
    plugins: str = ''
    """Group of the entry points that are choices, too."""
    check: Callable[[Any], Any] | None = None
    """Gives the value of a text, or raises ValueError with the rule."""

    def words(self) -> list[str]:
        """What a choice may be, of Kronos and of installed packages."""
        own = self.choices.choices() if self.choices else []
        others = entry_points.of_group(self.plugins).names
        return [word for word, _ in own] + sorted(others)

    def checked(self, value: Any) -> Any:
        """A value that is as the rule of the option says.

        :raises ValueError: it is not
        """
        return self.check(value) if self.check else value

    def value(self, configured: Any) -> Any:
        """What the field gets of what is configured."""
        if self.has_lines and isinstance(configured, str):
            return [configured]
        is_plain = self.kind in (bool, int, float)
        return configured if is_plain else self.kind(configured)


def option(
    default: T, help: str, *, configured: T | None = None, **more: Any
) -> T:
    """The field of an option.

    :param default: of a recording that lacks it, and of the engine
    :param configured: the default of ``[kronos]``, unless it is the same
    :param more: fields of :class:`Row`
    """
    row = Row(default if configured is None else configured, help, **more)
    values: Any = {'default': default}
    if isinstance(default, list | dict):
        values = {'default_factory': default.copy}
    return cast(T, dataclasses.field(**values, metadata={'row': row}))


def values(kind: type, group: Any) -> dict[str, Any]:
    """What is configured, by the fields of a dataclass.

    :param group: ``[kronos]``
    """
    return {
        row.field: row.value(getattr(group, row.name)) for row in rows(kind)
    }


def rows(kind: type) -> Iterator[Row]:
    """The options among the fields of a dataclass."""
    for field in dataclasses.fields(cast(Any, kind)):
        if row := field.metadata.get('row'):
            is_choice = isinstance(row.default, Choice)
            yield dataclasses.replace(
                row,
                name=row.name or field.name,
                field=field.name,
                kind=field.type,
                is_whole=row.is_whole or field.type is int,
                choices=type(row.default) if is_choice else None,
            )
