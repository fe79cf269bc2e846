# SPDX-License-Identifier: Apache-2.0
"""The printing of rows, for people or for programs."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import prettytable
import yaml

from kronos.common import plain_text

FORMATS = ('table', 'json', 'yaml', 'csv', 'value')
WHOLE = ('json', 'yaml')
"""Formats of all that is known; the others have rows of it."""
GAP = 2
LEAST = 10
"""Columns with less are not narrowed."""
UNKNOWN = '-'
"""In place of a number that nothing is known of."""
Row = Sequence[str]


def aligned(
    rows: Sequence[Row], width: int | None = None, extra: int = 0
) -> list[str]:
    """Lines whose columns begin below each other.

    :param rows: of one length
    :param width: so many characters a line may have, if that can be; cells
        are wrapped then, those of the widest columns first
    :param extra: so many of the last columns are left out where the table
        is too wide
    """
    cells = [[plain_text.line(cell) for cell in row] for row in rows]
    if not cells:
        return []
    widths = _widths(cells)
    if extra and width is not None and _total(widths) > width:
        cells = [row[:-extra] for row in cells]
        widths = widths[:-extra]
    names = [str(number) for number in range(len(widths))]
    table = prettytable.PrettyTable(
        names, border=False, header=False, align='l'
    )
    table.left_padding_width, table.right_padding_width = 0, GAP
    if width is not None and _total(widths) > width:
        _narrow(widths, width)
        table.max_width = dict(zip(names, widths, strict=True))
    table.add_rows(cells)
    return [line.rstrip() for line in table.get_string().splitlines()]


def printed(rows: Sequence[Row], form: str) -> str:
    """Rows for programs.

    :param rows: the first has the names of the columns
    :param form: ``csv``, whose cells are no formulas, or ``value``: as cliff
        has it, and no names
    """
    if form == 'csv':
        out = io.StringIO()
        csv.writer(out, lineterminator='\n').writerows(
            map(plain_text.cell, row) for row in rows
        )
        return out.getvalue().rstrip('\n')
    return '\n'.join(' '.join(map(plain_text.line, row)) for row in rows[1:])


def whole(document: Any, form: str, allow_nan: bool = False) -> str:
    """A document for programs.

    :param form: ``json`` or ``yaml``
    :param allow_nan: whether it may have numbers that JSON does not have
    """
    text = json.dumps(document, indent=2, allow_nan=allow_nan)
    if form == 'json':
        return text
    # As JSON has it: its numbers may be of classes that YAML does not know.
    shown = yaml.safe_dump(json.loads(text), sort_keys=False)
    return str(shown).rstrip('\n')


def _widths(cells: Sequence[Row]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _narrow(widths: list[int], width: int) -> None:
    """Take from the widest column what it has more than the next widest.

    PrettyTable's own limit takes from all alike, and cuts numbers in two.
    """
    while (more := _total(widths) - width) > 0:
        widest = max(widths)
        if widest <= LEAST:
            return
        next_widest = max([w for w in widths if w < widest] + [LEAST])
        index = widths.index(widest)
        widths[index] = max(next_widest - 1, widest - more, LEAST)
