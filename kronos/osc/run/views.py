# SPDX-License-Identifier: Apache-2.0
"""The views of a run: what is shown while an audit or a plan is under way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kronos.common import durations
from kronos.engine import wording
from kronos.osc.moves import MoveAction
from kronos.osc.plans import Plan
from kronos.osc.run import remaining_time
from kronos.snapshots import watcher_actions

SHOWN = 10
"""Moves under way that have a line, and whose progress Nova is asked for."""


@dataclass
class View:
    """One look at an audit or a plan."""

    text: str
    """The line that stays the same until something happens."""
    estimate: str = ''
    """When it is expected to end; it changes at each look."""
    done: int = 0
    total: int = 0
    """Actions; 0: there are none to count."""
    lines: Sequence[str] = field(default_factory=list)
    """What is under way, with its progress."""

    @property
    def line(self) -> str:
        return f'{self.text}, {self.estimate}' if self.estimate else self.text


Percent = Callable[[MoveAction], float | None]
"""How far a move has come, between 0 and 100; None: not known."""


def of_plan(plan: Plan, percent: Percent, elapsed: float) -> View:
    """A plan that was started.

    :param elapsed: seconds since its start
    """
    running = [
        move for move in plan.moves if move.state == watcher_actions.ONGOING
    ]
    percents = {move.uuid: percent(move) for move in running[:SHOWN]}
    over = sum(move.is_over for move in plan.moves)
    counted = wording.counted(len(plan.moves), 'action')
    parts = [f'plan {plan.uuid} is {plan.state}: {over} of {counted} done']
    if plan.failed:
        parts.append(f'{plan.failed} failed')
    if running:
        parts.append(f'{len(running)} under way')
    seconds = remaining_time.of(plan.moves, percents, elapsed)
    return View(
        ', '.join(parts),
        estimate=_estimate(seconds) if seconds is not None else '',
        done=over,
        total=len(plan.moves),
        lines=[
            _under_way(move, percents[move.uuid]) for move in running[:SHOWN]
        ],
    )


def _estimate(seconds: float) -> str:
    return f'about {durations.rounded(seconds)} left'


def _under_way(move: MoveAction, percent: float | None) -> str:
    if percent is not None:
        return f'{move.what}: {percent:.0f} %'
    return f'{move.what}: {move.reason}' if move.reason else move.what
