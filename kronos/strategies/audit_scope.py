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

from collections.abc import Collection
from typing import Any

from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.snapshots import collector, scopes
from kronos.strategies import parameters

COMPUTE = 'compute'
PARTS = ('host_aggregates', 'availability_zones', 'exclude')
EXCLUDABLE = (
    'host_aggregates',
    'compute_nodes',
    'instances',
    'projects',
    'instance_metadata',
)


def request(
    scope: list[dict[str, Any]], requested: parameters.Parameters, kronos: Any
) -> collector.ScopeRequest:
    """What an audit is about.

    :param scope: ``audit.scope`` in Watcher's format
    :param kronos: the group ``[kronos]`` of the configuration
    :raises ScopeError: the scope is not understood or given twice
    """
    result = _from_audit_scope(scope)
    if requested.chosen is not None:
        return _chosen(result, requested.chosen)
    named = bool(result.aggregates or result.availability_zones)
    if requested.aggregates is not None:
        if named:
            raise exceptions.ScopeError(
                "Aggregates are named in the audit's scope and in its "
                'parameter aggregates; name them in one of the two.'
            )
        named = True
        result.aggregates = list(requested.aggregates)
    pool = requested.include_unassigned_hosts
    if not named:
        result.aggregates = list(kronos.aggregates)
        pool = kronos.include_unassigned_hosts if pool is None else pool
    result.include_unassigned = bool(pool)
    return result


def _chosen(
    result: collector.ScopeRequest, choice: scopes.HostChoice
) -> collector.ScopeRequest:
    """That choice is what is planned; what it excludes is left alone."""
    if result.aggregates or result.availability_zones:
        raise exceptions.ScopeError(
            "The audit's scope names aggregates or zones, but its parameters "
            f'name {choice.NAMES}; remove them from the scope, which may then '
            'contain only exclude.'
        )
    result.chosen = choice
    return result


def _from_audit_scope(scope: list[dict[str, Any]]) -> collector.ScopeRequest:
    result = collector.ScopeRequest()
    for part in _items(scope, 'scope'):
        for kind, rules in part.items():
            if kind != COMPUTE:
                raise _not_understood(kind, [COMPUTE])
            for rule in _items(rules, kind):
                _apply(result, rule)
    return result


def _apply(result: collector.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, items in rule.items():
        if key == 'host_aggregates':
            result.aggregates += _refs(_some(items, key), key)
        elif key == 'availability_zones':
            result.availability_zones += _named(_some(items, key), 'name', key)
        elif key == 'exclude':
            for exclusion in _items(items, key):
                _exclude(result, exclusion)
        else:
            raise _not_understood(key, PARTS)


def _exclude(result: collector.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, values in rule.items():
        items = _items(values, key)
        if key == 'host_aggregates':
            result.excluded_aggregates += _refs(items, key)
        elif key == 'compute_nodes':
            result.excluded_hosts += _named(items, 'name', key)
        elif key == 'instances':
            result.excluded_instances += _named(items, 'uuid', key)
        elif key == 'projects':
            result.excluded_projects += _named(items, 'uuid', key)
        elif key == 'instance_metadata':
            result.excluded_metadata += [
                {k: '' if v is None else str(v) for k, v in item.items()}
                for item in items
            ]
        else:
            raise _not_understood(key, EXCLUDABLE)


def _items(value: Any, where: str) -> list[dict[str, Any]]:
    """Watcher checks a template's scope only when it is created."""
    if not isinstance(value, list) or not all(
        isinstance(item, dict) for item in value
    ):
        raise exceptions.ScopeError(
            f"In the audit's scope, {where} is no list of mappings."
        )
    return value


def _some(value: Any, where: str) -> list[dict[str, Any]]:
    """An empty list means no host, not those of the configuration."""
    items = _items(value, where)
    if not items:
        raise exceptions.ScopeError(
            f"The audit's scope has {where} without an item; name some "
            f'there, or leave {where} out to plan the aggregates of [kronos].'
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
    references: list[str | scopes.AggregateRef] = []
    for item in items:
        key = 'name' if 'name' in item else 'id'
        (value,) = _named([item], key, where)
        if value == scopes.ALL:
            references.append(value)
        else:
            references.append(scopes.AggregateRef(**{key: value}))
    return references


def _not_understood(key: str, keys: Collection[str]) -> exceptions.ScopeError:
    return exceptions.ScopeError(
        f'The audit\'s scope has "{key}", which Kronos does not understand; '
        + near_names.of_fields(key, keys)
    )
