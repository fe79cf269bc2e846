# SPDX-License-Identifier: Apache-2.0
"""The values of an audit's parameters, as Watcher's command line sends them.

``-p name=value`` is sent as JSON where it is JSON, and as a string where it is
not, so a name that is a number arrives as one.
"""

import re
from collections.abc import Mapping
from typing import Any

from kronos.common import exceptions
from kronos.common.names import near_names

MAX_MIGRATIONS = 100
_TRUE_OR_FALSE = '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$'
_ONE_TO_HUNDRED = '^([1-9][0-9]?|100)$'


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


def list_of_names(description: str) -> dict[str, Any]:
    """The schema of one that :func:`names` reads."""
    return {
        'description': description,
        'type': ['string', 'array', 'integer'],
        'items': {'type': ['string', 'integer']},
    }


def require_known(raw: dict[str, Any], properties: Mapping[str, Any]) -> None:
    """:raises ConfigurationError: one is none of the strategy"""
    unknown = sorted(raw.keys() - properties.keys())
    if unknown:
        hint = near_names.of_fields(unknown[0], sorted(properties))
        raise bad(
            unknown[0], raw[unknown[0]], f'unknown to this strategy; {hint}'
        )


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
    end = '' if what.endswith('?') else '.'
    return exceptions.ConfigurationError(
        f'Audit parameter {name}: {value!r} is {what}{end}'
    )


def either(of_audit: bool | None, configured: bool) -> bool:
    """What the audit says; where it says nothing, the configuration."""
    return configured if of_audit is None else of_audit
