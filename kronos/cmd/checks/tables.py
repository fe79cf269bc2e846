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
        _windows(document, width),
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
    lines: list[tables.Row] = [COLUMNS]
    for cause in document['findings']:
        lines.append(_row(cause, ''))
        name = f'{cause["code"]}: {cause["text"]}'
        lines += [_row(effect, name) for effect in cause['follows']]
    return lines


def _row(finding: Mapping[str, Any], cause: str) -> tables.Row:
    return *(finding[name] for name in COLUMNS[:-1]), cause


def table(
    head: str, columns: list[str], rows: Iterable[list[Any]], width: int | None
) -> str:
    cells: list[tables.Row] = [columns]
    cells += [[_cell(value) for value in row] for row in rows]
    if len(cells) == 1:
        return head
    lines = tables.aligned(cells, None if width is None else width - 2)
    return '\n'.join([head, *(f'  {line}' for line in lines)])


def _with_files(
    columns: list[str], rows: list[tuple[str, list[Any]]]
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
                row['file'],
                [
                    row['name'] + ('' if row['enabled'] else ' (not enabled)'),
                    row['mode'],
                    row['weight'],
                    row['threshold'],
                    row['vm_profile_label_type'],
                    row['vm_profile_fallback'],
                ],
            )
            for row in document['policies']
        ],
    )
    return table('Policies', columns, rows, width)


def _exporters(document: Mapping[str, Any], width: int | None) -> str:
    rows = [
        [
            exporter['name'],
            exporter['targets'],
            exporter['series'],
            exporter['sample'] if exporter['fits'] else None,
        ]
        for exporter in document.get('exporters', [])
        if not exporter['error']
    ]
    if not rows:
        return ''
    columns = ['exporter', 'targets', 'series', 'sample that fits']
    return table('Exporters', columns, rows, width)


def _exclusions(document: Mapping[str, Any], width: int | None) -> str:
    exclusions = document.get('exclusions')
    if not exclusions:
        return ''
    summary = exclusions['error'] or f'{exclusions["series"]} series'
    rows = [list(pair) for pair in exclusions['hosts_excluded'].items()]
    head = f'Hosts at fault, by exclude_hosts_query ({summary})'
    return table(head, ['host', 'value'], rows, width)


def _monitors(document: Mapping[str, Any], width: int | None) -> str:
    monitors = document.get('monitors')
    if not monitors:
        return ''
    rows: list[list[Any]] = [
        [host, 'none'] for host in monitors['hosts_missing']
    ]
    rows += [[host, 'blind'] for host in monitors['hosts_blind']]
    head = (
        'Hosts without a working instance monitor '
        f'({monitors["series"]} report)'
    )
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
        [(row['policies_file'], _query(row)) for row in document['queries']],
    )
    head = f'Queries to {document["prometheus"]}'
    return table(head, columns, rows, width)


def _query(query: Mapping[str, Any]) -> list[Any]:
    hosts, age = '-', None
    if 'hosts' in query:
        hosts = f'{query["hosts"]}/{query["hosts_of_scope"]}'
    if query['oldest_seconds'] is not None:
        age = durations.rounded(max(0.0, query['oldest_seconds']))
    return [
        query['policy'],
        query['field'],
        query['series'],
        hosts,
        query['lowest'],
        query['highest'],
        age,
        query['health'],
    ]


def _labels(document: Mapping[str, Any], width: int | None) -> str:
    """The labels that match no host, by query."""
    rows = [
        [row['policy'], row['field'], _some_labels(row)]
        for row in document.get('queries', [])
        if row.get('labels_unmatched')
    ]
    excluded = document.get('exclusions') or {}
    if excluded.get('labels_unmatched'):
        rows.append([None, 'exclude_hosts_query', _some_labels(excluded)])
    if not rows:
        return ''
    head = 'Labels that match no host'
    return table(head, ['policy', 'query', 'labels'], rows, width)


def _some_labels(query: Mapping[str, Any]) -> str:
    labels = query['labels_unmatched']
    more = query['labels_unmatched_count'] - len(labels)
    return ', '.join(labels) + (f' and {more} more' if more > 0 else '')


