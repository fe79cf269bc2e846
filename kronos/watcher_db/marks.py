# SPDX-License-Identifier: Apache-2.0
"""The marks of an action: what its parameters tell of its turn and carrier.

They come from Watcher's database, where anybody may have changed them.
"""

import json
import math
from typing import Any

TURN = 'turn'
"""``{"at": 1763752294.1, "held": true}``."""
CARRIER = 'carrier'
"""Who carries the action out: ``{"at": 1763752294.1, "by": "0a1b..."}``."""


def parsed(text: str | None) -> dict[str, Any] | None:
    """The JSON object in a text; None: it is none."""
    try:
        document = json.loads(text or '')
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def part(marks: dict[str, Any], key: str) -> dict[str, Any]:
    """One of the marks; {} if there is none."""
    mark = marks.get(key)
    return mark if isinstance(mark, dict) else {}


def text(value: Any) -> str:
    """A text; '' of anything else."""
    return value if isinstance(value, str) else ''


def number(value: Any) -> float | None:
    """A finite number that is none of JSON's extras; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def last_sign(marks: dict[str, Any], but_of: str) -> float:
    """When a carrier was last seen at it, in Unix seconds.

    :param but_of: a carrier that does not count
    :returns: minus infinity if there is no other
    """
    carrier = part(marks, CARRIER)
    if not carrier or carrier.get('by') == but_of:
        return -math.inf
    signs = (number(part(marks, key).get('at')) for key in (CARRIER, TURN))
    return max((sign for sign in signs if sign is not None), default=-math.inf)
