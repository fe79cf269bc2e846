# SPDX-License-Identifier: Apache-2.0
"""The window: why the servers of a scope may not be moved now."""

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    AggregateResult,
    ScopeWindow,
    Snapshot,
    Stop,
    StopReason,
)

STOPS: dict[ReasonCode, Stop] = {
    stop.code: stop
    for stop in (
        StopReason.WINDOW,
        StopReason.WINDOW_UNUSABLE,
        StopReason.WINDOW_TOO_SHORT,
    )
}
"""Of a scope in which nothing is planned now."""


def why_closed(snapshot: Snapshot) -> Reason | None:
    """Why nothing may be planned in a scope now; None if it may."""
    window = snapshot.window
    if window is None or window.is_exempt:
        return None
    if window.fault:
        return Reason(window.fault, Code.SCOPE_WINDOW_UNUSABLE)
    if not window.is_open:
        text = f'The window of {snapshot.scope} does not open within 3 years'
        if window.until:
            text = f'The window of {snapshot.scope} opens at {window.until}'
        return Reason(text, Code.SCOPE_WINDOW)
    if window.most_moves == 0:
        text = _why_short(snapshot.scope, window)
        return Reason(text, Code.WINDOW_TOO_SHORT)
    return None


def most_moves(snapshot: Snapshot) -> int | None:
    """How many moves end before the scope closes; None: any number."""
    window = snapshot.window
    if window is None or window.is_exempt:
        return None
    return window.most_moves


def tell_limit(result: AggregateResult, snapshot: Snapshot) -> None:
    """Say in a result that its window has limited its number of moves.

    :param result: of a plan that had only :func:`most_moves`
    """
    window = snapshot.window
    if window is None:
        return
    why = Reason(_why_short(snapshot.scope, window), Code.WINDOW_TOO_SHORT)
    is_used = result.stopped is StopReason.BUDGET
    for reasons in (
        result.stayed,
        result.unmovable,
        *(drain.staying for drain in result.drains),
    ):
        for uuid, reason in reasons.items():
            if reason.code is Code.BUDGET_USED:
                reasons[uuid], is_used = why, True
    if is_used:
        result.window_limit = str(why)
        result.reason = f'{result.reason}; {why}'


def _why_short(scope: str, window: ScopeWindow) -> str:
    number = wording.counted(window.most_moves or 0, 'move')
    return (
        f'The window of {scope} closes at {window.until}; {number} of about '
        f'{durations.rounded(window.move_seconds)} can end before'
    )
