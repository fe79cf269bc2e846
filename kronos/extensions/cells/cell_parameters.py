# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit that empties a cell.

Frozen as those of the other strategies are. The command line sends JSON
where it is JSON, and else a string: lists may be separated by commas, and a
flavor map may be written ``old=new,other=same``.
"""

import copy
from typing import Any

from kronos.common import parameter_types
from kronos.extensions.cells.cell_drain import CellDrain, Confirm, MoveOrder


def _one_of(kind: type[Confirm | MoveOrder], description: str) -> Any:
    return {
        'description': description,
        'type': 'string',
        'enum': [member.value for member in kind],
    }


PROPERTIES: dict[str, Any] = {
    'source_cell': {
        'description': 'Name of the cell that is emptied.',
        'type': ['string', 'integer'],
    },
    'target_cells': parameter_types.list_of_names(
        'Names of the cells that its servers go to, as a list or separated '
        'by commas.'
    ),
    'hosts': parameter_types.list_of_names(
        'Names of the hosts of the source cell that are emptied, as a list '
        'or separated by commas (default: all).'
    ),
    'flavor_map': {
        'description': 'New flavors by old ones, by name or id: '
        '{"old": "new"} or old=new,other=same. The value "same" keeps a '
        'flavor, the key "*" is every other one. Without a map all keep '
        'theirs; with one, what is not in it stays.',
        'type': ['object', 'string'],
        'additionalProperties': {'type': ['string', 'integer']},
    },
    'max_migrations': parameter_types.max_migrations(
        'Largest number of servers that leave by one plan (default: 10).'
    ),
    'confirm': _one_of(
        Confirm,
        'Who confirms a move that went well: Kronos (auto, the default), '
        'or you (manual).',
    ),
    'order': _one_of(
        MoveOrder,
        'Which servers leave first: safest (the default) is stopped '
        'ones, then those on volumes, then those with small disks; hosts '
        'is host after host.',
    ),
    'include_stopped': parameter_types.yes_or_no(
        'Whether servers that are SHUTOFF leave, too (default: true).'
    ),
    'unpin_az': parameter_types.yes_or_no(
        'Whether servers that are pinned to an availability zone are '
        'unpinned, moved, and pinned to the new zone (default: false).'
    ),
    'close_source': parameter_types.yes_or_no(
        'Whether the hosts of the source cell are disabled before '
        'anything leaves (default: false). A server whose flavor changes '
        'stays while one of them takes servers.'
    ),
}


def schema() -> dict[str, Any]:
    """JSON schema (draft 4) of them."""
    return {
        'properties': copy.deepcopy(PROPERTIES),
        'required': ['source_cell', 'target_cells'],
    }


def parse(raw: dict[str, Any]) -> CellDrain:
    """Understand an audit's parameters.

    :raises ConfigurationError: names the parameter, its value and what it
        should be
    """
    parameter_types.require_known(raw, PROPERTIES)
    for name in ('source_cell', 'target_cells'):
        if raw.get(name) is None:
            raise parameter_types.bad(name, raw.get(name), 'missing; name one')
    [source] = _source(raw)
    targets = parameter_types.names(raw, 'target_cells', 'cell') or []
    if source in targets:
        raise parameter_types.bad(
            'target_cells', raw['target_cells'], 'holding the source_cell'
        )
    parameter_types.count(raw.get('max_migrations'))
    return CellDrain(
        source=source,
        targets=targets,
        hosts=parameter_types.names(raw, 'hosts', 'host'),
        flavor_map=_flavor_map(raw.get('flavor_map')),
        confirm=_chosen(Confirm, raw, 'confirm', Confirm.AUTO),
        order=_chosen(MoveOrder, raw, 'order', MoveOrder.SAFEST),
        include_stopped=_asked(raw, 'include_stopped', True),
        unpin_az=_asked(raw, 'unpin_az', False),
        close_source=_asked(raw, 'close_source', False),
    )


def _source(raw: dict[str, Any]) -> list[str]:
    value = raw['source_cell']
    cells = parameter_types.names(raw, 'source_cell', 'cell') or []
    if len(cells) != 1 or isinstance(value, list):
        raise parameter_types.bad(
            'source_cell', value, 'not the name of one cell'
        )
    return cells


def _flavor_map(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    items = value
    if isinstance(value, str):
        parts = [part.partition('=') for part in value.split(',')]
        if len({old.strip() for old, _, _ in parts}) < len(parts):
            raise _no_map(value)
        items = {old: new for old, _, new in parts}
    if not isinstance(items, dict) or not items:
        raise _no_map(value)
    flavor_map = {}
    for old, new in items.items():
        if isinstance(new, bool) or not isinstance(new, str | int):
            raise _no_map(value)
        flavor_map[str(old).strip()] = str(new).strip()
    if not all(flavor_map) or not all(flavor_map.values()):
        raise _no_map(value)
    return flavor_map


def _no_map(value: Any) -> Exception:
    return parameter_types.bad(
        'flavor_map',
        value,
        'no map of flavors, such as {"old": "new"} or old=new,other=same',
    )


def _chosen(kind: Any, raw: dict[str, Any], name: str, default: Any) -> Any:
    value = raw.get(name)
    if value is None:
        return default
    if value not in [member.value for member in kind]:
        values = ' nor '.join(member.value for member in kind)
        raise parameter_types.bad(name, value, f'neither {values}')
    return kind(value)


def _asked(raw: dict[str, Any], name: str, default: bool) -> bool:
    return parameter_types.either(parameter_types.boolean(raw, name), default)
