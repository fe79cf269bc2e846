# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists as words, the same in every sentence."""

from collections.abc import Collection


def some(names: Collection[str], limit: int = 5) -> str:
    """The first names as text: ``a, b and 7 more``."""
    first = ', '.join(list(names)[:limit])
    more = len(names) - limit
    return f'{first} and {more} more' if more > 0 else first


def counted(number: int, what: str) -> str:
    """A number of things as text: ``1 host``, ``2 hosts that are down``."""
    noun, _, rest = what.partition(' ')
    return f'{number} {noun}{"" if number == 1 else "s"} {rest}'.rstrip()
