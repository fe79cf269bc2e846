# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-test-config."""

from collections.abc import Iterable, Mapping
from typing import Any

from kronos.cmd import tables, terminal
from kronos.cmd.checks import parts as command_parts
from kronos.cmd.checks.causes import finding_lines
from kronos.common import durations
from kronos.engine import wording

WIDTH = 79
MANY = 1000.0

COLUMNS = ('level', 'code', 'text', 'mend', 'cause')


def text(document: Mapping[str, Any], width: int | None = None) -> str:
    """The whole report.

    :param document: what ``--format json`` prints
    :param width: of the terminal, in columns; None: no matter
    """
    document = terminal.lines(document)
    parts = [
        _files(document),
        _policies(document, width),
        _exporters(document, width),
        _exclusions(document, width),
        _monitors(document, width),
        _queries(document, width),
        _labels(document, width),
        _servers(document, width),
        _scopes(document, width),
        *(
            text
            for part in command_parts.every()
            for text in part.tables(document, width)
        ),
        _cloud(document, width),
        _watcher(document),
        _weigher(document, width),
        finding_lines.text(document['findings'], width),
    ]
    return '\n\n'.join(part for part in parts if part)


def rows(document: Mapping[str, Any]) -> list[tables.Row]:
    """All findings, the names of the columns first.

    What follows from a cause is below it, and has it in the last column, so
    that rows can be sorted and filtered.
    """
    found: list[tables.Row] = [COLUMNS]
    for cause in document['findings']:
        found.append(_row(cause, ''))
        name = f'{cause["code"]}: {cause["text"]}'
        found += [_row(effect, name) for effect in cause['follows']]
    return found


def _row(finding: Mapping[str, Any], cause: str) -> tables.Row:
    return *(finding[name] for name in COLUMNS[:-1]), cause


def table(
    head: str,
    columns: list[str],
    rows: Iterable[list[Any]],
    width: int | None,
) -> str:
    cells: list[tables.Row] = [columns]
    cells += [[_cell(one) for one in row] for row in rows]
    if len(cells) == 1:
        return head
    lines = tables.aligned(cells, None if width is None else width - 2)
    return '\n'.join([head, *(f'  {line}' for line in lines)])


def _with_files(
    columns: list[str],
    rows: list[tuple[str, list[Any]]],
) -> tuple[list[str], list[list[Any]]]:
    """The same with the policies file, where there are several.

    Two of them may have policies of the same name.
    """
    if len({file for file, _ in rows}) < 2:
        return columns, [row for _, row in rows]
    return [*columns, 'of'], [[*row, file] for file, row in rows]


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


def _policies(document: Mapping[str, Any], width: int | None) -> str:
    if not document['policies']:
        return ''
    columns, rows = _with_files(
        ['policy', 'mode', 'weight', 'threshold', 'label type', 'fallback'],
        [
            (
                one['file'],
                [
                    one['name'] + ('' if one['enabled'] else ' (not enabled)'),
                    one['mode'],
                    one['weight'],
                    one['threshold'],
                    one['vm_profile_label_type'],
                    one['vm_profile_fallback'],
                ],
            )
            for one in document['policies']
        ],
    )
    return table('Policies', columns, rows, width)


def _exporters(document: Mapping[str, Any], width: int | None) -> str:
    rows = [
        [
            one['name'],
            one['targets'],
            one['series'],
            one['sample'] if one['fits'] else None,
        ]
        for one in document.get('exporters', [])
        if not one['error']
    ]
    if not rows:
        return ''
    columns = ['exporter', 'targets', 'series', 'sample that fits']
    return table('Exporters', columns, rows, width)


def _exclusions(document: Mapping[str, Any], width: int | None) -> str:
    found = document.get('exclusions')
    if not found:
        return ''
    told = found['error'] or f'{found["series"]} series'
    rows = [list(one) for one in found['hosts_excluded'].items()]
    head = f'Hosts at fault, by exclude_hosts_query ({told})'
    return table(head, ['host', 'value'], rows, width)


def _monitors(document: Mapping[str, Any], width: int | None) -> str:
    found = document.get('monitors')
    if not found:
        return ''
    rows: list[list[Any]] = [[one, 'none'] for one in found['hosts_missing']]
    rows += [[one, 'blind'] for one in found['hosts_blind']]
    head = f'Instance monitors that are missed ({found["series"]} report)'
    return table(head, ['host', 'monitor'], rows, width)


