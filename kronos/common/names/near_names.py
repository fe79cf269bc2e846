# SPDX-License-Identifier: Apache-2.0
"""The names that are near one that nothing has: what may have been meant.

Whatever somebody types, in a command, a file or a parameter, and nothing is
called so. Names may be of tenants, and there may be many of them.
"""

import difflib
from collections.abc import Collection, Iterable

from kronos.common import plain_text

LONGEST = 100
"""Characters of a name; longer ones are compared with nothing."""
MOST = 200_000
"""Characters of all names that one is compared with."""
NEAR = 3
"""So many are proposed of a cloud, whose hosts differ by a digit."""
LISTED = 20
"""Of a cloud, so many are listed where none is near."""
ALIKE = 0.05
"""Those that are less near than the nearest by more are not proposed."""
CUTOFF = 0.6
"""What difflib calls close."""


def near(
    name: str,
    choices: Iterable[str],
    most: int = 1,
    cutoff: float = CUTOFF,
) -> list[str]:
    """The nearest names, the best first, whatever their case."""
    if len(name) > LONGEST:
        return []
    names: dict[str, str] = {}
    total = 0
    for item in choices:
        if 0 < len(item) <= LONGEST:
            total += len(item)
            if total > MOST:
                break
            names.setdefault(item.casefold(), item)
    word = name.casefold()
    # With its domain a host has another length.
    domains = [key for key in names if _is_short(word, key)][:most]
    if domains:
        return [plain_text.line(names[key]) for key in domains]
    alike = difflib.get_close_matches(word, names, most, cutoff)
    ratios = [
        difflib.SequenceMatcher(None, key, word).ratio() for key in alike
    ]
    return [
        plain_text.line(names[key])
        for key, ratio in zip(alike, ratios, strict=True)
        if ratio > ratios[0] - ALIKE
    ]


def _is_short(name: str, other: str) -> bool:
    """Whether one of two names is the other without its domain."""
    return bool(name) and (
        other.startswith(f'{name}.') or name.startswith(f'{other}.')
    )


def question(names: Iterable[str]) -> str:
    """What is asked of near names; '' if there are none."""
    *others, last = [*names] or ['']
    text = ' or '.join(filter(None, (', '.join(others), last)))
    return f'did you mean {text}?' if text else ''


def of_fields(name: str, choices: Collection[str]) -> str:
    """What may have been meant by a word of Kronos, else all of them."""
    return question(near(name, choices)) or f'known: {", ".join(choices)}'


def of_cloud(name: str, choices: Iterable[str]) -> str:
    """What may have been meant by a name of the cloud, else some of them."""
    names = list(dict.fromkeys(filter(None, choices)))
    if hint := question(near(name, names, NEAR)):
        return hint
    listed = [plain_text.line(item[:LONGEST]) for item in names[:LISTED]]
    more = len(names) - len(listed)
    text = ', '.join(listed) or 'none'
    return f'known: {text} and {more} more' if more > 0 else f'known: {text}'
