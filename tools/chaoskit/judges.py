# SPDX-License-Identifier: Apache-2.0
"""Judges of the lab at a moment, and once all has come to rest.

Standard library only: each judge is a function of what was seen.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from chaoskit.facts import (
    NEVER,
    Action,
    Finding,
    Look,
    Migration,
    Outages,
    Plan,
    Server,
)

UNDER_WAY = {
    'accepted',
    'pre-migrating',
    'queued',
    'preparing',
    'running',
    'running (post-copy)',
    'post-migrating',
    'migrating',
}
ENDED = {'SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED', 'SUPERSEDED'}
STARTED = {'ONGOING', 'SUCCEEDED', 'FAILED'}
"""States of actions that were carried out, or are being."""
TOLD = ('Placement', 'not over in Nova yet')
"""How an action tells that it could not leave all in order."""
APPLIERS = {'controller': 'watcher-applier'}
"""Its host to its service; others are the second one."""
NOVA = {'nova-conductor', 'nova-scheduler', 'rabbitmq', 'mariadb', 'placement'}
"""What Nova needs to end a migration in good order."""
TERMINAL = 'terminal states'
ALIVE = ('ONGOING', 'PENDING')
"""States of a continuous audit."""
EXEMPT = {'kronos_evacuate'}
"""A drain waits for no cooldown of the aggregate."""
EARLY, HALF = 0.1, 0.5
"""Parts of a cooldown: it counts from the start of a plan, of which so much
may still be ahead, and half of it follows the last move."""
LATE_SECONDS = 5.0
"""After an outage of the database, in which Watcher fails of it."""
SLACK = 2.0
"""Watcher's times are whole seconds."""


def twice(look: Look, outages: Outages) -> Iterator[Finding]:
    """No server has two migrations, nor two actions that move it."""
    rows = defaultdict(list)
    for row in look.migrations:
        if row.kind == 'live-migration' and row.status in UNDER_WAY:
            rows[row.server].append(row)
    for server, found in rows.items():
        # Those that a killed nova-compute has left are not under way.
        alive = [one for one in found if not _is_left(one, look, outages)]
        if len(alive) > 1:
            told = ', '.join(
                f'{one.id} {one.source} -> {one.destination} {one.status}'
                for one in alive
            )
            yield Finding(
                'two migrations',
                f'{_name(look, server)} has migrations {told}',
                f'openstack server migration list; server {server}',
            )
    moves = defaultdict(list)
    for action in look.actions:
        if action.state == 'ONGOING' and not _is_orphan(action, look, outages):
            moves[action.server].append(action)
    for server, taken in moves.items():
        if len(taken) > 1:
            told = ', '.join(
                f'{one.uuid} of plan {one.plan} to {one.destination}'
                for one in taken
            )
            yield Finding(
                'two migrations',
                f'{_name(look, server)} is moved by actions {told}',
                'the logs of the appliers; nova-requests.jsonl',
            )


def _is_left(row: Migration, look: Look, outages: Outages) -> bool:
    ends = {row.source, row.destination} | NOVA
    return outages.any(ends, row.created_at - SLACK, look.at)


def _is_orphan(action: Action, look: Look, outages: Outages) -> bool:
    plan = look.plans.get(action.plan)
    return plan is not None and _lost_applier(plan, action.updated_at, outages)


def _lost_applier(
    plan: Plan, since: float, outages: Outages, until: float = NEVER
) -> bool:
    """Whether its applier was away meanwhile, or could not write."""
    name = APPLIERS.get(plan.applier, 'watcher-applier-2')
    wanted = {name, 'mariadb', 'rabbitmq'}
    return outages.any(wanted, since - SLACK, until + SLACK)


def rules(
    look: Look, outages: Outages, aggregates: Mapping[str, Iterable[str]]
) -> Iterator[Finding]:
    """No group's rule is broken by a move of ours; none leaves a scope."""
    yield from _groups(look)
    for action in look.actions:
        ends = {action.source, action.destination}
        if not any(ends <= set(hosts) for hosts in aggregates.values()):
            yield Finding(
                'aggregates',
                f'action {action.uuid} takes {_name(look, action.server)} '
                f'from {action.source} to {action.destination}',
                f'openstack optimize actionplan show {action.plan}',
            )


def _groups(look: Look) -> Iterator[Finding]:
    for group in look.groups:
        members = [
            look.servers[uuid]
            for uuid in group.members
            if uuid in look.servers
            and look.servers[uuid].host
            and not look.servers[uuid].task_state
        ]
        at = Counter(member.host for member in members)
        crowded: set[str] = set()
        if group.policy == 'anti-affinity':
            crowded = {host for host, n in at.items() if n > group.per_host}
        elif group.policy == 'affinity' and len(at) > 1:
            crowded = set(at)
        if not crowded:
            continue
        last = _last_arrival(look, members, crowded)
        ours = last is not None and _is_of_kronos(look, last)
        told = ', '.join(f'{one.name} on {one.host}' for one in members)
        yield Finding(
            'server groups',
            f'{group.policy} group {group.uuid}: {told}',
            f'migration {last.uuid}, the last that came'
            if last
            else 'none of them was ever moved',
            ours,
        )


