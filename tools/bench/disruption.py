# SPDX-License-Identifier: Apache-2.0
"""The time that consent, disruption budgets and windows add to planning.

By turns without and with them, on the same cloud: one in twenty servers has an
owner with a wish, every server has a project, and Nova has a day of moves.
"""

import dataclasses
import functools
import gc
import operator
import pathlib
import statistics
from typing import Any

from bench import case, clusters, plans, processes, table, weighing
from kronos.clients.nova.rows import HostAggregate
from kronos.engine.eligibility import consent
from kronos.engine.planning import propose
from kronos.engine.settings import ConsentRule, Settings
from kronos.engine.types import Disruption, Snapshot
from kronos.policies.models import Policy
from kronos.recordings.formats import cluster
from kronos.snapshots import scope_windows

PAIRS = 31
MOST_RATIO = 1.10
PROJECTS = 500
ONE_IN = 20
"""Servers of which one has an owner with a wish."""
MOVED = 10
"""Servers of which one has moved in the last day."""
DAY = 86400.0
NOW = 1.8e9
"""Unix seconds; in January 2027."""
LIMITS: dict[str, Any] = {
    'project_budget': '2,20/3600',
    'project_budgets': {'project-0': '5/3600'},
    'group_budget': '1/3600',
    'instance_budget': '2/86400',
    'windows': [
        'Mon-Fri 00:00-24:00 Europe/Berlin',
        'Sat,Sun 00:00-24:00 Europe/Berlin',
    ],
    'freezes': ['2027-12-20/2028-01-06 Europe/Berlin'],
}
COLUMNS = {
    'hosts': ('hosts', ',d'),
    'instances': ('instances', ',d'),
    'moves': ('moves', ',d'),
    'limited_moves': ('limited', ',d'),
    'without_ms': ('without ms', ',.1f'),
    'with_ms': ('with ms', ',.1f'),
    'ratio': ('ratio', '.4f'),
    'result': ('', 's'),
}
LEGEND = (
    'limited: moves of a plan with consent, budgets and windows; ratio: the '
    'median of pairs'
)


def rows(folder: pathlib.Path) -> list[dict[str, Any]]:
    """A plan of 1,000 hosts.

    :param folder: where the made-up cluster may lie
    """
    path = clusters.file(folder, hosts=plans.REFERENCE)
    return [processes.run('bench.disruption', path=path)]


def text(found: list[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def is_met(found: list[dict[str, Any]]) -> bool:
    """Whether the limits add as little as they may."""
    return all(row['ratio'] <= MOST_RATIO for row in found)


def measured(path: str, pairs: int = PAIRS) -> dict[str, Any]:
    """What the limits add to a plan.

    :param path: of a cluster/1 file
    :param pairs: how often
    """
    result = cluster.read(path)
    snapshot = _lived_in(result.snapshot)
    honoured = case.spreading('greedy', plans.MOVES)
    limited = dataclasses.replace(honoured, **LIMITS)
    plain = dataclasses.replace(honoured, consent=ConsentRule.IGNORE)

    def plan(settings: Settings) -> int:
        return _moves(snapshot, result.policies, settings)

    row = {
        'hosts': len(snapshot.hosts),
        'instances': len(snapshot.instances),
        'moves': plan(plain),
        'limited_moves': plan(limited),
    }
    seconds = []
    for number in range(pairs):
        turn = -1 if number % 2 else 1
        both = []
        for settings in (plain, limited)[::turn]:
            gc.collect()
            both.append(weighing.timed(functools.partial(plan, settings)))
        seconds.append(both[::turn])
    without, limits = zip(*seconds, strict=True)
    ratio = statistics.median(map(operator.truediv, limits, without))
    return row | {
        'without_ms': 1e3 * statistics.median(without),
        'with_ms': 1e3 * statistics.median(limits),
        'ratio': ratio,
        'result': '' if ratio <= MOST_RATIO else 'too much',
    }


def _moves(
    snapshot: Snapshot, policies: list[Policy], settings: Settings
) -> int:
    """How many a plan has, with the window of its scope."""
    context = scope_windows.PlanContext(
        [HostAggregate(1, snapshot.scope)], 'kronos_spread', case.CONCURRENT
    )
    scope_windows.note([snapshot], settings, context)
    plan = propose.plan([snapshot], policies, settings, case.CONCURRENT)
    return len(plan.report.steps)


def _lived_in(snapshot: Snapshot) -> Snapshot:
    """The cloud with projects, wishes of owners and a history."""
    instances, wishes = {}, list(consent.Consent)
    for number, (uuid, plain) in enumerate(sorted(snapshot.instances.items())):
        instance = dataclasses.replace(
            plain, project_id=f'project-{number % PROJECTS}'
        )
        if number % ONE_IN == 0:
            wish = wishes[number // ONE_IN % len(wishes)]
            instance.metadata = {**plain.metadata, consent.KEY: wish.value}
        instances[uuid] = instance
    moved = sorted(instances)[::MOVED]
    moves = [
        Disruption(
            uuid, instances[uuid].project_id, NOW - DAY * number / len(moved)
        )
        for number, uuid in enumerate(moved)
    ]
    return dataclasses.replace(
        snapshot, instances=instances, disruptions=moves, taken_at=NOW
    )


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
