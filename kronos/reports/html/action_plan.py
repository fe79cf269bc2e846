# SPDX-License-Identifier: Apache-2.0
"""The page of an action plan, from what Watcher's API returns about it.

It needs nothing else, as :mod:`.page`; every value is escaped.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kronos.reports.html import page, sankey, view

_COLOURS = {'SUCCEEDED': 'good', 'FAILED': 'bad', 'CANCELLED': 'bad'}


def render(plan: Mapping[str, Any], facts: Sequence[tuple[str, str]]) -> str:
    """A plan as HTML.

    :param plan: ``uuid``, ``state``, ``message``, ``audit_message``, ``done``,
        ``failed``, ``imbalance_before`` and ``imbalance_after`` (None: not
        known), ``efficacy`` (rows of name, value, unit) and ``moves`` in
        order, each with ``name``, ``server``, ``source``, ``destination``,
        ``scope``, ``phase``, ``kind``, ``state``, ``reason``, ``remedy``,
        ``changes`` and ``combined``
    :param facts: names and values below the title
    :returns: a whole page, which can be encoded as UTF-8
    """
    moves = plan['moves']
    steps = [
        move
        for move in moves
        if move['source'] and move['destination'] and move['phase']
    ]
    return (
        page.environment()
        .get_template('action_plan.html')
        .render(
            title=f'Plan {plan["uuid"]}',
            plan=plan,
            facts=facts,
            colour=_COLOURS.get(plan['state'], ''),
            # The numbers of the drawing are those of the table.
            flow=sankey.flow(steps, {}) if steps == moves else None,
            moved=len(steps),
            zoned=False,
            rows=moves[: view.MOVES],
        )
    )
