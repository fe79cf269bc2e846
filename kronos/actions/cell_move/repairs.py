# SPDX-License-Identifier: Apache-2.0
"""The repairs of a server that Nova has left half moved, one after the other.

:mod:`.broken_ends` chooses among them and tells what came of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from kronos.actions.cell_move import progress
from kronos.actions.cell_move.context import BegunMove
from kronos.actions.core.step import Limits, Result, Step, StepRun
from kronos.actions.migration import lost_answers
from kronos.clients.nova.cell_migration import CellMigration
from kronos.common.shell_commands import ShellCommand
from kronos.engine.types import Instance


@dataclass
class Repair:
    """What may be wrong with a server, and what mends it."""

    is_left: Callable[[Instance], bool]
    told: str
    command: ShellCommand
    """For an operator."""
    ask: Callable[[str], str]
    """Asks Nova for the same; returns the request id."""
    is_mended: Callable[[Instance], bool]


def of(nova: CellMigration, ran: bool, has_failed: bool) -> list[Repair]:
    """In the order in which one thing is mended after the other.

    :param ran: whether the server ran before its move
    :param has_failed: whether Nova gave the migration up
    """
    return [
        Repair(
            lambda one: has_failed and progress.is_moving(one),
            'Nova left it busy for ever',
            ShellCommand.SERVER_SET_ACTIVE,
            nova.set_active,
            lambda one: not one.task_state,
        ),
        Repair(
            lambda one: one.status == progress.ERROR and not one.task_state,
            'Nova left it in ERROR',
            ShellCommand.SERVER_REBOOT,
            nova.reboot,
            progress.runs,
        ),
        Repair(
            lambda one: (
                ran and progress.is_active(one) and not progress.runs(one)
            ),
            'Nova left it powered off',
            ShellCommand.SERVER_REBOOT,
            nova.reboot,
            progress.runs,
        ),
        Repair(
            lambda one: ran and progress.is_stopped(one),
            'Nova left it powered off',
            ShellCommand.SERVER_START,
            nova.start,
            progress.runs,
        ),
        Repair(
            lambda one: not ran and progress.is_active(one),
            'it had been stopped',
            ShellCommand.SERVER_STOP,
            nova.stop,
            progress.is_stopped,
        ),
    ]


def carry_out(repair: Repair, begun: BegunMove) -> Result[Instance | None]:
    """Ask for it, and look until it has helped, or patience ends.

    None is what is seen of a server that was deleted.
    """
    context, timing = begun.context, begun.settings.timing
    uuid, evidence = begun.settings.task.instance, begun.evidence
    number = f'mend {len(evidence.mended)}'
    step = Step(
        participle='mended',
        ask=lambda: repair.ask(uuid),
        look=lambda: context.nova.get_instance(uuid),
        is_reached=lambda one: one is None or repair.is_mended(one),
        may_ask=lambda one: one is not None and repair.is_left(one),
        on_request=lambda one: evidence.requests.update({number: one}),
    )
    limits = Limits(
        timeout=timing.settle_timeout,
        poll_interval=timing.poll_interval,
        doubt=lost_answers.QUIET_LOOKS * timing.poll_interval,
        idle=math.inf,
    )
    return StepRun(step, context, limits).carry_out()
