# SPDX-License-Identifier: Apache-2.0
"""The memory that a JSON text takes as objects, judged before it is parsed.

Two bytes such as ``[]`` become a hundred: a text of some megabytes may take
gigabytes. Signs are counted, those inside of strings as well, in a tenth of
the time of parsing. The weights were measured with pydantic, which takes two
to three times as much as ``json`` of the standard library.
"""

MOST = 10**9
"""Bytes; a recording of 100,000 instances has 600 to 900 million in a file."""
_WEIGHTS = {b',': 70, b':': 150, b'{': 500, b'[': 200, b'"': 20}
_EMPTY_LESS = 400
"""An object without a key takes less than others by so much."""
_ELEMENT_MORE = 70
"""An element of a list takes more than what has a key by so much."""


def memory_of(data: bytes | bytearray) -> int:
    """Bytes that it takes, at most and roughly."""
    counts = {sign: data.count(sign) for sign in _WEIGHTS}
    whole = sum(counts[sign] * weight for sign, weight in _WEIGHTS.items())
    elements = max(0, counts[b','] - counts[b':'])
    empty = data.count(b'{}')
    return len(data) + whole + elements * _ELEMENT_MORE - empty * _EMPTY_LESS


def is_too_much(data: bytes | bytearray) -> bool:
    """Whether it had better not be parsed."""
    # No sign weighs more than that of an object.
    return len(data) * _WEIGHTS[b'{'] > MOST and memory_of(data) > MOST
