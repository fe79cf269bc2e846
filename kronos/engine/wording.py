# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists as words, the same in every sentence."""

from collections.abc import Collection


def some(names: Collection[str], limit: int = 5) -> str:
    """The first names as text: ``a, b and 7 more``."""
    first = ', '.join(list(names)[:limit])
    more = len(names) - limit
    return f'{first} and {more} more' if more > 0 else first
