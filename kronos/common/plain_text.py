# SPDX-License-Identifier: Apache-2.0
"""Plain text: what others wrote, and steers no terminal and no log."""

import re

_CONTROL = re.compile(
    '[\x00-\x09\x0b-\x1f\x7f-\x9f'
    # What turns the direction of what follows, or breaks a line unseen.
    '\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff'
    # Half of a pair, which cannot be written.
    '\ud800-\udfff]'
)
"""What a name might do to a terminal."""
_FORMULA = re.compile(r'\s*[=+\-@\uff0b\uff0d\uff1d\uff20]')
_NUMBER = re.compile(r'[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|inf|nan)?', re.IGNORECASE)


def plain(text: str) -> str:
    """Lines without what steers a terminal."""
    return _CONTROL.sub('?', text)


def line(text: str) -> str:
    """The same of what is to be one line: a name, a reason, an error."""
    return plain(text.replace('\n', '?'))


def cell(text: str) -> str:
    """A cell of CSV, which no spreadsheet takes for a formula.

    A number stays one, and a lone sign as well.
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
