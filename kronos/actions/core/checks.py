# SPDX-License-Identifier: Apache-2.0
"""The checks of a move, as of now: its server, its hosts, its destination.

The plan was right when it was made. Meanwhile members of a server group may
have been booted or moved there, or its room may be taken. Nova's scheduler
asks the same of hard rules; here it costs no migration that fails. Whether
the host is at fault, only the operator's query knows.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator

from kronos.actions.core import concurrency, slots
from kronos.actions.core.context import ServerContext
from kronos.actions.core.parameters import MigrationTask, MoveSettings
from kronos.clients.nova import server_lives
from kronos.clients.nova.client import NovaClient
from kronos.engine import faults, server_groups, types
from kronos.engine.eligibility import allocations as eligible
from kronos.engine.eligibility import budgets, free_capacity, hosts
from kronos.engine.faults import Fault
from kronos.engine.reasons import Code, Reason

SOURCE, DESTINATION = 'source', 'destination'
LOOKS_BACK = 86400.0
"""Seconds: what runs for longer without news does not count as under way."""
CLOCK_SLACK = 60.0
"""Seconds by which the clocks of an applier and of Nova may differ."""
CLOSED = (Code.HOST_FORCED_DOWN, Code.HOST_DISABLED)
"""An operator took the host out: that does not pass by itself."""


def require_at_source(
    instance: types.Instance | None, task: MigrationTask, noun: str
) -> types.Instance:
    """The server, if it is where its move begins.

    :param noun: what it is called in the message
    :raises StaleTask: it is gone, or elsewhere
    """
    if instance is None:
        raise faults.error(Fault.INSTANCE_GONE, f'the {noun} is gone')
    if instance.host != task.source:
        raise faults.error(
            Fault.INSTANCE_ELSEWHERE,
            f'the {noun} has left {task.source}; it is on '
            f'{instance.host or "no host"} now',
        )
    return instance


def why_over_budget(
    settings: MoveSettings,
    nova: NovaClient,
    others: Iterable[slots.Slot],
    now: float,
) -> str:
    """Which budget is used up until a move ends; '' if none is.

    It is asked with the turn held: of two moves the one that had its turn
    first counts for the other.

    :param others: the other moves, as they were when this one had its turn
    :param now: Unix seconds
    :raises StaleTask: a budget is used up for longer
    :raises NovaClientError: Nova cannot be asked
    """
    options, task = settings.budgets, settings.task
    if budgets.is_exempt(options, task.phase):
        return ''
    instance = nova.get_instance(task.instance)
    if instance is None:
        return ''
    window = budgets.longest_window(options)
    _, moves = nova.list_history(now - max(window, LOOKS_BACK))
    project = instance.project_id
    if budgets.counts_project(options, project):
        moves = _of_project(nova, moves, project, now, window)
    moves += [*_about_to_move(nova, others, moves)]
    groups = nova.list_server_groups() if options.group_budget else []
    every = budgets.Budgets(options, moves, groups, now)
    full = [each for each in every.of(instance) if each.free <= 0]
    for account in full:
        if account.window_is_full():
            raise faults.error(Fault.DISRUPTION_BUDGET, account.reason())
    return next((account.reason() for account in full), '')


def _of_project(
    nova: NovaClient,
    moves: list[types.Disruption],
    project: str,
    now: float,
    window: int,
) -> list[types.Disruption]:
    """The moves, with the project of those that are of one.

    Those of its servers that were deleted are among them.

    :param window: seconds of the longest one
    """
    since = now - max(window, LOOKS_BACK)
    # A server changes when it moves.
    lives = list(server_lives.listing(nova.api, since, project_id=project))
    living = {life.instance.uuid for life in lives if life.gone is None}
    attributed = [
        dataclasses.replace(move, project=project)
        if move.instance in living
        else move
        for move in moves
    ]
    return attributed + [
        *server_lives.past_moves(nova.api, lives, now - window)
    ]


def _about_to_move(
    nova: NovaClient,
    others: Iterable[slots.Slot],
    moves: Iterable[types.Disruption],
) -> Iterator[types.Disruption]:
    """Those with their turn of which Nova lists no migration yet."""
    newest: dict[str, float] = {}
    for move in moves:
        before = newest.get(move.instance, -math.inf)
        newest[move.instance] = max(before, move.started or before)
    for slot in others:
        started = newest.get(slot.instance, -math.inf)
        if slot.is_held and started < slot.since - CLOCK_SLACK:
            instance = nova.get_instance(slot.instance)
            if instance is not None:
                project = instance.project_id
                yield types.Disruption(slot.instance, project)


def check_host(
    service: types.ComputeService | None, where: str, host: str
) -> None:
    """Whether an end of a move may take part in it.

    :param where: :data:`SOURCE` or :data:`DESTINATION`
    :raises PreFlightError: it may not
    """
    reasons = host_reasons(service, where, host)
    if not reasons:
        return
    fault = Fault.SOURCE_NOT_UP
    if where == DESTINATION:
        closed = reasons[0].code in CLOSED
        fault = (
            Fault.DESTINATION_DISABLED if closed else Fault.DESTINATION_NOT_UP
        )
    raise faults.error(fault, ', '.join(reasons))


def host_reasons(
    service: types.ComputeService | None, where: str, host: str
) -> list[Reason]:
    """What keeps an end of a move from taking part in it.

    A source that was disabled meanwhile is no reason to stay there.

    :param where: :data:`SOURCE` or :data:`DESTINATION`
    """
    return [
        reason
        for reason in hosts.of_service(service, f'{where} {host}')
        if where == DESTINATION or reason.code is not Code.HOST_DISABLED
    ]


Flights = Iterable[concurrency.Flight]


def check(
    settings: MoveSettings,
    context: ServerContext,
    flights: Flights,
    is_inside: Callable[[str], bool],
    soft_rules_bind: bool = True,
) -> None:
    """All of them, in this order.

    :param flights, is_inside: of :func:`check_groups`
    :raises PreFlightError: one of them fails
    :raises ClientError: a service cannot be asked
    """
    task = settings.task
    check_scope(task, is_inside)
    check_groups(context.nova, task, flights, is_inside, soft_rules_bind)
    check_allocations(context, task)
    check_room(settings, context)
    check_exclusion(context, task)


def check_scope(task: MigrationTask, is_inside: Callable[[str], bool]) -> None:
    """Whether the move stays in its aggregate, as that is now.

    :raises PreFlightError: a host was taken out of it
    """
    for host in (task.source, task.destination):
        if not is_inside(host):
            raise faults.error(
                Fault.HOST_LEFT_SCOPE,
                f'{host} is not in {task.aggregate} any more',
            )


def check_groups(
    client: NovaClient,
    task: MigrationTask,
    flights: Flights,
    is_inside: Callable[[str], bool],
    soft_rules_bind: bool = True,
) -> None:
    """The rules of its server groups, where the members are now.

    :param flights: moves under way: a member counts at both its ends
    :param is_inside: whether a host is of the scope
    :raises PreFlightError: one of the rules forbids it
    :raises NovaClientError: Nova cannot be asked
    """
    heading = {flight.instance: flight.destination for flight in flights}
    for group in client.get_groups_of(task.instance):
        others = set(group.members) - {task.instance}
        if group.policy in server_groups.SOFT and not soft_rules_bind:
            continue
        if group.policy in server_groups.APART:
            residents = client.list_instances_on_host(task.destination)
            members = others & {instance.uuid for instance in residents}
            members |= {
                uuid
                for uuid in others
                if heading.get(uuid) == task.destination
            }
            reason = server_groups.why_not(group, len(members), 0)
        else:
            reason = _why_not_together(
                client, task, group, sorted(others), heading, is_inside
            )
        if reason:
            raise faults.error(
                Fault.GROUP_RULE, f'destination {task.destination}: {reason}'
            )


def _why_not_together(
    client: NovaClient,
    task: MigrationTask,
    group: types.ServerGroup,
    others: list[str],
    heading: dict[str, str],
    is_inside: Callable[[str], bool],
) -> Reason | None:
    """A member that is still on its way is not there for Nova."""
    inside = elsewhere = 0
    for uuid in others:
        member = client.get_instance(uuid)
        if member is None or not is_inside(member.host):
            continue
        if member.host == task.destination:
            inside += 1
        bound = heading.get(uuid, member.host)
        if {member.host, bound} - {task.destination}:
            elsewhere += 1
    if task.phase == types.MigrationPhase.AFFINITY and inside:
        return None
    return server_groups.why_not(group, inside, elsewhere)


def check_allocations(context: ServerContext, task: MigrationTask) -> None:
    """Whether Placement holds the instance on its source, and there alone.

    A move of one that it does not would leave room held for nothing.

    :raises PreFlightError: it does not
    :raises ClientError: Nova or Placement cannot be asked
    """
    source = context.nova.get_compute_host(task.source)
    nodes = context.placement.nodes_of(task.instance)
    if source is None:
        return
    if nodes != {source.node}:
        reason = eligible.reason(task.instance, source.node, nodes)
        raise faults.error(Fault.INSTANCE_ALLOCATIONS, reason)


def check_room(settings: MoveSettings, context: ServerContext) -> None:
    """What the destination has left, as Placement counts it.

    :raises PreFlightError: it has no room
    :raises ClientError: Nova or Placement cannot be asked
    """
    task, allocations = settings.task, context.placement
    instance = context.nova.get_instance(task.instance)
    host = context.nova.get_compute_host(task.destination)
    if instance is None:
        raise faults.error(Fault.INSTANCE_GONE, 'the instance is gone')
    if host is None:
        raise faults.error(
            Fault.DESTINATION_NOT_UP, f'{task.destination} is gone'
        )
    headroom = allocations.room_on(host.node or allocations.node_of(host.name))
    if headroom is None:
        if settings.require_headroom:
            raise faults.error(
                Fault.DESTINATION_FULL,
                f'Placement shows no inventory of {task.destination} '
                '(require_headroom is set)',
            )
        return
    for resource, amount in instance.demand.items():
        # Another provider may have the class; Nova's scheduler knows that.
        if resource not in headroom or resource not in settings.resources:
            continue
        free = free_capacity.free(resource, headroom)
        if reason := free_capacity.why_not(resource, amount, free):
            raise faults.error(
                Fault.DESTINATION_FULL,
                f'destination {task.destination} has no room: {reason}',
            )


def check_exclusion(context: ServerContext, task: MigrationTask) -> None:
    """Whether the operator's query finds the destination at fault.

    Of all hosts the names are given, since a label may be short.

    :raises PreFlightError: it does
    :raises ClientError: Nova or Prometheus cannot be asked
    """
    if context.exclusions is None:
        return
    names = {*context.nova.list_compute_services(), task.destination}
    value = context.exclusions(names).get(task.destination)
    reason = hosts.why_excluded(types.Host(task.destination, excluded=value))
    if reason:
        raise faults.error(
            Fault.DESTINATION_EXCLUDED,
            f'destination {task.destination} takes nothing: {reason}',
        )
