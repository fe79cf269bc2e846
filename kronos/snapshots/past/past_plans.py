# SPDX-License-Identifier: Apache-2.0
"""The past plans: what Watcher's actions say of each, scope by scope."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.engine.effect.measurement import PastMove
from kronos.engine.types import Shares
from kronos.snapshots import watcher_actions, watcher_api
from kronos.snapshots.watcher_actions import ActionRow

_BEGUN = (watcher_actions.FINISHED, watcher_actions.FAILED)


@dataclass(frozen=True)
class PastPlan:
    """A plan as far as it is about one scope; times are Unix seconds."""

    uuid: str
    state: str
    scope: str
    created: float
    rows: Sequence[ActionRow]

    @property
    def is_started(self) -> bool:
        """Whether a move of it began and ended."""
        return any(row.state in _BEGUN for row in self.rows)

    @property
    def is_running(self) -> bool:
        """Whether it runs or will."""
        return self.state in watcher_actions.STARTED

    @property
    def is_live(self) -> bool:
        """Whether all of its moves are live migrations."""
        kinds = {row.action_type for row in self.rows}
        return kinds == {watcher_actions.ACTION_TYPE}

    @property
    def ended(self) -> float:
        """When its last move ended; of one never started, when it was made.

        Watcher also writes a plan's own row when its strategy changes.
        """
        times = [row.touched for row in self.rows if row.state in _BEGUN]
        return max(times, default=self.created)

    @property
    def forecast_seconds(self) -> float:
        """How long its moves were expected to take, one after the other."""
        return sum(
            _number(row.parameters.get('forecast_seconds'))
            for row in self.rows
        )

    def moves(self) -> list[PastMove]:
        """All of them, in the order of Watcher's rows."""
        return [
            PastMove(
                row.parameters['resource_id'],
                row.parameters['source_node'],
                row.parameters['destination_node'],
                shares_of(row.parameters),
                row.state == watcher_actions.FINISHED,
            )
            for row in self.rows
        ]


def newest(watcher: WatcherClient, most: int) -> list[PastPlan]:
    """The newest plans of each scope, the newest first.

    :param most: of one scope
    :raises ClientError: Watcher is away, or refuses
    """
    rows = itertools.islice(watcher.plans(most), LOOKED_AT * most)
    return of_each_scope(
        (plan for row in rows for plan in of_row(watcher, row)), most
    )


def of_each_scope(plans: Iterable[PastPlan], most: int) -> list[PastPlan]:
    """The first plans of each scope.

    :param most: of one scope
    """
    counts: dict[str, int] = {}
    result: list[PastPlan] = []
    for plan in plans:
        counts[plan.scope] = counts.get(plan.scope, 0) + 1
        if counts[plan.scope] <= most:
            result.append(plan)
    return result


LOOKED_AT = 10
"""Plans that are listed for each that is to be measured: those of other
scopes, and of other strategies, are among them."""


def of_row(watcher: WatcherClient, row: dict[str, Any]) -> list[PastPlan]:
    """A plan of Watcher's API, for each scope that it moves servers in.

    :raises ClientError: Watcher is away, or refuses
    """
    actions = map(watcher_api.action_row, watcher.actions_of(row['uuid']))
    created = seconds_of(row['created_at'])
    return list(split(row['uuid'], row['state'], created, actions))


def split(
    uuid: str, state: str, created: float, rows: Iterable[ActionRow]
) -> Iterator[PastPlan]:
    """A plan for each scope; rows that are no move of Kronos are left out."""
    by_scope: dict[str, list[ActionRow]] = {}
    for row in rows:
        if watcher_actions.is_whole_move(row):
            scope = row.parameters['aggregate']
            by_scope.setdefault(scope, []).append(row)
    for scope, own in by_scope.items():
        yield PastPlan(uuid, state, scope, created, own)


def shares_of(parameters: dict[str, Any]) -> dict[str, Shares]:
    """By policy what an action should change; {} if it does not say so."""
    effect = parameters.get('effect')
    if not isinstance(effect, dict):
        return {}
    return {
        policy: Shares(_number(row[0]), _number(row[1]), row[2])
        for policy, row in effect.items()
        if isinstance(row, list)
        and len(row) == len(Shares.__dataclass_fields__)
        and isinstance(row[2], str)
    }


def _number(value: Any) -> float:
    """A finite number of at least 0; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if math.isfinite(value) and value >= 0 else 0.0
