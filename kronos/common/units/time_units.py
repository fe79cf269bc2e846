# SPDX-License-Identifier: Apache-2.0
"""The units of time that people write where a number of seconds is wanted."""

import re

UNITS = {
    'ms': 0.001,
    's': 1.0,
    'm': 60.0,
    'h': 3600.0,
    'd': 86400.0,
    'w': 604800.0,
    'y': 31536000.0,
}
"""Seconds, as Prometheus counts them."""
_LONG = {
    'sec': 's',
    'second': 's',
    'min': 'm',
    'minute': 'm',
    'hour': 'h',
    'hr': 'h',
    'day': 'd',
    'week': 'w',
}
_PART = re.compile(r'(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]{1,7})')


def seconds(text: str) -> float | None:
    """What a duration such as ``5m``, ``1h30m`` or ``10 minutes`` comes to.

    :returns: None: it is no duration with a unit
    """
    total, end = 0.0, 0
    bare = text.strip().lower()
    for part in _PART.finditer(bare):
        word = part[2]
        unit = UNITS.get(_LONG.get(word, _LONG.get(word[:-1], word)))
        if unit is None or bare[end : part.start()].strip():
            return None
        total += float(part[1]) * unit
        end = part.end()
    return total if end and end == len(bare) else None


def hint(text: str) -> str:
    """The seconds to write instead of a duration; '' if the text is none."""
    number = seconds(text)
    return '' if number is None else f'write {number:g}'
