# SPDX-License-Identifier: Apache-2.0
"""The history of a run: what its actions have come to, as Watcher has them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.common import plain_text
from kronos.extensions.maintenance.client.runs import Run
from kronos.osc import moves, plans
from kronos.osc.moves import MoveAction
from kronos.osc.plans import Plan
from kronos.snapshots import watcher_actions, watcher_api
from kronos.snapshots.watcher_actions import ActionRow

CLOSE = 'kronos_close_for_maintenance'
HAND_OVER = 'kronos_hand_over'
REOPEN = 'kronos_reopen'


@dataclass
class HostHistory:
    """What the run did to a host; times are Unix seconds, None: it did not."""

    closed: float | None = None
    handed_over: float | None = None
    reopened: float | None = None
    moves: int = 0
    """Servers that have left it."""
    failure: MoveAction | None = None
    """The last action that concerns it, if that failed."""

    @property
    def is_reopened(self) -> bool:
        """Whether the run has opened it since it closed it."""
        return self.reopened is not None and self.reopened >= (
            self.closed or 0.0
        )


@dataclass
class RunHistory:
    """What the actions of a run have come to."""

    hosts: dict[str, HostHistory] = field(default_factory=dict)
    moved: list[MoveAction] = field(default_factory=list)
    """Moves that SUCCEEDED, the first first."""
    failed: int = 0
    """Moves that FAILED."""
    plan: Plan | None = None
    """The newest."""

    def of_host(self, name: str) -> HostHistory:
        return self.hosts.get(name) or HostHistory()

    @property
    def times(self) -> Counter[str]:
        """How often each server was moved, by uuid."""
        return Counter(move.server for move in self.moved)

    @property
    def hosts_done(self) -> float | None:
        """How many hosts the newest plan counts as done; None: not known."""
        if self.plan is None:
            return None
        return self.plan.indicators.get('hosts_done')


def read(watcher: WatcherClient, run: Run) -> RunHistory:
    """The history of a run.

    :raises ClientError: Watcher is away, or refuses
    """
    uuids = {audit.uuid for audit in run.audits}
    history = of(_actions(watcher, run, uuids))
    for row in watcher.plans(plans.PAGE):
        if seconds_of(row['created_at']) < run.began:
            break
        if row.get('audit_uuid') in uuids:
            history.plan = plans.read(watcher, row)
            break
    return history


def _actions(
    watcher: WatcherClient, run: Run, uuids: set[str]
) -> list[ActionRow]:
    """Those of a run, the last written first."""
    rows = []
    for row in map(watcher_api.action_row, watcher.actions()):
        if row.touched < run.began:
            break
        values = row.parameters if isinstance(row.parameters, dict) else {}
        if watcher_actions.is_ours(row.action_type) and (
            values.get('audit_uuid') in uuids
        ):
            rows.append(row)
    return rows


def of(rows: Iterable[ActionRow]) -> RunHistory:
    """:param rows: the actions of a run"""
    history = RunHistory()
    for row in sorted(rows, key=lambda row: row.touched):
        move = moves.of(row)
        host = history.hosts.setdefault(move.source, HostHistory())
        has_ended = move.state in (
            watcher_actions.FINISHED,
            watcher_actions.FAILED,
        )
        if not has_ended:
            continue
        is_done = move.state == watcher_actions.FINISHED
        host.failure = None if is_done else move
        if watcher_actions.is_move(move.kind):
            history.failed += not is_done
            host.moves += is_done
            history.moved += [move] * is_done
        elif is_done:
            _note(host, move)
    return history


def _note(host: HostHistory, move: MoveAction) -> None:
    if move.kind == CLOSE:
        host.closed = move.touched
        host.handed_over = host.reopened = None
    elif move.kind == HAND_OVER:
        host.handed_over = move.touched
    elif move.kind == REOPEN:
        host.reopened = move.touched


def reason_of(failure: MoveAction) -> str:
    """Why it failed, and what to do."""
    parts = [failure.reason or failure.means, failure.remedy]
    return plain_text.line(' '.join(filter(None, parts)))
