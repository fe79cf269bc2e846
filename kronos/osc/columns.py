# SPDX-License-Identifier: Apache-2.0
"""The columns of the client commands: for people, and for programs."""

from typing import TYPE_CHECKING, Any

from cliff import columns

if TYPE_CHECKING:
    Column = columns.FormattableColumn[Any]
else:
    # Older releases of cliff do not say of what.
    Column = columns.FormattableColumn


class NumberColumn(Column):
    """A number; people see three decimals."""

    def human_readable(self) -> str:
        return '' if self._value is None else f'{self._value:.3f}'

    def __lt__(self, other: object) -> bool:
        """Rows are sorted by it; one without a number comes first."""
        mine, theirs = (
            number._value if isinstance(number, NumberColumn) else None
            for number in (self, other)
        )
        if mine is None or theirs is None:
            return mine is None and theirs is not None
        return bool(mine < theirs)


class UuidColumn(Column):
    """A uuid; people see the beginning, programs all of it."""

    def __init__(self, value: str, short: str) -> None:
        super().__init__(value)
        self._short = short

    def human_readable(self) -> str:
        return self._short

    def __lt__(self, other: object) -> bool:
        return isinstance(other, UuidColumn) and bool(
            self._value < other._value
        )


class NumbersColumn(Column):
    """Numbers by name, one a line."""

    def human_readable(self) -> str:
        lines = [f'{name}: {number:g}' for name, number in self._value.items()]
        return '\n'.join(lines)


class LinesColumn(Column):
    """Things of one kind.

    :param value: for programs
    :param lines: the same for people
    """

    def __init__(self, value: list[dict[str, Any]], lines: list[str]) -> None:
        super().__init__(value)
        self._lines = lines

    def human_readable(self) -> str:
        return '\n'.join(self._lines)


class NamesColumn(Column):
    """Names of one kind."""

    def human_readable(self) -> str:
        return ', '.join(self._value)
