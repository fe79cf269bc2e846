# SPDX-License-Identifier: Apache-2.0
"""The disruptions: all moves that budgets count, of the whole cloud.

Nova reports those that have started, Watcher those that started plans are
still going to request.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from kronos.clients.nova import server_lives
from kronos.clients.nova.client import NovaClient
from kronos.engine.eligibility import budgets, stuck_migrations
from kronos.engine.settings import Settings
from kronos.engine.types import Disruption, Event, Instance, Origin, Outcome


def of_deleted(
    nova: NovaClient, settings: Settings, now: float
) -> list[Disruption]:
    """The moves of servers that were deleted later, with their projects.

    :param now: Unix seconds
    :raises NovaClientError: Nova cannot be asked
    """
    window = budgets.longest_window(settings)
    if not window or not budgets.counts_projects(settings):
        return []
    since = now - window
    lives = (
        life
        for life in server_lives.listing(nova.api, since, deleted='true')
        if budgets.counts_project(settings, life.instance.project_id)
    )
    return list(server_lives.past_moves(nova.api, lives, since))


def of(
    started: Sequence[Disruption],
    events: Sequence[Event],
    instances: Sequence[Instance],
    deleted: Sequence[Disruption],
    settings: Settings,
    now: float,
) -> list[Disruption]:
    """What has started, and what waits in started plans.

    :param started: those that Nova lists
    :param events: of Nova and Watcher, without what was left behind
    :param instances: all of the cloud
    :param deleted: moves of servers that are gone
    :param now: Unix seconds
    """
    projects = {instance.uuid: instance.project_id for instance in instances}
    gone = {each.instance for each in deleted} - projects.keys()
    running = _running(events, settings, now)
    disruptions = [
        dataclasses.replace(
            each,
            project=projects.get(each.instance, ''),
            is_under_way=each.is_under_way and each.instance in running,
        )
        for each in started
        if each.instance not in gone
    ]
    disruptions += [each for each in deleted if each.instance in gone]
    newest: dict[str, float] = {}
    for each in started:
        before = newest.get(each.instance, 0.0)
        newest[each.instance] = max(before, each.started or 0.0)
    disruptions += [
        Disruption(uuid, projects.get(uuid, ''), event.at, is_under_way=True)
        for uuid, event in running.items()
        if uuid not in newest
    ]
    disruptions += [
        Disruption(uuid, projects[uuid])
        for uuid in _waiting(events, newest)
        if uuid in projects
    ]
    return disruptions


def _running(
    events: Sequence[Event], settings: Settings, now: float
) -> dict[str, Event]:
    """By instance the moves that Nova is at."""
    return {
        event.instance: event
        for event in events
        if event.origin is Origin.NOVA
        and event.outcome is Outcome.UNDER_WAY
        and not event.is_resize
        and not stuck_migrations.is_stuck(event, settings, now)
    }


def _waiting(
    events: Sequence[Event], newest: Mapping[str, float]
) -> Iterator[str]:
    """Instances whose moves started plans have not requested yet.

    :param newest: by instance when its newest move started, in Unix seconds
    """
    for event in events:
        if event.origin is not Origin.WATCHER:
            continue
        if event.outcome is Outcome.PLANNED:
            yield event.instance
        elif event.outcome is Outcome.UNDER_WAY:
            # Nova lists the migration of an action a moment later.
            started = newest.get(event.instance)
            if started is None or started < event.began:
                yield event.instance
