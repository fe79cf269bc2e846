# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit that maintains hosts.

Frozen as those of the other strategies are: Watcher cancels all audits of a
strategy whose schema changes.
"""

import copy
import math
from typing import Any

from kronos.common import parameter_types
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.maintenance import Maintenance, Stopped

MOST_AT_ONCE = 100
LONGEST_SECONDS = 30 * 86400
"""A month."""
DEFAULT = Maintenance('', ())


def _whole(description: str, least: int) -> dict[str, Any]:
    return {
        'description': description,
        'type': ['integer', 'string'],
        'minimum': least,
        'maximum': MOST_AT_ONCE,
        'pattern': '^([0-9]|[1-9][0-9]|100)$',
    }


def _seconds(description: str) -> dict[str, Any]:
    return {
        'description': description,
        'type': ['number', 'string'],
        'minimum': 1,
        'maximum': LONGEST_SECONDS,
        'pattern': r'^[0-9]+(\.[0-9]+)?$',
    }


PROPERTIES: dict[str, Any] = {
    'hosts': parameter_types.list_of_names(
        'Names of the hosts to be maintained, as a list or separated by '
        'commas.'
    ),
    'run': {
        'description': 'Name of the run, of letters, digits, ".", "_" and '
        '"-". It is part of the reason of each closed host.',
        'type': ['string', 'integer'],
    },
    'aggregates': parameter_types.list_of_names(
        'Names of the host aggregates to plan, as a list or separated by '
        'commas, in this order (default: [kronos] aggregates). Each is '
        'planned by itself.'
    ),
    'at_once': _whole(
        'Number of hosts of a scope that may be unavailable at a time, '
        'whoever closed them (default: 1).',
        1,
    ),
    'at_once_per_az': _whole(
        'Number of hosts of an availability zone that may be unavailable at '
        'a time (default: any number).',
        1,
    ),
    'done_query': {
        'description': 'PromQL that returns the hosts that are done (default: '
        '[kronos] maintenance_done_query).',
        'type': 'string',
    },
    'ready_query': {
        'description': 'PromQL that returns the hosts that may serve again '
        '(default: all that are done).',
        'type': 'string',
    },
    'seed_hosts': _whole(
        'Number of hosts whose servers may move twice, because they are '
        'emptied onto hosts that are maintained later (default: 1; 0: none).',
        0,
    ),
    'stopped': {
        'description': 'Handling of servers that are SHUTOFF: with stay (the '
        'default), they remain on the host while it is handed over; with '
        'block, it is not handed over.',
        'type': 'string',
        'enum': [member.value for member in Stopped],
    },
    'host_timeout': _seconds(
        'Seconds for which a host may be handed over before it is late '
        '(default: 3600).'
    ),
    'drain_timeout': _seconds(
        'Seconds for which a host may be emptied before it is late '
        '(default: any time).'
    ),
    'work_time': _seconds(
        'Expected seconds of work on each host that is handed over '
        '(default: 1200).'
    ),
    'max_late': _whole(
        'Number of late hosts at which no further host is closed '
        '(default: 1).',
        1,
    ),
    'reopen': parameter_types.yes_or_no(
        'Whether hosts that are done are enabled again (default: true).'
    ),
}


def schema() -> dict[str, Any]:
    """JSON schema (draft 4) of them."""
    return {
        'properties': copy.deepcopy(PROPERTIES),
        'required': ['hosts', 'run'],
    }


def parse(raw: dict[str, Any]) -> Maintenance:
    """Understand an audit's parameters.

    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    parameter_types.require_known(raw, PROPERTIES)
    for name in ('hosts', 'run'):
        if raw.get(name) is None:
            raise parameter_types.bad(name, raw.get(name), 'missing; give it')
    aggregates(raw)
    hosts = parameter_types.names(raw, 'hosts', 'host') or []
    reopen = parameter_types.boolean(raw, 'reopen')
    most = DEFAULT.at_once
    return Maintenance(
        run=_run(raw['run']),
        hosts=tuple(sorted(hosts)),
        at_once=_count(raw, 'at_once', 1, most) or most,
        at_once_per_az=_count(raw, 'at_once_per_az', 1, None),
        done_query=_text(raw, 'done_query'),
        ready_query=_text(raw, 'ready_query'),
        seed_hosts=_count(raw, 'seed_hosts', 0, DEFAULT.seed_hosts) or 0,
        stopped=_stopped(raw),
        host_timeout=_time(raw, 'host_timeout') or DEFAULT.host_timeout,
        drain_timeout=_time(raw, 'drain_timeout'),
        work_time=_time(raw, 'work_time') or DEFAULT.work_time,
        max_late=_count(raw, 'max_late', 1, DEFAULT.max_late) or 1,
        reopen=parameter_types.either(reopen, DEFAULT.reopen),
    )


def aggregates(raw: dict[str, Any]) -> list[str] | None:
    """The aggregates whose hosts are planned; None: those of the options.

    :raises ConfigurationError: as of :func:`parse`
    """
    return parameter_types.names(raw, 'aggregates', 'aggregate')


def _run(value: Any) -> str:
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    if not is_name or not closing_reason.RUN.fullmatch(str(value)):
        raise parameter_types.bad(
            'run',
            value,
            'no name of up to 64 letters, digits, ".", "_" and "-" that '
            'begins with a letter or digit',
        )
    return str(value)


def _count(
    raw: dict[str, Any], name: str, least: int, default: int | None
) -> int | None:
    value = raw.get(name)
    if value is None:
        return default
    is_number = not isinstance(value, bool | float)
    if is_number and str(value).isdecimal():
        number = int(str(value)[:9])
        if least <= number <= MOST_AT_ONCE:
            return number
    raise parameter_types.bad(
        name, value, f'no whole number from {least} to {MOST_AT_ONCE}'
    )


def _time(raw: dict[str, Any], name: str) -> float | None:
    value = raw.get(name)
    if value is None:
        return None
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 1 <= seconds <= LONGEST_SECONDS:
        raise parameter_types.bad(
            name, value, f'no number of seconds from 1 to {LONGEST_SECONDS}'
        )
    return seconds


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if value is None:
        return ''
    if not isinstance(value, str) or not value.strip():
        raise parameter_types.bad(name, value, 'no PromQL query')
    return value


def _stopped(raw: dict[str, Any]) -> Stopped:
    value = raw.get('stopped')
    if value is None:
        return DEFAULT.stopped
    if value not in list(Stopped):
        raise parameter_types.bad('stopped', value, 'neither stay nor block')
    return Stopped(value)
