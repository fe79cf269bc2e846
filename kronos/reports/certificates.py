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


def row(certificate: Certificate | None) -> dict[str, Any] | None:
    """For programs; null where nothing was spread."""
    if certificate is None:
        return None
    return {
        'migrations': certificate.migrations,
        'bound': certificate.bound,
        'gap': certificate.gap,
        'share': certificate.share,
        'found_by': certificate.found_by.value,
        'is_optimal': certificate.is_optimal,
        'text': sentence(certificate),
    }


def sentence(certificate: Certificate | None) -> str:
    """As a sentence; '' where it says nothing.

    A bound of 0 proves nothing, but of a plan that reaches it. All numbers
    are rounded to where they promise less.
    """
    if certificate is None or not certificate.migrations:
        return ''
    number = wording.counted(certificate.migrations, 'migration')
    if certificate.is_optimal:
        return f'No plan of {number} can get the combined imbalance lower.'
    bound = ''
    if certificate.bound >= SHOWN:
        bound = f'{_floor(certificate.bound, 4):.4f}'
    if not percent(certificate):
        least = f'No plan of {number} can get the combined imbalance below '
        return f'{least}{bound}.' if bound else ''
    text = (
        f'This plan removes at least {percent(certificate):.1f} % of the '
        f'combined imbalance that any plan of {number} could remove'
    )
    return f'{text}: none gets it below {bound}.' if bound else f'{text}.'


def percent(certificate: Certificate) -> float | None:
    """The share that a plan reaches at least; None: nothing is possible."""
    if certificate.share is None:
        return None
    return _floor(100 * certificate.share, 1)


def brief(certificate: Certificate | None) -> str:
    """``at least 86.9 % of what 12 migrations can remove``; '' if nothing."""
    if (
        certificate is None
        or certificate.is_optimal
        or not percent(certificate)
    ):
        return ''
    number = wording.counted(certificate.migrations, 'migration')
    return f'at least {percent(certificate):.1f} % of what {number} can remove'


def _floor(value: float, decimals: int) -> float:
    """Rounded down, but for what sums in another order make of it."""
    factor = 10.0**decimals
    return math.floor(value * factor + 1e-9) / factor


def packing_row(bound: PackingBound | None) -> dict[str, Any] | None:
    """For programs; null where nothing was packed."""
    if bound is None:
        return None
    return {
        'migrations': bound.migrations,
        'hosts_emptied': bound.emptied,
        'hosts_emptied_at_most': bound.at_most,
        'is_optimal': bound.is_optimal,
        'text': packing_sentence(bound),
    }


def packing_sentence(bound: PackingBound | None) -> str:
    """As a sentence; '' where it says nothing."""
    if bound is None or not bound.says_something or bound.migrations == 0:
        return ''
    of = ''
    if bound.migrations is not None:
        of = f' of {wording.counted(bound.migrations, "migration")}'
    if bound.is_optimal:
        more = 'more hosts' if bound.emptied else 'a host'
        return f'No plan{of} can empty {more}.'
    most = wording.counted(bound.at_most, 'host')
    return f'No plan{of} can empty more than {most}.'


def of(scope: AggregateResult) -> list[str]:
    """What is to be said of how good the plan of a scope is."""
    both = sentence(scope.certificate), packing_sentence(scope.packing)
    return [text for text in both if text]