def _last_arrival(
    look: Look, members: list[Server], hosts: set[str]
) -> Migration | None:
    uuids = {member.uuid for member in members}
    found = [
        row
        for row in look.migrations
        if row.server in uuids
        and row.destination in hosts
        and row.status in ('completed', 'finished', 'confirmed')
    ]
    return max(found, key=lambda row: row.created_at, default=None)


def _is_of_kronos(look: Look, row: Migration) -> bool:
    """Whether an action has asked for it."""
    return _action_of(look, row) is not None


def _action_of(look: Look, row: Migration) -> Action | None:
    for action in look.actions:
        plan = look.plans.get(action.plan)
        if (
            row.kind == 'live-migration'
            and action.server == row.server
            and action.state in STARTED
            and row.destination in ('', action.destination)
            and plan is not None
            and plan.created_at - SLACK <= row.created_at
            and (
                action.state == 'ONGOING'
                or row.created_at <= action.updated_at + SLACK
            )
        ):
            return action
    return None


def cooldowns(
    look: Look,
    outages: Outages,
    aggregates: Mapping[str, Iterable[str]],
    cooldown: float,
) -> Iterator[Finding]:
    """A plan comes so long after the start of another one and its moves.

    What an applier that was away has never ended keeps nobody waiting.
    """
    by_plan = defaultdict(list)
    for action in look.actions:
        by_plan[action.plan].append(action)
    plans = sorted(look.plans.values(), key=lambda plan: plan.created_at)
    for name, hosts in aggregates.items():
        moved = {
            plan.uuid: _ends(
                [
                    action
                    for action in by_plan[plan.uuid]
                    if action.state != 'ONGOING'
                    or not _is_orphan(action, look, outages)
                ],
                set(hosts),
            )
            for plan in plans
        }
        started = [plan for plan in plans if moved[plan.uuid]]
        for before, plan in itertools.combinations(started, 2):
            gap = plan.created_at - max(moved[before.uuid])
            since_start = plan.created_at - before.created_at
            if plan.strategy in EXEMPT or (
                gap >= (HALF - EARLY) * cooldown - SLACK
                and since_start >= (1 - EARLY) * cooldown - SLACK
            ):
                continue
            yield Finding(
                'cooldown',
                f'{name}: plan {plan.uuid} of {plan.strategy} {_gap(gap)} '
                f'plan {before.uuid} of {before.strategy}; the cooldown is '
                f'{cooldown:g} s',
                f'audits {plan.audit} and {before.audit} in the log of the '
                'decision engine',
            )


def _gap(seconds: float) -> str:
    if seconds < 0:
        return f'was written {-seconds:.0f} s before the last move of'
    return f'was written {seconds:.0f} s after the last move of'


def _end(action: Action) -> float:
    return NEVER if action.state == 'ONGOING' else action.updated_at


def _ends(actions: list[Action], hosts: set[str]) -> list[float]:
    """When its moves in an aggregate were over; never, if they are not."""
    return [
        _end(action)
        for action in actions
        if action.state in STARTED
        and {action.source, action.destination} & hosts
    ]


def audits(
    look: Look, outages: Outages, created: Iterable[str]
) -> Iterator[Finding]:
    """A continuous audit stays one, whatever happens.

    But for what Watcher itself does of it while its database is away.
    """
    for uuid in created:
        audit = look.audits.get(uuid)
        if audit is None or audit.state not in ALIVE:
            state = audit.state if audit else 'gone'
            told = audit.status_message if audit else ''
            since = audit.updated_at if audit else look.at
            yield Finding(
                'audits alive',
                f'audit {audit.name if audit else uuid} is {state}: {told}',
                f'openstack optimize audit show {uuid}; the log of the '
                'decision engine',
                not outages.any({'mariadb'}, since - LATE_SECONDS, since),
            )


def at_rest(look: Look, outages: Outages) -> Iterator[Finding]:
    """Every plan, action, server and migration has come to an end."""
    yield from _open_plans(look, outages)
    yield from _open_actions(look, outages)
    yield from _busy_servers(look, outages)
    for row in look.migrations:
        if row.status in UNDER_WAY and row.server in look.servers:
            yield Finding(
                TERMINAL,
                f'migration {row.id} of {_name(look, row.server)} stays '
                f'{row.status}, {row.source} -> {row.destination}',
                f'openstack server migration list; {row.uuid}',
                not _is_left(row, look, outages),
            )


def _open_plans(look: Look, outages: Outages) -> Iterator[Finding]:
    filled = {action.plan for action in look.actions}
    for plan in look.plans.values():
        empty = plan.state == 'RECOMMENDED' and plan.uuid not in filled
        if plan.state in ENDED or empty:
            continue
        lost = _lost_applier(plan, plan.created_at, outages)
        yield Finding(
            TERMINAL,
            f'plan {plan.uuid} of {plan.strategy} stays {plan.state}',
            f'applier {plan.applier or "none"}; openstack optimize '
            f'actionplan show {plan.uuid}',
            # Watcher takes up none of those whose applier died then.
            not (lost and plan.state == 'CANCELLING'),
        )


