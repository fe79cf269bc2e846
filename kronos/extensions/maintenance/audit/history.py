# SPDX-License-Identifier: Apache-2.0
"""The closings of a run, from Watcher's database."""

from watcher import objects
from watcher.common import context

CLOSE = 'kronos_close_for_maintenance'


def closed(run: str) -> set[str]:
    """The hosts that a run has closed, whatever became of them.

    :param run: its name
    """
    rows = objects.Action.list(
        context.make_context(is_admin=True),
        filters={'state': objects.action.State.SUCCEEDED},
    )
    return {
        str(row.input_parameters.get('source_node', ''))
        for row in rows
        if row.action_type == CLOSE and row.input_parameters.get('run') == run
    }
