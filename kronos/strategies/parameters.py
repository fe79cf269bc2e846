# SPDX-License-Identifier: Apache-2.0
"""Which parameters does an audit take, and what do they mean?

The schema is frozen: Watcher cancels all audits of a strategy whose schema
changes. It has no defaults (they would be written into stored audits), and
only what survives a trip through a string: dict, list, str and numbers.
"""

import re
from dataclasses import dataclass
from typing import Any

from kronos.common import exceptions

MAX_MIGRATIONS = 100

_TRUE_OR_FALSE = '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$'
_ONE_TO_HUNDRED = '^([1-9][0-9]?|100)$'


@dataclass
class Parameters:
    """What an audit was asked for; None where it did not say."""

    aggregates: list[str] | None = None
    include_unassigned_hosts: bool | None = None
    restrict_to_az: bool | None = None
    max_migrations: int | None = None


def schema() -> dict[str, Any]:
    """JSON schema (draft 4) of the parameters.

    The command line sends ``-p name=value`` as JSON where it is JSON and
    as a string where it is not, so ``aggregates=5`` arrives as a number.
    """
    yes_or_no = {'type': ['boolean', 'string'], 'pattern': _TRUE_OR_FALSE}
    return {
        'properties': {
            'aggregates': {
                'description': 'Names of the host aggregates to plan, as a '
                'list or separated by commas, in this order. Each is '
                'planned by itself.',
                'type': ['string', 'array', 'integer'],
                'items': {'type': ['string', 'integer']},
            },
            'include_unassigned_hosts': {
                'description': 'Whether the hosts that are in no aggregate '
                'are planned too, as a scope of their own.',
                **yes_or_no,
            },
            'restrict_to_az': {
                'description': 'Whether a migration must stay in its '
                'availability zone.',
                **yes_or_no,
            },
            'max_migrations': {
                'description': 'Largest number of migrations in each scope.',
                'type': ['integer', 'string'],
                'minimum': 1,
                'maximum': MAX_MIGRATIONS,
                'pattern': _ONE_TO_HUNDRED,
            },
        }
    }


def parse(raw: dict[str, Any]) -> Parameters:
    """Understand an audit's parameters.

    Watcher checks them against the schema when an audit is created but not
    when it is changed, so everything is checked here.

    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    unknown = sorted(raw.keys() - schema()['properties'].keys())
    if unknown:
        raise _bad(unknown[0], raw[unknown[0]], 'unknown to this strategy')
    return Parameters(
        aggregates=_names(raw.get('aggregates')),
        include_unassigned_hosts=_bool(raw, 'include_unassigned_hosts'),
        restrict_to_az=_bool(raw, 'restrict_to_az'),
        max_migrations=_count(raw.get('max_migrations')),
    )


def _names(value: Any) -> list[str] | None:
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool | float | dict | list) for item in items):
        raise _bad('aggregates', value, 'no list of aggregate names')
    # A name may not hold a comma in a string, but may in a list.
    if isinstance(value, str):
        items = value.split(',')
    names = [str(item).strip() for item in items]
    if not names or not all(names):
        raise _bad('aggregates', value, 'no list of aggregate names')
    return list(dict.fromkeys(names))


def _bool(raw: dict[str, Any], name: str) -> bool | None:
    value = raw.get(name)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and re.match(_TRUE_OR_FALSE, value):
        return value.lower() == 'true'
    raise _bad(name, value, 'neither true nor false')


def _count(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, bool) and re.match(_ONE_TO_HUNDRED, str(value)):
        return int(value)
    raise _bad(
        'max_migrations',
        value,
        f'no whole number from 1 to {MAX_MIGRATIONS}',
    )


def _bad(name: str, value: Any, what: str) -> exceptions.ConfigurationError:
    return exceptions.ConfigurationError(
        f'Audit parameter {name}: {value!r} is {what}.'
    )
