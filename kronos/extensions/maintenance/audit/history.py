# SPDX-License-Identifier: Apache-2.0
"""The closings of a run, and other runs, from Watcher's database."""

from watcher import objects
from watcher.common import context

from kronos.common import exceptions
from kronos.extensions.maintenance import maintenance_parameters

CLOSE = 'kronos_close_for_maintenance'
STRATEGY = 'kronos_maintain'
LIVE = ('ONGOING', 'SUSPENDED')
"""States of a CONTINUOUS audit that goes on, or can be resumed."""


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


def elsewhere(run: str) -> dict[str, str]:
    """The hosts of other runs that have not ended, and the run of each.

    :param run: name of this one
    """
    hosts: dict[str, str] = {}
    for row in objects.Audit.list(
        context.make_context(is_admin=True),
        filters={'strategy_name': STRATEGY, 'audit_type': 'CONTINUOUS'},
    ):
        if row.state not in LIVE:
            continue
        try:
            spec = maintenance_parameters.parse(row.parameters)
        except exceptions.ConfigurationError:
            # Such an audit plans nothing.
            continue
        if spec.run != run:
            hosts |= dict.fromkeys(spec.hosts, spec.run)
    return hosts
