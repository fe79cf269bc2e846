# SPDX-License-Identifier: Apache-2.0
"""The formatting of texts and numbers on a page.

Names and reasons come from tenants and servers elsewhere: nothing of them
may steer the page, and none may make it endless.
"""

import math
import re
from typing import Any

from kronos.common import durations

LONGEST = 1000
"""Characters of one text; Nova's names have 255 at most."""
EPSILON = 1e-9
"""As in the engine: differences up to this are rounding."""
UNKNOWN = '\N{EN DASH}'

# What is no character, steers terminals, or turns the text around it.
_ODD = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff'
    '\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]'
)


class Drawing(str):
    """A path of numbers made here, which may be long."""

    __slots__ = ()


def finalize(value: Any) -> Any:
    """What the template puts in place of a value, before it is escaped."""
    if type(value) is not str:
        return value
    if len(value) > LONGEST:
        more = len(value) - LONGEST
        value = f'{value[:LONGEST]}\N{HORIZONTAL ELLIPSIS} ({more} more)'
    return _ODD.sub('\N{REPLACEMENT CHARACTER}', value)


def score(value: float | None) -> str:
    """A value of a host: a ratio."""
    return _fixed(value, 3)


def imbalance(value: float | None) -> str:
    """Four digits, to be told from a threshold of two."""
    return _fixed(value, 4)


def gibibytes(mebibytes: float) -> str:
    return f'{_fixed(mebibytes / 1024, 1)} GiB'


def duration(seconds: float) -> str:
    return durations.rounded(seconds) if is_number(seconds) else UNKNOWN


def whole(number: int) -> str:
    """With a thin gap between thousands: 20 000."""
    return f'{number:,}'.replace(',', '\N{NARROW NO-BREAK SPACE}')


def many(number: int, what: str) -> str:
    """``1 move``, ``2 moves``."""
    return f'{whole(number)} {what}{"" if number == 1 else "s"}'


def plain(number: float) -> str:
    """As few digits as tell it: 0.15."""
    return f'{number:g}' if is_number(number) else UNKNOWN


def setting(value: Any) -> str:
    """A setting: what is not set is said, lists are written out."""
    if value is None:
        return 'not set'
    if isinstance(value, (list, tuple)):
        return ', '.join(str(part) for part in value) or 'none'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return str(value)


def is_number(value: Any) -> bool:
    """Whether it is a finite number, to draw or to compare."""
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return numeric and math.isfinite(value)


def _fixed(value: float | None, digits: int) -> str:
    if value is None or not is_number(value):
        return UNKNOWN
    return f'{value:z.{digits}f}'
