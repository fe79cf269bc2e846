# SPDX-License-Identifier: Apache-2.0
"""The repairs of a server that Nova has left half moved, one after the other.

Who follows a move chooses among them, and reports what came of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kronos.clients.nova.cell_migration import CellMigration
from kronos.common.shell_commands import ShellCommand
from kronos.engine.eligibility.instances import RUNNING
from kronos.engine.types import Instance

ERROR, ACTIVE, STOPPED = 'ERROR', 'ACTIVE', 'SHUTOFF'


@dataclass
class ServerRemedy:
    """What may be wrong with a server, and what mends it."""

    is_left: Callable[[Instance], bool]
    reason: str
    """What is wrong."""
    command: ShellCommand
    """For an operator."""
    ask: Callable[[str], str]
    """Asks Nova for the same; returns the request id."""
    is_mended: Callable[[Instance], bool]


def of(nova: CellMigration, ran: bool, has_failed: bool) -> list[ServerRemedy]:
    """In the order in which one thing is mended after the other.

    :param ran: whether the server ran before its move
    :param has_failed: whether Nova gave the migration up
    """
    return [
        ServerRemedy(
            lambda server: has_failed and is_moving(server),
            'Nova left it busy for ever',
            ShellCommand.SERVER_SET_ACTIVE,
            nova.set_active,
            lambda server: not server.task_state,
        ),
        ServerRemedy(
            lambda server: server.status == ERROR and not server.task_state,
            'Nova left it in ERROR',
            ShellCommand.SERVER_REBOOT,
            nova.reboot,
            runs,
        ),
        ServerRemedy(
            lambda server: ran and is_active(server) and not runs(server),
            'Nova left it powered off',
            ShellCommand.SERVER_REBOOT,
            nova.reboot,
            runs,
        ),
        ServerRemedy(
            lambda server: ran and is_stopped(server),
            'Nova left it powered off',
            ShellCommand.SERVER_START,
            nova.start,
            runs,
        ),
        ServerRemedy(
            lambda server: not ran and is_active(server),
            'it had been stopped',
            ShellCommand.SERVER_STOP,
            nova.stop,
            is_stopped,
        ),
    ]


def is_moving(server: Instance) -> bool:
    """Whether its task is one of a cold move."""
    return (server.task_state or '').startswith('resize_')


def is_active(server: Instance) -> bool:
    return server.status == ACTIVE and not server.task_state


def runs(server: Instance) -> bool:
    return is_active(server) and server.power_state == RUNNING


def is_stopped(server: Instance) -> bool:
    return server.status == STOPPED and not server.task_state
