# SPDX-License-Identifier: Apache-2.0
"""Which hosts does an audit mean?

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
from kronos.snapshots import collect
from kronos.strategies import parameters

COMPUTE = 'compute'


def request(
    scope: list[dict[str, Any]], asked: parameters.Parameters, kronos: Any
) -> collect.ScopeRequest:
    """What an audit is about.

    :param scope: ``audit.scope`` in Watcher's format
    :param kronos: the group ``[kronos]`` of the configuration
    :raises ScopeError: the scope is not understood or given twice
    """
    found = _from_audit_scope(scope)
    named = bool(found.aggregates or found.availability_zones)
    if asked.aggregates is not None:
        if named:
            raise exceptions.ScopeError(
                "Aggregates are named in the audit's scope and in its "
                'parameter aggregates; name them in one of the two.'
            )
        named = True
        found.aggregates = asked.aggregates
    pool = asked.include_unassigned_hosts
    if not named:
        found.aggregates = list(kronos.aggregates)
        pool = kronos.include_unassigned_hosts if pool is None else pool
    found.include_unassigned = bool(pool)
    return found


def _from_audit_scope(scope: list[dict[str, Any]]) -> collect.ScopeRequest:
    found = collect.ScopeRequest()
    for part in scope:
        for kind, rules in part.items():
            if kind != COMPUTE:
                raise _not_understood(kind)
            for rule in rules:
                _apply(found, rule)
    return found


def _apply(found: collect.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, items in rule.items():
        if key == 'host_aggregates':
            found.aggregates += _refs(items, key)
        elif key == 'availability_zones':
            found.availability_zones += _named(items, 'name', key)
        elif key == 'exclude':
            for exclusion in items:
                _exclude(found, exclusion)
        else:
            raise _not_understood(key)


def _exclude(found: collect.ScopeRequest, rule: dict[str, Any]) -> None:
    for key, items in rule.items():
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
                {name: str(value) for name, value in item.items()}
                for item in items
            ]
        else:
            raise _not_understood(f'exclude.{key}')


def _named(items: list[dict[str, Any]], name: str, where: str) -> list[str]:
    """One value of each item; Watcher lets items without it pass."""
    for item in items:
        if item.get(name) in (None, ''):
            raise exceptions.ScopeError(
                f"The audit's scope has an item of {where} without {name}."
            )
    return [str(item[name]) for item in items]


def _refs(items: list[dict[str, Any]], where: str) -> list[str]:
    """Aggregates by name or id; ``*`` stands for all of them."""
    return [
        ref
        for item in items
        for ref in _named([item], 'name' if 'name' in item else 'id', where)
    ]


def _not_understood(key: str) -> exceptions.ScopeError:
    return exceptions.ScopeError(
        f'The audit\'s scope has "{key}", which Kronos does not understand; '
        'it knows host_aggregates, availability_zones and exclude under '
        'compute.'
    )