def _open_actions(look: Look, outages: Outages) -> Iterator[Finding]:
    for action in look.actions:
        plan = look.plans.get(action.plan)
        if action.state in ENDED or plan is None:
            continue
        lost = _lost_applier(plan, plan.created_at, outages)
        yield Finding(
            TERMINAL,
            f'action {action.uuid} for {_name(look, action.server)} stays '
            f'{action.state}, its plan {action.plan} is {plan.state}: '
            f'{action.status_message}',
            f'applier {plan.applier or "none"}',
            not (lost and plan.state in ('CANCELLING', 'CANCELLED'))
            and not _is_not_written(action, plan, outages),
        )


def _is_not_written(action: Action, plan: Plan, outages: Outages) -> bool:
    """Whether Watcher's applier failed with its database.

    The plan is FAILED then. The action that was carried out stays ONGOING, as
    its end was not written, and those that would have come stay PENDING.
    """
    is_open = action.state in ('PENDING', 'ONGOING')
    if not is_open or plan.state != 'FAILED' or action.status_message:
        return False
    since = plan.updated_at - LATE_SECONDS
    return outages.any({'mariadb'}, since, plan.updated_at)


def _busy_servers(look: Look, outages: Outages) -> Iterator[Finding]:
    for server in look.servers.values():
        if not server.task_state:
            continue
        row = _last(look, server.uuid)
        yield Finding(
            TERMINAL,
            f'{server.name} stays {server.task_state}',
            f'openstack server show {server.uuid}; its last migration '
            f'is {row.uuid if row else "none"}',
            row is not None
            and _is_of_kronos(look, row)
            and not _is_left(row, look, outages),
        )


def errors(look: Look) -> Iterator[Finding]:
    """A server in ERROR says why, and it is not us."""
    for server in look.servers.values():
        if server.vm_state != 'error':
            continue
        row = _last(look, server.uuid)
        # Nova keeps no fault of a driver that raises in a live migration.
        is_told = server.fault or (row is not None and row.status == 'error')
        ours = not is_told or 'kronos' in server.fault.lower()
        fault = server.fault.splitlines()[0] if server.fault else 'no fault'
        yield Finding(
            'servers in ERROR',
            f'{server.name}: {fault}',
            f'openstack server show {server.uuid}',
            ours,
        )


def placement(look: Look, outages: Outages) -> Iterator[Finding]:
    """Each server holds room on its host, once; nobody else any.

    What Kronos has moved it answers for: it puts things right, or says
    that it could not.
    """
    for server in look.servers.values():
        held = look.allocations.get(server.uuid, frozenset())
        wanted = {server.host} if server.host else set()
        if server.vm_state == 'error' or held == wanted:
            continue
        last = _last(look, server.uuid)
        yield _allocation(
            look,
            outages,
            last,
            f'{server.name} is on {server.host} and holds room on '
            f'{", ".join(sorted(held)) or "no host"}',
            server.uuid,
        )
    yield from _left_behind(look, outages)


def _left_behind(look: Look, outages: Outages) -> Iterator[Finding]:
    """Room that is held for something else than a server."""
    rows_by_uuid = {row.uuid: row for row in look.migrations}
    for consumer, hosts in look.allocations.items():
        if consumer in look.servers:
            continue
        row = rows_by_uuid.get(consumer)
        server_of = look.servers.get(row.server) if row else None
        if server_of is not None and server_of.vm_state == 'error':
            continue
        if row is not None and row.kind != 'live-migration':
            what = f'{row.kind} {row.id} ({row.status})'
        elif row is not None:
            what = f'migration {row.id} ({row.status}) of {row.server}'
        else:
            what = f'{consumer}, which is no server,'
        yield _allocation(
            look,
            outages,
            row,
            f'{what} holds room on {", ".join(sorted(hosts))}',
            consumer,
        )


def _allocation(
    look: Look,
    outages: Outages,
    row: Migration | None,
    what: str,
    consumer: str,
) -> Finding:
    action = _action_of(look, row) if row else None
    plan = look.plans.get(action.plan) if action else None
    told = action.status_message if action else ''
    lost = (
        plan is not None
        and action is not None
        and _lost_applier(plan, plan.created_at, outages, _end(action))
    )
    return Finding(
        'placement',
        what,
        f'action {action.uuid} ({action.state}): {told}'
        if action
        else f'openstack resource provider allocation show {consumer}',
        action is not None
        and not lost
        and not any(words in told for words in TOLD),
    )


def _last(look: Look, server: str) -> Migration | None:
    rows = [row for row in look.migrations if row.server == server]
    return max(rows, key=lambda row: row.created_at, default=None)


def _name(look: Look, server: str) -> str:
    result = look.servers.get(server)
    return result.name if result else server
