# SPDX-License-Identifier: Apache-2.0
"""The time that the rest of a plan is expected to take."""

import statistics
from collections.abc import Mapping, Sequence

from kronos.osc.moves import MoveAction
from kronos.snapshots import watcher_actions

LEAST_SHARE = 0.1
"""Of a plan, from which on its pace so far is used."""


def of(
    moves: Sequence[MoveAction],
    percents: Mapping[str, float | None],
    elapsed: float,
) -> float | None:
    """Seconds until the last move has ended.

    Each move weighs as many seconds as its forecast, which its action
    contains, or as much as the others if it has none; what moves no server,
    such as closing a host, takes no time. The rest of the plan is expected
    to go on at the pace of the moves so far; before a tenth of it, one move
    after another.

    :param percents: how far moves under way have come, by uuid
    :param elapsed: seconds since the start of the plan
    :returns: None if there is neither a forecast nor a pace, or nothing
        is left
    """
    forecasts = [move.forecast for move in moves if move.forecast > 0]
    usual = statistics.fmean(forecasts) if forecasts else 1.0
    done = total = 0.0
    for move in moves:
        weight = 0.0 if _is_instant(move) else move.forecast or usual
        share = 1.0 if move.is_over else (percents.get(move.uuid) or 0) / 100
        total += weight
        done += weight * share
    rest = total - done
    if rest <= 0:
        return None
    # The first per cents of a move say nothing of its pace.
    if done > LEAST_SHARE * total and elapsed > 0:
        return rest * elapsed / done
    return rest if forecasts else None


def _is_instant(move: MoveAction) -> bool:
    return watcher_actions.is_ours(move.kind) and not move.server
