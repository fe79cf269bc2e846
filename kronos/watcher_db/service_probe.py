# SPDX-License-Identifier: Apache-2.0
"""The probe of one of Watcher's services: what it would find on this machine.

A process of its own, which becomes what the service is before it starts: its
code, its configuration, its way to load plugins. It reads ``files`` and
``folders`` of the configuration as JSON from its input and writes JSON. It
only reads Watcher's database. kronos-status asks it.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

from stevedore import exception as stevedore_exc

from kronos.common import deadline

DISTRIBUTION = 'kronos-watcher'
ENGINE = 'watcher-decision-engine'
APPLIER = 'watcher-applier'
GROUPS = {
    ENGINE: ('watcher_goals', 'watcher_strategies', 'watcher_planners'),
    APPLIER: ('watcher_actions',),
}
"""The entry points that each service loads."""
PATIENCE = 15.0
"""Seconds that are waited for the database, which may say nothing."""
EXPLICIT = (
    ImportError,
    AttributeError,
    stevedore_exc.NoMatches,
    stevedore_exc.MultipleMatches,
)
"""Errors whose text is told: that of others may hold a secret."""


class NoDatabase(Exception):
    """The configuration names no database that is there."""


def main(service: str) -> None:
    """Answer one request."""
    out = os.dup(sys.stdout.fileno())
    # What others print is no part of the answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    answer = probe(service, json.load(sys.stdin))
    with os.fdopen(out, 'w') as stream:
        json.dump(answer, stream)


def probe(service: str, request: dict[str, Any]) -> dict[str, Any]:
    """Load what the service would load, and read what concerns it.

    :param request: ``files`` and ``folders``
    :returns: ``plugins``, each with why it cannot be loaded, or ''; and
        ``database``, or ``database_error`` with why it was not read
    """
    become(service, request)
    answer: dict[str, Any] = {
        'plugins': {
            f'{point.group}:{point.name}': why_not(point.group, point.name)
            for point in metadata.distribution(DISTRIBUTION).entry_points
            if point.group in GROUPS[service]
        }
    }
    return answer | _database(service)


def become(service: str, request: dict[str, Any]) -> None:
    """Be what the service is before it starts, but write no log file."""
    # Its module chooses how threads work, so it comes before all others.
    for point in metadata.entry_points(group='console_scripts', name=service):
        point.load()
    from watcher import conf, objects

    objects.register_all()
    conf.CONF(
        [],
        project='watcher',
        default_config_files=request['files'],
        default_config_dirs=request['folders'],
    )


def why_not(group: str, name: str) -> str:
    """Why Watcher cannot load a plugin; empty if it can."""
    try:
        _loader(group).load(name)
    # A plugin may fail in any way; Watcher tells none of them apart.
    except Exception as error:
        # Watcher's own error hides what happened.
        cause = error.__context__ or error
        kind = type(cause).__name__
        return f'{kind}: {cause}' if isinstance(cause, EXPLICIT) else kind
    return ''


def _loader(group: str) -> Any:
    """The one of Watcher for a group of entry points."""
    from watcher.applier.loading import default as of_applier
    from watcher.decision_engine.loading import default as of_engine

    return {
        'watcher_goals': of_engine.DefaultGoalLoader,
        'watcher_strategies': of_engine.DefaultStrategyLoader,
        'watcher_planners': of_engine.DefaultPlannerLoader,
        'watcher_actions': of_applier.DefaultActionLoader,
    }[group]()


def _database(service: str) -> dict[str, Any]:
    from kronos.watcher_db import lock

    unread = (*lock.FAILURES, ImportError, OSError, ValueError)
    try:
        _find_database()
        read = _of_engine if service == ENGINE else _of_applier
        answer = deadline.within(PATIENCE, lambda check: read())
    except NoDatabase as error:
        return {'database_error': str(error)}
    except unread as error:
        # Without its text, which may hold the statement or the password.
        return {'database_error': type(error).__name__}
    return {'database': answer}


def _find_database() -> None:
    """:raises NoDatabase: there is none, or reading it would make one"""
    from sqlalchemy import engine
    from watcher import conf

    # It is asked once: an operator waits for the answer.
    conf.CONF.set_override('max_retries', 1, 'database')
    conf.CONF.set_override('retry_interval', 0, 'database')
    url = engine.make_url(conf.CONF.database.connection or 'sqlite://')
    if url.get_backend_name() == 'sqlite' and not os.path.isfile(
        url.database or ''
    ):
        raise NoDatabase(
            '[database] connection is not set, or its file is not there'
        )


def _of_engine() -> dict[str, Any]:
    from watcher import conf

    from kronos.watcher_db import stored_plugins, work_in_hand

    goals = _loader('watcher_goals').list_available()
    strategies = _loader('watcher_strategies').list_available()
    with work_in_hand.reading() as session:
        return {
            'host': conf.CONF.host,
            **each(
                stored=lambda: stored_plugins.compare(
                    session, goals.values(), strategies.values()
                ),
                plans=lambda: work_in_hand.plans(session),
                services=lambda: work_in_hand.services(
                    session, conf.CONF.service_down_time
                ),
            ),
        }


def _of_applier() -> dict[str, Any]:
    from kronos.watcher_db import work_in_hand

    loader = _loader('watcher_actions')
    with work_in_hand.reading() as session:
        return each(actions=lambda: work_in_hand.actions(session, loader))


def each(**parts: Callable[[], Any]) -> dict[str, Any]:
    """What each part reads; one that stumbles over a row spoils no other.

    :param parts: by their keys in the answer
    :returns: also ``unread``: the types of their errors, by part
    :raises Exception: of :data:`kronos.watcher_db.lock.FAILURES`: the
        database is to blame
    """
    from kronos.watcher_db import lock

    answers: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for name, read in parts.items():
        try:
            answers[name] = read()
        except lock.FAILURES:
            raise
        # Anybody may have written a row, and anything into it.
        except Exception as error:
            unread[name] = type(error).__name__
    return answers | {'unread': unread}


if __name__ == '__main__':
    main(sys.argv[1])
