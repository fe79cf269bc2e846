# SPDX-License-Identifier: Apache-2.0
"""The table of a plan that is about to be started, for people."""

import prettytable

from kronos.osc.plans import Plan

COLUMNS = ('#', 'Server', 'From', 'To', 'Phase', 'Imbalance', 'Combined')


def text(plan: Plan, message: str) -> str:
    """The moves of a plan in order, and what it does.

    :param message: of its audit
    """
    table = prettytable.PrettyTable(COLUMNS)
    table.align = 'l'
    for number, move in enumerate(plan.moves, start=1):
        table.add_row(
            [
                number,
                move.name or move.server,
                move.source,
                move.destination,
                move.purpose,
                move.changes,
                move.combined,
            ]
        )
    lines = [f'Plan {plan.uuid}', table.get_string()]
    before, after = plan.imbalance
    if before is not None and after is not None:
        lines.append(f'Combined imbalance: {before:.3f} -> {after:.3f}')
    lines += [
        f'{row["name"]}: {row["value"]:g} {row["unit"]}'.rstrip()
        for row in plan.efficacy
    ]
    return '\n'.join([*lines, *filter(None, [message])])
