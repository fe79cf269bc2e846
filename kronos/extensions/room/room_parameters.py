# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit that makes room.

Frozen as those of the other strategies are. The command line sends JSON
where it is JSON, and else a string: flavors may be written ``f16=3,f32=1``.
"""

import json
from typing import Any

from kronos.common import parameter_types
from kronos.extensions.room.room import RoomRequest
from kronos.strategies import parameters

MOST = 10_000
"""Servers of a flavor."""
PROPERTIES: dict[str, Any] = {
    'flavors': {
        'description': 'Numbers of servers by flavor for which room is made, '
        'all of them at once and by as few migrations as possible: '
        '{"f16": 3, "f32": 1} or f16=3,f32=1.',
        'type': ['object', 'string'],
        'additionalProperties': {'type': ['integer', 'string']},
    },
    'flavor': {
        'description': 'Name of the flavor for which as much room as possible '
        'is made; requires max_migrations.',
        'type': ['string', 'integer'],
    },
    'apart': parameter_types.yes_or_no(
        'Whether each of the new servers gets a host of its own (default: '
        'false).'
    ),
    'max_imbalance': {
        'description': 'Highest combined imbalance after each migration; one '
        'that lowers it is always allowed (default: no limit).',
        'type': ['number', 'string'],
        'minimum': 0,
    },
}


def schema() -> dict[str, Any]:
    """JSON schema (draft 4) of them, and of those of every strategy."""
    return parameters.schema(()) | {
        'properties': parameters.schema(())['properties'] | PROPERTIES
    }


def parse(raw: dict[str, Any]) -> RoomRequest:
    """Understand an audit's parameters.

    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    flavors, flavor = _numbers(raw.get('flavors')), raw.get('flavor')
    moves = parameter_types.count(raw.get('max_migrations'))
    if flavors is None and flavor is None:
        raise parameter_types.bad(
            'flavors', None, 'missing; name a flavor, as f16=3'
        )
    if flavors is not None and flavor is not None:
        raise parameter_types.bad(
            'flavor', flavor, 'one parameter too many: flavors is set as well'
        )
    if flavor is not None and moves is None:
        raise parameter_types.bad(
            'max_migrations', None, 'missing; flavor requires it'
        )
    return RoomRequest(
        flavors=flavors,
        flavor='' if flavor is None else str(flavor),
        max_migrations=moves,
        apart=bool(parameter_types.boolean(raw, 'apart')),
        max_imbalance=_imbalance(raw.get('max_imbalance')),
    )


def _numbers(value: Any) -> dict[str, int] | None:
    if value is None:
        return None
    items = value
    if isinstance(value, str) and value.startswith('{'):
        items = _decoded(value)
    elif isinstance(value, str):
        pairs = [part.partition('=') for part in value.split(',')]
        items = {name.strip(): number for name, _, number in pairs}
        if len(items) < len(pairs):
            raise _no_numbers(value)
    if not isinstance(items, dict) or not items:
        raise _no_numbers(value)
    return {
        str(name): _number(number, value) for name, number in items.items()
    }


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _no_numbers(text) from None


def _number(number: Any, value: Any) -> int:
    text = str(number).strip()
    is_whole = text.isdecimal() and not isinstance(number, bool)
    if not is_whole or not 1 <= int(text) <= MOST:
        raise _no_numbers(value)
    return int(text)


def _no_numbers(value: Any) -> Exception:
    return parameter_types.bad(
        'flavors',
        value,
        f'no map of flavors to numbers from 1 to {MOST}, such as '
        '{"f16": 3} or f16=3',
    )


def _imbalance(value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number < float('inf'):
        raise parameter_types.bad(
            'max_imbalance', value, 'no number of at least 0'
        )
    return number
