# SPDX-License-Identifier: Apache-2.0
"""The checks of Watcher's database: what a restart would do to it."""

import functools
from collections.abc import Callable
from typing import Any

from oslo_upgradecheck import upgradecheck

from kronos.cmd.upgrade_checks.services import (
    APPLIER,
    ENGINE,
    LocalServices,
    ProbeAnswer,
)
from kronos.cmd.upgrade_checks.tally import Tally
from kronos.common.shell_commands import ShellCommand

MOST = 20
"""Rows that are named of one list, the audits aside."""
REMEDY_READ = (
    f'run "{ShellCommand.STATUS_OF_WATCHER}" as a user who may read it, on a '
    'machine that can reach the database'
)
REMEDY_ROW = (
    'find the row in these tables that was written by hand, and correct or '
    'delete it'
)
_TABLES = {
    'stored': 'goals, strategies, audits and action_plans',
    'plans': 'action_plans',
    'services': 'services',
    'actions': 'actions',
}
"""Of each part that is read."""


def _of(
    service: str, part: str
) -> Callable[
    [Callable[[dict[str, Any], Tally], None]],
    Callable[[LocalServices], upgradecheck.Result],
]:
    """Makes a check of what a service's process read of the database.

    Where it read nothing, or not this, the check says that.

    :param service: attribute of :class:`Services`
    :param part: key of what it read
    """

    def decorated(
        check: Callable[[dict[str, Any], Tally], None],
    ) -> Callable[[LocalServices], upgradecheck.Result]:
        @functools.wraps(check)
        def checked(services: LocalServices) -> upgradecheck.Result:
            tally = Tally()
            contents = _read(services, service, tally)
            if contents is not None and part not in contents:
                tally.warn(
                    f"in Watcher's database, {_TABLES[part]} could not be "
                    f'read: {contents["unread"][part]}: a row does not have '
                    'the format of Watcher',
                    REMEDY_ROW,
                )
            elif contents is not None:
                check(contents, tally)
            return tally.result()

        return checked

    return decorated


@_of('engine', 'stored')
def strategies(contents: dict[str, Any], tally: Tally) -> None:
    """Which audits would the next start of a decision engine cancel?"""
    stored = contents['stored']
    changed = [
        f'{kind} {row["name"]} ({", ".join(row["differs"])})'
        for kind in ('goals', 'strategies')
        for row in stored[kind]
    ]
    if changed:
        _changed(stored, changed, tally)
    elif not stored['known']:
        tally.fine(
            'the database has no strategy of Kronos yet; the next start of '
            'a decision engine adds them'
        )
    else:
        tally.fine(
            f'{stored["known"]} strategies and their goals match the database'
        )
        if stored['new']:
            tally.fine(f'new: {", ".join(stored["new"])}')


def _changed(stored: dict[str, Any], changed: list[str], to: Tally) -> None:
    """Name the audits first: they are what an operator has to look after."""
    audits, plans = stored['audits'], stored['waiting_plans']
    what = ', '.join(changed).replace('goals ', 'goal ')
    what = what.replace('strategies ', 'strategy ')
    since = f'the code differs from the database in: {what}'
    past = stored['finished_audits']
    also = f'; {past} ended audits will also be shown as CANCELLED'
    if not audits and not plans:
        to.warn(
            'the next start of a decision engine would cancel no running '
            f'audit{also if past else ""}; {since}'
        )
        return
    named = [_audit(row) for row in audits] or ['no audit']
    to.fail(
        'the next start of a decision engine cancels these audits: '
        f'{", ".join(named)}; and {plans} waiting or running action '
        f'plans{also if past else ""}; {since}',
        'if you do not want this, install the previous release of Kronos, or '
        'find out why a plugin is missing; else write down the audits, '
        'restart, and create them again',
    )


def _audit(row: dict[str, str]) -> str:
    name = f'{row["name"]} ' if row['name'] else ''
    return f'{name}({row["uuid"]}, {row["state"]})'


@_of('engine', 'plans')
def plans(contents: dict[str, Any], tally: Tally) -> None:
    """Is anything carried out that a restart would cut off?"""
    under_way = [
        f'{row["uuid"]} ({row["state"]}'
        + (f' on {row["host"]})' if row['host'] else ')')
        for row in contents['plans']
    ]
    if under_way:
        tally.warn(
            f'action plans are running: {_some(under_way)}',
            'wait until they end, or cancel them, before you restart an '
            'applier: it cancels the plans that it runs, but Nova continues '
            'the migrations already requested',
        )
    tally.fine('no action plan of Kronos is running')


@_of('applier', 'actions')
def parameters(read: dict[str, Any], tally: Tally) -> None:
    """Can the applier of this machine read the actions that wait?"""
    actions = read['actions']
    bad = [
        f'{row["uuid"]} ({row["type"]}, plan {row["plan"]}): {row["why"]}'
        for row in actions['unreadable']
    ]
    if bad:
        tally.fail(
            'the applier of this machine does not support the actions '
            f'{_some(bad)}',
            'upgrade Kronos here before this applier runs their plans, or '
            'cancel these plans',
        )
    if actions['unannounced']:
        tally.warn(
            'no applier has started yet with the code for '
            f'{", ".join(actions["unannounced"])}: an older one cannot run '
            'these actions',
            'upgrade and restart every applier before the decision engines',
        )
    tally.fine(
        f'{actions["waiting"]} actions wait, and this applier supports each '
        'of them'
    )


@_of('engine', 'services')
def hosts(contents: dict[str, Any], tally: Tally) -> None:
    """Where else is this to be asked?"""
    by_name = {
        name: [row for row in contents['services'] if row['name'] == name]
        for name in (ENGINE, APPLIER)
    }
    for name, rows in by_name.items():
        if not rows:
            tally.warn(
                f'the database has no {name}',
                'check that this is the database of the running Watcher',
            )
    others = [
        f'{name} on '
        + _some(
            [_host(row) for row in rows if row['host'] != contents['host']]
        )
        for name, rows in by_name.items()
        if any(row['host'] != contents['host'] for row in rows)
    ]
    if others:
        tally.warn(
            f'this is {contents["host"]}; this check cannot see what is '
            f'installed on other hosts: {"; ".join(others)}',
            f'run "{ShellCommand.STATUS}" on each of these hosts before you '
            'restart any service: a single decision engine without this '
            'release cancels the audits of all',
        )
    tally.fine(f'{contents["host"]} has all of them')


def _host(row: dict[str, Any]) -> str:
    return str(row['host']) + ('' if row['up'] else ' (no recent heartbeat)')


def _some(texts: list[str]) -> str:
    more = len(texts) - MOST
    return ', '.join(texts[:MOST]) + (f' and {more} more' if more > 0 else '')


def _read(
    services: LocalServices, which: str, tally: Tally
) -> dict[str, Any] | None:
    """What a service's process read; None: nothing, which is told."""
    if not services.has_watcher:
        tally.warn(
            'Watcher is not installed here, so its database was not read',
            f'run "{ShellCommand.STATUS}" on a machine that runs {ENGINE} or '
            f'{APPLIER}',
        )
        return None
    answer: ProbeAnswer = getattr(services, which)
    if answer.database is None:
        tally.warn(
            f"Watcher's database was not read: {answer.why_unread}",
            REMEDY_READ,
        )
    return answer.database
