# SPDX-License-Identifier: Apache-2.0
"""The colours of a terminal: of what is wrong, and of headings.

None where the output is no terminal, ``TERM`` is ``dumb``, or ``NO_COLOR`` is
set (https://no-color.org). They are added to text that steers no terminal any
more, and to lines that are as wide as they will be.
"""

import os
import re
from typing import IO

RED, GREEN, YELLOW, BOLD = '31', '32', '33', '1'
_PLACES = (
    (RED, r'^ *ERROR\b|^\| Result: Failure\b'),
    (YELLOW, r'^ *WARNING\b|^\| Result: Warning\b'),
    (
        YELLOW,
        r'^Warning(?=: )|^Not judged(?=: )|^kronos-[a-z-]+: warning(?=: )',
    ),
    (GREEN, r'^\| Result: Success\b|^ *to (?:lift|try) it(?=: )'),
    (BOLD, r'^(?:Scope|Instance|Host) .*$|^Nearest miss$'),
    (BOLD, r'^(?:Findings|Policies|Exporters|Scopes|Configuration)$'),
)
_PATTERNS = [
    (re.compile(pattern, re.MULTILINE), rf'\033[{colour}m\g<0>\033[0m')
    for colour, pattern in _PLACES
]


def are_wanted(out: IO[str]) -> bool:
    """Whether what is printed there may be coloured."""
    return (
        out.isatty()
        and not os.environ.get('NO_COLOR')
        and os.environ.get('TERM', '') != 'dumb'
    )


def painted(text: str) -> str:
    """The same with colours; nothing else differs."""
    for pattern, colour in _PATTERNS:
        text = pattern.sub(colour, text)
    return text
