# SPDX-License-Identifier: Apache-2.0
"""The judge of what is told as done. Standard library only."""

from collections.abc import Iterator

from chaoskit.facts import Finding, Look

DONE = {'completed', 'done'}
SLACK = 2.0
"""Times are whole seconds."""


def of_actions(look: Look) -> Iterator[Finding]:
    """An action has SUCCEEDED only if Nova has moved its server."""
    for action in look.actions:
        plan = look.plans.get(action.plan)
        if action.state != 'SUCCEEDED' or not action.server or plan is None:
            continue
        if action.server not in look.servers:
            continue
        if not any(
            row.server == action.server
            and row.destination == action.destination
            and row.status in DONE
            and plan.created_at - SLACK
            <= row.created_at
            <= action.updated_at + SLACK
            for row in look.migrations
        ):
            yield Finding(
                'told as done',
                f'action {action.uuid} has SUCCEEDED, and Nova has not moved '
                f'{action.server} to {action.destination}',
                'openstack server migration list; the log of the applier',
            )
