# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit, and what they mean.

The schemas are frozen: Watcher cancels all audits of a strategy whose schema
changes. They have no defaults (they would be written into stored audits), and
only what survives a trip through a string: dict, list, str and numbers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.common import exceptions
from kronos.engine.cell_drain import CellDrain

MAX_MIGRATIONS = 100

_TRUE_OR_FALSE = '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$'
_ONE_TO_HUNDRED = '^([1-9][0-9]?|100)$'

PHASES = (
    'evacuate_disabled_hosts',
    'enforce_hard_affinity',
    'enforce_soft_affinity',
)
"""For strategies whose audits choose which phases come before their own."""


@dataclass
class Parameters:
    """What an audit was asked for; None where it did not say."""

    aggregates: list[str] | None = None
    include_unassigned_hosts: bool | None = None
    restrict_to_az: bool | None = None
    max_migrations: int | None = None
    evacuate_disabled_hosts: bool | None = None
    enforce_hard_affinity: bool | None = None
    enforce_soft_affinity: bool | None = None
    hosts: list[str] | None = None
    cell_drain: CellDrain | None = None
    """Only of an audit that empties a cell."""


def schema(more: Sequence[str]) -> dict[str, Any]:
    """JSON schema (draft 4) of the parameters of a strategy.

    The command line sends ``-p name=value`` as JSON where it is JSON and
    as a string where it is not, so ``aggregates=5`` arrives as a number.

    :param more: names of those that not all strategies take
    """
    properties = {
        'aggregates': {
            'description': 'Names of the host aggregates to plan, as a '
            'list or separated by commas, in this order. Each is '
            'planned by itself.',
            'type': ['string', 'array', 'integer'],
            'items': {'type': ['string', 'integer']},
        },
        'include_unassigned_hosts': yes_or_no(
            'Whether the hosts that are in no aggregate are planned too, '
            'as a scope of their own.'
        ),
        'restrict_to_az': yes_or_no(
            'Whether a migration must stay in its availability zone.'
        ),
        'max_migrations': max_migrations(
            'Largest number of migrations in each scope.'
        ),
    }
    optional = _optional()
    return {'properties': properties | {name: optional[name] for name in more}}


def _optional() -> dict[str, dict[str, Any]]:
    return {
        'evacuate_disabled_hosts': yes_or_no(
            'Whether hosts whose nova-compute is disabled are drained first.'
        ),
        'enforce_hard_affinity': yes_or_no(
            'Whether server groups of the policies affinity and '
            'anti-affinity are repaired.'
        ),
        'enforce_soft_affinity': yes_or_no(
            'Whether server groups of the policies soft-affinity and '
            'soft-anti-affinity are repaired.'
        ),
        'hosts': {
            'description': 'Names of the hosts to drain, as a list or '
            'separated by commas. Without it every disabled host of the '
            'scopes is drained.',
            'type': ['string', 'array', 'integer'],
            'items': {'type': ['string', 'integer']},
        },
    }


def max_migrations(description: str) -> dict[str, Any]:
    """The schema of the parameter of that name."""
    return {
        'description': description,
        'type': ['integer', 'string'],
        'minimum': 1,
        'maximum': MAX_MIGRATIONS,
        'pattern': _ONE_TO_HUNDRED,
    }


def yes_or_no(description: str) -> dict[str, Any]:
    """The schema of one that is true or false."""
    return {
        'description': description,
        'type': ['boolean', 'string'],
        'pattern': _TRUE_OR_FALSE,
    }


def parse(raw: dict[str, Any], more: Sequence[str]) -> Parameters:
    """Understand an audit's parameters.

    Watcher checks them against the schema when an audit is created but not
    when it is changed, so everything is checked here.

    :param more: as of :func:`schema`
    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    require_known(raw, schema(more)['properties'])
    return Parameters(
        aggregates=names(raw, 'aggregates', 'aggregate'),
        include_unassigned_hosts=boolean(raw, 'include_unassigned_hosts'),
        restrict_to_az=boolean(raw, 'restrict_to_az'),
        max_migrations=count(raw.get('max_migrations')),
        evacuate_disabled_hosts=boolean(raw, 'evacuate_disabled_hosts'),
        enforce_hard_affinity=boolean(raw, 'enforce_hard_affinity'),
        enforce_soft_affinity=boolean(raw, 'enforce_soft_affinity'),
        hosts=names(raw, 'hosts', 'host'),
    )


def require_known(raw: dict[str, Any], properties: Mapping[str, Any]) -> None:
    """:raises ConfigurationError: one is none of the strategy"""
    unknown = sorted(raw.keys() - properties.keys())
    if unknown:
        raise bad(unknown[0], raw[unknown[0]], 'unknown to this strategy')


def names(raw: dict[str, Any], name: str, kind: str) -> list[str] | None:
    """A list of names, or None."""
    value = raw.get(name)
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool | float | dict | list) for item in items):
        raise bad(name, value, f'no list of {kind} names')
    # A name may not hold a comma in a string, but may in a list.
    if isinstance(value, str):
        items = value.split(',')
    names = [str(item).strip() for item in items]
    if not names or not all(names):
        raise bad(name, value, f'no list of {kind} names')
    return list(dict.fromkeys(names))


def boolean(raw: dict[str, Any], name: str) -> bool | None:
    """True, false, or None."""
    value = raw.get(name)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and re.match(_TRUE_OR_FALSE, value):
        return value.lower() == 'true'
    raise bad(name, value, 'neither true nor false')


def count(value: Any) -> int | None:
    """Of migrations, or None."""
    if value is None:
        return None
    if not isinstance(value, bool) and re.match(_ONE_TO_HUNDRED, str(value)):
        return int(value)
    raise bad(
        'max_migrations',
        value,
        f'no whole number from 1 to {MAX_MIGRATIONS}',
    )


def bad(name: str, value: Any, what: str) -> exceptions.ConfigurationError:
    """The error of a parameter that is not understood."""
    return exceptions.ConfigurationError(
        f'Audit parameter {name}: {value!r} is {what}.'
    )


def either(asked: bool | None, configured: bool) -> bool:
    """What the audit says; where it says nothing, the configuration."""
    return configured if asked is None else asked
