# SPDX-License-Identifier: Apache-2.0
"""The windows that keep scopes closed: unusable ones, and never open ones."""

import time
from collections.abc import Collection, Sequence
from typing import Any

from kronos.clients.nova.rows import HostAggregate
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.common import plain_text
from kronos.common.plugins import entry_points
from kronos.engine import wording
from kronos.engine.types import Snapshot
from kronos.snapshots import scope_windows
from kronos.windows.errors import WindowError

STRATEGIES = 'watcher_strategies'
CLOSED = 'until then Kronos moves no server of the scope'
REMEDY = f'correct it; {CLOSED}'


def check_snapshots(
    kronos: Any,
    cloud: Apis,
    snapshots: Sequence[Snapshot],
    findings: Findings,
) -> None:
    """As :func:`check`, of scopes that were read."""
    aggregates: Sequence[HostAggregate] = []
    if snapshots and cloud.nova is not None:
        aggregates = cloud.nova.list_aggregates()
    scopes = [snapshot.scope for snapshot in snapshots]
    check(kronos, aggregates, scopes, findings)


def check(
    kronos: Any,
    aggregates: Sequence[HostAggregate],
    scopes: Collection[str],
    findings: Findings,
) -> None:
    """Look at the windows of the options, and of each scope.

    :param kronos: the group ``[kronos]``
    :param aggregates: all of Nova
    :param scopes: names of those that are planned
    """
    for scope in ['', *scopes]:
        _check_scope(scope, aggregates, kronos, findings)
    for aggregate in aggregates:
        keys = sorted(set(scope_windows.KEYS) & set(aggregate.metadata))
        if keys and aggregate.name not in scopes:
            name = plain_text.line(aggregate.name)
            findings.warning(
                'window-unused',
                f'aggregate {name} has {" and ".join(keys)}, but is no scope',
                'plan it as a scope, or set the key on the aggregate that is '
                'planned',
            )
    names = entry_points.of_group(STRATEGIES).names
    if unknown := sorted(set(kronos.window_exempt) - set(names)):
        findings.warning(
            'window-exempt-unknown',
            f'window_exempt has no strategy: {wording.some(unknown)}',
            'name strategies of Watcher there, such as kronos_evacuate',
        )


def _check_scope(
    scope: str,
    aggregates: Sequence[HostAggregate],
    kronos: Any,
    findings: Findings,
) -> None:
    """:param scope: '' stands for the options alone"""
    try:
        calendar = scope_windows.calendar_of(scope, aggregates, kronos)
    except WindowError as error:
        findings.error('window-unusable', str(error), REMEDY)
        return
    state = calendar.state(time.time())
    if calendar.is_empty or state.is_open or state.until is not None:
        return
    which = f'of scope {plain_text.line(scope)}' if scope else 'of [kronos]'
    findings.error(
        'window-never-open',
        f'the window {which} does not open within 3 years',
        f'correct windows, freezes or the metadata of its aggregate; {CLOSED}',
    )