def _servers(document: Mapping[str, Any], width: int | None) -> str:
    if not document.get('servers'):
        return ''
    columns, rows = _with_files(
        ['policy', 'label', 'label type', 'servers', 'running without'],
        [
            (
                row['policies_file'],
                [
                    row['policy'],
                    row['label'],
                    row['label_type'],
                    f'{row["with_a_value"]}/{row["servers"]}',
                    row['active_without'],
                ],
            )
            for row in document['servers']
        ],
    )
    return table('Servers with a value', columns, rows, width)


def _scopes(document: Mapping[str, Any], width: int | None) -> str:
    if not document.get('scopes'):
        return ''
    columns, rows = _with_files(
        ['scope', 'hosts', 'take part', 'servers', 'imbalance'],
        [(row['policies_file'], _scope(row)) for row in document['scopes']],
    )
    return table('Scopes', columns, rows, width)


def _scope(scope: Mapping[str, Any]) -> list[Any]:
    imbalances = ', '.join(
        f'{name} {value:.3f}' for name, value in scope['imbalances'].items()
    )
    return [
        scope['scope'],
        scope['hosts'],
        scope['hosts_counting'],
        scope['servers'],
        imbalances or '-',
    ]


def _windows(document: Mapping[str, Any], width: int | None) -> str:
    """Of how far each is off in its forecast, per cent of the mean usage."""
    if not document.get('windows'):
        return ''
    columns, rows = _with_files(
        ['policy', 'window', 'off by %', 'best window', 'off by %'],
        [
            (
                row['policies_file'],
                [
                    row['policy'],
                    row['window'],
                    f'{100 * row["forecast_error"]:.0f}',
                    row['best_window'],
                    f'{100 * row["best_forecast_error"]:.0f}',
                ],
            )
            for row in document['windows']
        ],
    )
    return table('Windows, as forecasts of 30 min', columns, rows, width)


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
        for read in service['reads'] or [{'what': '-', 'rows': None}]:
            failed = read.get('error') or service.get('error')
            rows.append(
                [
                    service['name'],
                    version,
                    read['what'],
                    'cannot be read' if failed else read['rows'],
                ]
            )
    return table(who, ['service', 'version', 'reads', 'rows'], rows, width)


def _watcher(document: Mapping[str, Any]) -> str:
    watcher = document['watcher']
    points = watcher['entry_points']
    bad = sum(bool(point['error']) for point in points)
    lines = [
        f'Watcher {watcher["version"] or "is not installed here"}',
        f'  {_plugins(len(points), bad)}',
    ]
    if 'running' in watcher:
        names = ', '.join(watcher['running']['strategies']) or 'none'
        lines.append(f'  strategies that the running Watcher offers: {names}')
    if watcher.get('applier'):
        lines.append(f'  {_applier(watcher["applier"])}')
    return '\n'.join(lines)


def _plugins(number: int, bad: int) -> str:
    if not number:
        return 'the package kronos-watcher is not installed: no plugins'
    broken = f', {bad} of them broken' if bad else ''
    plugins = wording.counted(number, 'plugin of Kronos for Watcher')
    return f'{plugins}{broken}'


def _applier(limits: Mapping[str, Any]) -> str:
    actions = limits['actions_at_a_time'] or 'as many as it has processors'
    return (
        f'an applier carries out {limits["plans_at_a_time"]} plans at a time, '
        f'with {actions} actions each; [kronos] max_concurrent_migrations = '
        f'{limits["migrations_of_a_scope"]} for each scope'
    )


def _weigher(document: Mapping[str, Any], width: int | None) -> str:
    weigher = document.get('weigher')
    if not weigher:
        return ''
    state = 'enabled' if weigher.get('is_enabled') else 'not enabled'
    head = f'Weigher of nova-scheduler: {state}'
    if weigher.get('is_enabled') and weigher.get('scores'):
        scored = sum(score is not None for score in weigher['scores'].values())
        head += f', {scored} of {len(weigher["scores"])} hosts have a score'
    rows = [
        [row['name'], row['multiplier'], row.get('worth_in_load')]
        for row in weigher.get('weighers', [])
    ]
    return table(head, ['weigher', 'multiplier', 'worth in load'], rows, width)
