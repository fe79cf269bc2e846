# SPDX-License-Identifier: Apache-2.0
"""The row of an option of planning: all that is known of it, once.

It is the field of a dataclass. The option of oslo.config, the field of the
engine's settings, and the keys of recordings and reports follow from it.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import Any, Self, TypeVar, cast

T = TypeVar('T')
_ROW = 'row'


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
    """What oslo.config needs of an option, beside its type."""

    name: str
    """In ``[kronos]``."""
    field: str
    """Of the settings."""
    kind: Any
    """Type of the field."""
    default: Any
    """Of ``[kronos]``."""
    least: float | None
    most: float | None
    is_whole: bool
    help: str
    choices: type[Choice] | None = None
    plugins: str = ''

    def words(self) -> list[str]:
        """What a choice may be, of Kronos and of installed packages."""
        own = self.choices.choices() if self.choices else []
        others = metadata.entry_points(group=self.plugins).names
        return [word for word, _ in own] + sorted(others)

    def value(self, configured: Any) -> Any:
        """What the field gets of what is configured."""
        is_plain = self.kind in (bool, int, float)
        return configured if is_plain else self.kind(configured)


def option(
    default: T,
    help: str,
    *,
    name: str = '',
    configured: T | None = None,
    least: float | None = None,
    most: float | None = None,
    is_whole: bool = False,
    choices: type[Choice] | None = None,
    plugins: str = '',
) -> T:
    """The field of an option.

    :param default: of a recording that lacks it, and of the engine
    :param name: in ``[kronos]``, unless it is that of the field
    :param configured: the default of ``[kronos]``, unless it is the same
    :param is_whole: whether only whole numbers may be configured
    :param choices: unless they are the type of the field
    :param plugins: group of the entry points that are choices, too
    """
    row = {
        'name': name,
        'default': default if configured is None else configured,
        'least': least,
        'most': most,
        'is_whole': is_whole,
        'choices': choices,
        'plugins': plugins,
        'help': help,
    }
    values: Any = {'default': default}
    if isinstance(default, list):
        values = {'default_factory': default.copy}
    return cast(T, dataclasses.field(**values, metadata={_ROW: row}))


def rows(kind: type) -> Iterator[Row]:
    """The options among the fields of a dataclass."""
    for field in dataclasses.fields(cast(Any, kind)):
        if values := field.metadata.get(_ROW):
            values = {**values, 'name': values['name'] or field.name}
            values['is_whole'] |= field.type is int
            if isinstance(default := values['default'], Choice):
                values['choices'] = type(default)
            yield Row(**values, field=field.name, kind=field.type)
