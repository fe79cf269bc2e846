# SPDX-License-Identifier: Apache-2.0
"""The allocations of an instance in Placement: whether they are on its host.

The move of an instance with allocations elsewhere would leave resources
claimed for nothing. Nova does not correct that by itself. The audit and the
action check the same.
"""

from collections.abc import Collection

from kronos.common.shell_commands import ShellCommand
from kronos.engine.reasons import Code, Reason


def why_not(uuid: str, node: str, held_on: Collection[str]) -> Reason | None:
    """Why an instance must not move; None if it is held where it is.

    :param node: that of its host
    :param held_on: the nodes on which Placement holds memory for it
    """
    return None if set(held_on) == {node} else reason(uuid, node, held_on)


def reason(uuid: str, host: str, held_on: Collection[str]) -> Reason:
    """That it is held elsewhere than on its host, and the remedy."""
    nodes = ' and '.join(sorted(held_on)) or 'no host'
    heal = ShellCommand.HEAL_ALLOCATIONS.of(server=uuid)
    return Reason(
        f'Placement has its allocations on {nodes} instead of {host}: '
        f'"{heal}" corrects them',
        Code.INSTANCE_ALLOCATIONS,
    )
