# SPDX-License-Identifier: Apache-2.0
"""The limits of a plan in words: window, disruption budgets, consent."""

from collections import Counter
from collections.abc import Container

from kronos.common import plain_text
from kronos.engine import wording
from kronos.engine.types import AggregateResult

NAMED = 5
"""So many servers are named in a sentence."""


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
        verb = 'stays' if staying == 1 else 'stay'
        text = f'Consent: {kinds}; {because} {verb} because of it'
        if names := staying_servers(scope):
            text += f': {names}'
        lines.append(text)
    return lines


def staying_servers(
    scope: AggregateResult,
    among: Container[str] | None = None,
    limit: int = NAMED,
) -> str:
    """The servers that stay because of consent, with their projects.

    ``web-8, db-1 of project p1; ci-4 of project p2 and 4 more``

    :param among: uuids; None: all of the scope
    :param limit: so many are named
    """
    names = wording.ServerNames(scope.instances)
    parts: list[str] = []
    number = 0
    for consent in scope.consents:
        uuids = [
            uuid for uuid in consent.staying if among is None or uuid in among
        ]
        shown = uuids[: max(0, limit - number)]
        number += len(uuids)
        if shown:
            project = plain_text.line(consent.project)
            of = f'of project {project}' if project else 'of no known project'
            parts.append(f'{", ".join(map(names.of, shown))} {of}')
    more = f' and {number - limit} more' if number > limit else ''
    return f'{"; ".join(parts)}{more}'