def _queries(document: Mapping[str, Any], width: int | None) -> str:
    if not document.get('queries'):
        return ''
    columns, rows = _with_files(
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
        [(one['policies_file'], _query(one)) for one in document['queries']],
    )
    head = f'Queries to {document["prometheus"]}'
    return table(head, columns, rows, width)


def _query(one: Mapping[str, Any]) -> list[Any]:
    hosts, age = '-', None
    if 'hosts' in one:
        hosts = f'{one["hosts"]}/{one["hosts_of_scope"]}'
    if one['oldest_seconds'] is not None:
        age = durations.rounded(max(0.0, one['oldest_seconds']))
    return [
        one['policy'],
        one['field'],
        one['series'],
        hosts,
        one['lowest'],
        one['highest'],
        age,
        one['health'],
    ]


def _labels(document: Mapping[str, Any], width: int | None) -> str:
    """The labels that match no host, by query."""
    rows = [
        [one['policy'], one['field'], _some_labels(one)]
        for one in document.get('queries', [])
        if one.get('labels_unmatched')
    ]
    excluded = document.get('exclusions') or {}
    if excluded.get('labels_unmatched'):
        rows.append([None, 'exclude_hosts_query', _some_labels(excluded)])
    if not rows:
        return ''
    head = 'Labels that match no host'
    return table(head, ['policy', 'query', 'labels'], rows, width)


def _some_labels(one: Mapping[str, Any]) -> str:
    labels = one['labels_unmatched']
    more = one['labels_unmatched_count'] - len(labels)
    return ', '.join(labels) + (f' and {more} more' if more > 0 else '')


def _servers(document: Mapping[str, Any], width: int | None) -> str:
    if not document.get('servers'):
        return ''
    columns, rows = _with_files(
        ['policy', 'label', 'label type', 'servers', 'running without'],
        [
            (
                one['policies_file'],
                [
                    one['policy'],
                    one['label'],
                    one['label_type'],
                    f'{one["with_a_value"]}/{one["servers"]}',
                    one['active_without'],
                ],
            )
            for one in document['servers']
        ],
    )
    return table('Servers with a value', columns, rows, width)


def _scopes(document: Mapping[str, Any], width: int | None) -> str:
    if not document.get('scopes'):
        return ''
    columns, rows = _with_files(
        ['scope', 'hosts', 'take part', 'servers', 'imbalance'],
        [(one['policies_file'], _scope(one)) for one in document['scopes']],
    )
    return table('Scopes', columns, rows, width)


def _scope(one: Mapping[str, Any]) -> list[Any]:
    imbalances = ', '.join(
        f'{name} {value:.3f}' for name, value in one['imbalances'].items()
    )
    return [
        one['scope'],
        one['hosts'],
        one['hosts_counting'],
        one['servers'],
        imbalances or '-',
    ]


def _cloud(document: Mapping[str, Any], width: int | None) -> str:
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
    return table(who, ['service', 'version', 'reads', 'rows'], rows, width)


def _watcher(document: Mapping[str, Any]) -> str:
    found = document['watcher']
    points = found['entry_points']
    bad = sum(bool(one['error']) for one in points)
    lines = [
        f'Watcher {found["version"] or "is not installed here"}',
        f'  {_plugins(len(points), bad)}',
    ]
    if 'running' in found:
        names = ', '.join(found['running']['strategies']) or 'none'
        lines.append(f'  strategies that the running Watcher knows: {names}')
    if found.get('applier'):
        lines.append(f'  {_applier(found["applier"])}')
    return '\n'.join(lines)


def _plugins(number: int, bad: int) -> str:
    if not number:
        return 'the package kronos-watcher is not installed: no plugins'
    broken = f', {bad} of them broken' if bad else ''
    plugins = wording.counted(number, 'plugin of Kronos for Watcher')
    return f'{plugins}{broken}'


def _applier(found: Mapping[str, Any]) -> str:
    actions = found['actions_at_a_time'] or 'as many as it has processors'
    return (
        f'an applier carries out {found["plans_at_a_time"]} plans at a time, '
        f'of each {actions} actions; [kronos] max_concurrent_migrations = '
        f'{found["migrations_of_a_scope"]} for each scope'
    )


def _weigher(document: Mapping[str, Any], width: int | None) -> str:
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
    return table(head, ['weigher', 'multiplier', 'worth in load'], rows, width)
