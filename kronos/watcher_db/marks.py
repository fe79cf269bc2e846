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
        told = json.loads(text or '')
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def part(told: dict[str, Any], key: str) -> dict[str, Any]:
    """One of the marks; {} if there is none."""
    found = told.get(key)
    return found if isinstance(found, dict) else {}


def number(told: Any) -> float | None:
    """A finite number that is none of JSON's extras; else None."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    try:
        return float(told) if math.isfinite(told) else None
    except OverflowError:
        return None


def last_sign(told: dict[str, Any], but_of: str) -> float:
    """When a carrier was last seen at it, in Unix seconds.

    :param but_of: a carrier that does not count
    :returns: minus infinity if there is no other
    """
    carrier = part(told, CARRIER)
    if not carrier or carrier.get('by') == but_of:
        return -math.inf
    signs = (number(part(told, key).get('at')) for key in (CARRIER, TURN))
    return max((one for one in signs if one is not None), default=-math.inf)
