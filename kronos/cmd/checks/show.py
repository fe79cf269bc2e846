# SPDX-License-Identifier: Apache-2.0
"""How does a person read what was checked? In tables."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import prettytable

WIDTH = 79
MANY = 1000.0


def text(document: Mapping[str, Any]) -> str:
    """The whole report.

    :param document: what ``--format json`` prints
    """
    parts = [
        _files(document),
        _policies(document),
        _queries(document),
        _servers(document),
        _scopes(document),
        _cloud(document),
        _watcher(document),
        _weigher(document),
        _findings(document),
    ]
    return '\n\n'.join(part for part in parts if part)


def _table(head: str, columns: list[str], rows: Iterable[list[Any]]) -> str:
    table = prettytable.PrettyTable(columns, border=False, align='l')
    table.left_padding_width, table.right_padding_width = 0, 2
    for row in rows:
        table.add_row([_cell(one) for one in row])
    lines = table.get_string().splitlines() if table.rows else []
    return '\n'.join([head, *(f'  {line.rstrip()}' for line in lines)])


def _cell(value: Any) -> str:
    if value is None:
        return '-'
    if isinstance(value, float):
        return f'{value:.4g}' if abs(value) < MANY else f'{value:.0f}'
    return str(value)


def _files(document: Mapping[str, Any]) -> str:
    where = document['configuration']
    lines = [f'{name}: {", ".join(where[name]) or "none"}' for name in where]
    return '\n'.join(['Configuration', *(f'  {line}' for line in lines)])


def _policies(document: Mapping[str, Any]) -> str:
    if not document['policies']:
        return ''
    return _table(
        'Policies',
        ['policy', 'mode', 'weight', 'threshold', 'label type', 'fallback'],
        [
            [
                one['name'] + ('' if one['enabled'] else ' (not enabled)'),
                one['mode'],
                one['weight'],
                one['threshold'],
                one['vm_profile_label_type'],
                one['vm_profile_fallback'],
            ]
            for one in document['policies']
        ],
    )


def _queries(document: Mapping[str, Any]) -> str:
    if not document.get('queries'):
        return ''
    return _table(
        f'Queries to {document["prometheus"]}',
        [
            'policy',
            'query',
            'series',
            'hosts',
            'lowest',
            'highest',
            'age',
            'answer',
        ],
        [
            [
                one['policy'],
                one['field'],
                one['series'],
                f'{one["hosts"]}/{one["hosts_of_scope"]}'
                if 'hosts' in one
                else '-',
                one['lowest'],
                one['highest'],
                None
                if one['oldest_seconds'] is None
                else f'{max(0.0, one["oldest_seconds"]):.0f} s',
                one['health'],
            ]
            for one in document['queries']
        ],
    )


def _servers(document: Mapping[str, Any]) -> str:
    if not document.get('servers'):
        return ''
    return _table(
        'Servers with a value',
        ['policy', 'label', 'label type', 'servers', 'running without'],
        [
            [
                one['policy'],
                one['label'],
                one['label_type'],
                f'{one["with_a_value"]}/{one["servers"]}',
                one['active_without'],
            ]
            for one in document['servers']
        ],
    )


def _scopes(document: Mapping[str, Any]) -> str:
    if not document.get('scopes'):
        return ''
    return _table(
        'Scopes',
        ['scope', 'hosts', 'take part', 'servers', 'imbalance'],
        [
            [
                one['scope'],
                one['hosts'],
                one['hosts_counting'],
                one['servers'],
                ', '.join(
                    f'{name} {value:.3f}'
                    for name, value in one['imbalances'].items()
                ),
            ]
            for one in document['scopes']
        ],
    )


def _cloud(document: Mapping[str, Any]) -> str:
    cloud = document.get('cloud')
    if not cloud:
        return ''
    who = f'Cloud, by {cloud["credentials"]}'
    if cloud.get('user'):
        roles = ', '.join(cloud['roles']) or 'none'
        who += f': user {cloud["user"]}, roles {roles}'
    rows = []
    for service in cloud['services']:
        version = service.get('microversion') or '-'
        for one in service['reads'] or [{'what': '-', 'rows': None}]:
            failed = one.get('error') or service.get('error')
            rows.append(
                [
                    service['name'],
                    version,
                    one['what'],
                    'cannot be read' if failed else one['rows'],
                ]
            )
    return _table(who, ['service', 'version', 'reads', 'rows'], rows)


def _watcher(document: Mapping[str, Any]) -> str:
    found = document['watcher']
    points = found['entry_points']
    bad = sum(bool(one['error']) for one in points)
    lines = [
        f'Watcher {found["version"] or "is not installed here"}',
        f'  {len(points)} plugins of Kronos'
        + (f', {bad} of them broken' if bad else ''),
    ]
    if 'running' in found:
        names = ', '.join(found['running']['strategies']) or 'none'
        lines.append(f'  strategies that the running Watcher knows: {names}')
    if found.get('applier'):
        lines.append(f'  {_applier(found["applier"])}')
    return '\n'.join(lines)


def _applier(found: Mapping[str, Any]) -> str:
    actions = found['actions_at_a_time'] or 'as many as it has processors'
    return (
        f'an applier carries out {found["plans_at_a_time"]} plans at a time, '
        f'of each {actions} actions; [kronos] max_concurrent_migrations = '
        f'{found["migrations_of_a_scope"]} for each scope'
    )


def _weigher(document: Mapping[str, Any]) -> str:
    found = document.get('weigher')
    if not found:
        return ''
    state = 'enabled' if found.get('is_enabled') else 'not enabled'
    head = f'Weigher of nova-scheduler: {state}'
    if found.get('is_enabled') and found.get('scores'):
        known = sum(one is not None for one in found['scores'].values())
        head += f', {known} of {len(found["scores"])} hosts have a score'
    rows = [
        [one['name'], one['multiplier'], one.get('worth_in_load')]
        for one in found.get('weighers', [])
    ]
    return _table(head, ['weigher', 'multiplier', 'worth in load'], rows)


def _findings(document: Mapping[str, Any]) -> str:
    found = document['findings']
    lines, counts = ['Findings'], []
    for one in found:
        lines += _wrapped(
            f'{one["level"].upper()} {one["code"]}: ', one['text']
        )
        if one['mend']:
            lines += _wrapped('  Mend: ', one['mend'])
    for level in ('error', 'warning'):
        number = sum(one['level'] == level for one in found)
        counts.append(f'{number} {level}{"" if number == 1 else "s"}')
    lines.append(', '.join(counts))
    return '\n'.join(lines)


def _wrapped(head: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        f'{head}{text}',
        WIDTH,
        initial_indent='  ',
        subsequent_indent='    ',
        break_long_words=False,
        break_on_hyphens=False,
    )
