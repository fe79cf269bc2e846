# SPDX-License-Identifier: Apache-2.0
"""The certificate of a plan, in words and as a row of the report.

Of one that packs, what takes its place: how many hosts could be emptied.
"""

from typing import Any

from kronos.engine import wording
from kronos.engine.types import AggregateResult, Certificate, PackingBound

SHOWN = 0.00005
"""Less is printed as 0, which every plan keeps to."""


def row(found: Certificate | None) -> dict[str, Any] | None:
    """For programs; null where nothing was spread."""
    if found is None:
        return None
    return {
        'migrations': found.migrations,
        'bound': found.bound,
        'gap': found.gap,
        'found_by': found.found_by.value,
        'is_optimal': found.is_optimal,
        'text': told(found),
    }


def told(found: Certificate | None) -> str:
    """As a sentence; '' where it says nothing.

    A bound of 0 proves nothing, but of a plan that reaches it.
    """
    if found is None or not found.migrations:
        return ''
    number = wording.counted(found.migrations, 'migration')
    if found.is_optimal:
        return f'No plan of {number} can get the combined imbalance lower.'
    if found.bound < SHOWN:
        return ''
    return (
        f'No plan of {number} can get the combined imbalance below '
        f'{found.bound:.4f}, {100 * found.gap:.1f} % lower than this one.'
    )


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
