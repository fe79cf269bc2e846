# SPDX-License-Identifier: Apache-2.0
"""The limits of a plan in words: window, disruption budgets, consent."""

from collections import Counter

from kronos.engine import wording
from kronos.engine.types import AggregateResult


def sentences(scope: AggregateResult) -> list[str]:
    """How they stand; none for what is not set."""
    lines = []
    if scope.window is not None:
        lines.append(f'Window: {scope.window.text}')
    lines += [
        f'Moves by {budget.kind}_budget: {budget.used} used, {budget.free} '
        f'free, {budget.planned} planned'
        for budget in scope.budgets
    ]
    servers: Counter[str] = Counter()
    staying = 0
    for consent in scope.consents:
        servers[consent.kind] += consent.instances
        staying += len(consent.staying)
    if servers:
        kinds = ', '.join(f'{kind} {n}' for kind, n in servers.items())
        because = wording.counted(staying, 'server')
        lines.append(
            f'Consent: {kinds}; {because} '
            f'{"stays" if staying == 1 else "stay"} because of it'
        )
    return lines
