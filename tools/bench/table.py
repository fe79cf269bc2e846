# SPDX-License-Identifier: Apache-2.0
"""Rows of figures, as text."""

from collections.abc import Mapping, Sequence
from typing import Any

Columns = Mapping[str, tuple[str, str]]
"""By key of a row the title of its column and how its value is written."""


def text(columns: Columns, rows: Sequence[Mapping[str, Any]]) -> str:
    """A table; a column without any value is left out."""
    keys = [
        key
        for key in columns
        if any(row.get(key) not in (None, '') for row in rows)
    ]
    lines = [[columns[key][0] for key in keys]]
    lines += [
        [_cell(columns[key][1], row.get(key)) for key in keys] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    is_left = [
        all(isinstance(row.get(key), str | None) for row in rows)
        for key in keys
    ]
    return '\n'.join(
        '  '.join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(line, widths, is_left, strict=True)
        ).rstrip()
        for line in lines
    )


def _cell(form: str, value: Any) -> str:
    if value is None:
        return ''
    return format(value, form)
