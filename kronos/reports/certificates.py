# SPDX-License-Identifier: Apache-2.0
"""The certificate of a plan, in words and as a row of the report.

Of one that packs, what takes its place: how many hosts could be emptied.
"""

import math
from typing import Any

from kronos.engine import wording
from kronos.engine.types import AggregateResult, Certificate, PackingBound

SHOWN = 0.0001
"""Less is printed as 0, which every plan keeps to."""


def row(found: Certificate | None) -> dict[str, Any] | None:
    """For programs; null where nothing was spread."""
    if found is None:
        return None
    return {
        'migrations': found.migrations,
        'bound': found.bound,
        'gap': found.gap,
        'share': found.share,
        'found_by': found.found_by.value,
        'is_optimal': found.is_optimal,
        'text': told(found),
    }


def told(found: Certificate | None) -> str:
    """As a sentence; '' where it says nothing.

    A bound of 0 proves nothing, but of a plan that reaches it. All numbers
    are rounded to where they promise less.
    """
    if found is None or not found.migrations:
        return ''
    number = wording.counted(found.migrations, 'migration')
    if found.is_optimal:
        return f'No plan of {number} can get the combined imbalance lower.'
    bound = ''
    if found.bound >= SHOWN:
        bound = f'{_floor(found.bound, 4):.4f}'
    if not percent(found):
        least = f'No plan of {number} can get the combined imbalance below '
        return f'{least}{bound}.' if bound else ''
    text = (
        f'This plan removes at least {percent(found):.1f} % of the combined '
        f'imbalance that any plan of {number} could remove'
    )
    return f'{text}: none gets it below {bound}.' if bound else f'{text}.'


def percent(found: Certificate) -> float | None:
    """The share that a plan reaches at least; None: nothing is possible."""
    if found.share is None:
        return None
    return _floor(100 * found.share, 1)


def brief(found: Certificate | None) -> str:
    """``at least 86.9 % of what 12 migrations can remove``; '' if nothing."""
    if found is None or found.is_optimal or not percent(found):
        return ''
    number = wording.counted(found.migrations, 'migration')
    return f'at least {percent(found):.1f} % of what {number} can remove'


def _floor(value: float, decimals: int) -> float:
    """Rounded down, but for what sums in another order make of it."""
    factor = 10.0**decimals
    return math.floor(value * factor + 1e-9) / factor


def packing_row(found: PackingBound | None) -> dict[str, Any] | None:
    """For programs; null where nothing was packed."""
    if found is None:
        return None
    return {
        'migrations': found.migrations,
        'hosts_emptied': found.emptied,
        'hosts_emptied_at_most': found.at_most,
        'is_optimal': found.is_optimal,
        'text': packing_told(found),
    }


def packing_told(found: PackingBound | None) -> str:
    """As a sentence; '' where it says nothing."""
    if found is None or not found.says_something or found.migrations == 0:
        return ''
    of = ''
    if found.migrations is not None:
        of = f' of {wording.counted(found.migrations, "migration")}'
    if found.is_optimal:
        more = 'more hosts' if found.emptied else 'a host'
        return f'No plan{of} can empty {more}.'
    most = wording.counted(found.at_most, 'host')
    return f'No plan{of} can empty more than {most}.'


def of(scope: AggregateResult) -> list[str]:
    """What is to be said of how good the plan of a scope is."""
    both = told(scope.certificate), packing_told(scope.packing)
    return [text for text in both if text]
