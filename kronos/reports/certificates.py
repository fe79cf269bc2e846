# SPDX-License-Identifier: Apache-2.0
"""The certificate of a plan, in words and as a row of the report."""

from typing import Any

from kronos.engine import wording
from kronos.engine.types import Certificate

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
