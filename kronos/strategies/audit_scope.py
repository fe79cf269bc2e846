# SPDX-License-Identifier: Apache-2.0
"""The scope of an audit: which hosts it means.

An audit names its aggregates in its scope (through an audit template) or in
the parameter ``aggregates``; both at once are refused, for they might
disagree. Only an audit that names none plans those of the configuration.

The hosts in no aggregate are planned too if the parameter
``include_unassigned_hosts`` says so, and for an audit that names no
aggregates also if the option of that name does. What the scope excludes is
left alone in every case.
"""

from typing import Any

from kronos.common import exceptions
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.snapshots import collector, scopes
from kronos.snapshots.cell_hosts import CellScope
from kronos.strategies import parameters

COMPUTE = 'compute'


def request(
    scope: list[dict[str, Any]], asked: parameters.Parameters, kronos: Any
) -> collector.ScopeRequest:
    """What an audit is about.

    :param scope: ``audit.scope`` in Watcher's format
    :param kronos: the group ``[kronos]`` of the configuration
    :raises ScopeError: the scope is not understood or given twice
    """
    found = _from_audit_scope(scope)
    drain = asked.extension.asked
    if isinstance(drain, CellDrain):
        return _of_cells(found, drain)
    named = bool(found.aggregates or found.availability_zones)
    if asked.aggregates is not None:
        if named:
            raise exceptions.ScopeError(
                "Aggregates are named in the audit's scope and in its "
                'parameter aggregates; name them in one of the two.'
            )
        named = True
        found.aggregates = list(asked.aggregates)
    pool = asked.include_unassigned_hosts
    if not named:
        found.aggregates = list(kronos.aggregates)
        pool = kronos.include_unassigned_hosts if pool is None else pool
    found.include_unassigned = bool(pool)
    return found


def _of_cells(
    found: collector.ScopeRequest, drain: CellDrain
) -> collector.ScopeRequest:
    """Its cells are what is planned; what it excludes is left alone."""
    if found.aggregates or found.availability_zones:
        raise exceptions.ScopeError(
            "The audit's scope names aggregates or zones, but its parameters "
            'name cells; leave them out of the scope, where only exclude '
            'may stand.'
        )
    found.cells = CellScope(drain.source, drain.targets, drain.hosts)
    return found


def _from_audit_scope(scope: list[dict[str, Any]]) -> collector.ScopeRequest:
    found = collector.ScopeRequest()
    for part in _items(scope, 'scope'):
        for kind, rules in part.items():
            if kind != COMPUTE:
                raise _not_understood(kind)
            for rule in _items(rules, kind):
                _apply(found, rule)
    return found


def _apply(found: collector.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, items in rule.items():
        if key == 'host_aggregates':
            found.aggregates += _refs(_some(items, key), key)
        elif key == 'availability_zones':
            found.availability_zones += _named(_some(items, key), 'name', key)
        elif key == 'exclude':
            for exclusion in _items(items, key):
                _exclude(found, exclusion)
        else:
            raise _not_understood(key)


def _exclude(found: collector.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, told in rule.items():
        items = _items(told, key)
        if key == 'host_aggregates':
            found.excluded_aggregates += _refs(items, key)
        elif key == 'compute_nodes':
            found.excluded_hosts += _named(items, 'name', key)
        elif key == 'instances':
            found.excluded_instances += _named(items, 'uuid', key)
        elif key == 'projects':
            found.excluded_projects += _named(items, 'uuid', key)
        elif key == 'instance_metadata':
            found.excluded_metadata += [
                {k: '' if v is None else str(v) for k, v in item.items()}
                for item in items
            ]
        else:
            raise _not_understood(f'exclude.{key}')


def _items(told: Any, where: str) -> list[dict[str, Any]]:
    """Watcher checks a template's scope only when it is created."""
    if not isinstance(told, list) or not all(
        isinstance(item, dict) for item in told
    ):
        raise exceptions.ScopeError(
            f"In the audit's scope, {where} is no list of mappings."
        )
    return told


def _some(told: Any, where: str) -> list[dict[str, Any]]:
    """An empty list means no host, not those of the configuration."""
    items = _items(told, where)
    if not items:
        raise exceptions.ScopeError(
            f"The audit's scope has {where} without an item; name some "
            f'there, or leave {where} out to plan what [kronos] says.'
        )
    return items


def _named(items: list[dict[str, Any]], name: str, where: str) -> list[str]:
    """One value of each item; Watcher lets items without it pass."""
    for item in items:
        if item.get(name) in (None, ''):
            raise exceptions.ScopeError(
                f"The audit's scope has an item of {where} without {name}."
            )
    return [str(item[name]) for item in items]


def _refs(
    items: list[dict[str, Any]], where: str
) -> list[str | scopes.AggregateRef]:
    """Aggregates by name or by id; ``*`` stands for all of them."""
    found: list[str | scopes.AggregateRef] = []
    for item in items:
        key = 'name' if 'name' in item else 'id'
        (value,) = _named([item], key, where)
        if value == scopes.ALL:
            found.append(value)
        else:
            found.append(scopes.AggregateRef(**{key: value}))
    return found


def _not_understood(key: str) -> exceptions.ScopeError:
    return exceptions.ScopeError(
        f'The audit\'s scope has "{key}", which Kronos does not understand; '
        'it knows host_aggregates, availability_zones and exclude under '
        'compute.'
    )
