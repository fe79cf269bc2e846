# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-explain."""

from collections.abc import Mapping
from typing import Any

from kronos.cmd import tables, terminal
from kronos.cmd.tables import Row as Cells
from kronos.common import shell_commands
from kronos.engine import wording

ROWS = 20
"""So many destinations are listed one by one; of more, one of each code."""

COLUMNS = (
    'instance',
    'instance_name',
    'source',
    'destination',
    'code',
    'gain',
    'text',
)
Row = Mapping[str, Any]


def text(found: Row, width: int | None = None) -> str:
    """The answers of a document, one after the other.

    :param width: of the terminal, in columns; None: no matter
    """
    write = {'instance': _instance, 'host': _host, 'scope': _scope}
    parts = [
        write[found['question']](terminal.lines(one), width)
        for one in found['answers']
    ]
    return '\n\n'.join('\n'.join(part) for part in parts)


def rows(found: Row) -> list[Cells]:
    """The moves that an answer is about, the names of the columns first."""
    head = ('scope', *COLUMNS)
    return [
        head,
        *(
            (one['scope'], *(_cell(row[name]) for name in COLUMNS))
            for one in found['answers']
            for row in _of(found['question'], one)
        ),
    ]


def _of(question: str, one: Row) -> list[Row]:
    if question == 'instance':
        return list(one['destinations'])
    sides = [one] if question == 'scope' else [one['sends'], one['receives']]
    return [side['nearest_miss'] for side in sides if side['nearest_miss']]


def _cell(value: Any) -> str:
    if value is None:
        return ''
    return f'{value:+.4f}' if isinstance(value, float) else str(value)


def _scope(one: Row, width: int | None) -> list[str]:
    number = one['steps']
    planned = 'no migration'
    if number:
        planned = f'{wording.counted(number, "migration")} planned'
    lines = [
        f'Scope {one["scope"]}: {planned}',
        f'[{one["code"]}] {one["reason"]}',
        *(f'Not judged: {why}' for why in one['policies_skipped'].values()),
    ]
    if one['nearest_miss']:
        lines += ['', 'Nearest miss', *_verdict(one['nearest_miss'])]
    else:
        lines.append('There is no move that came close.')
    return [*lines, *_blockers(one, width)]


def _instance(one: Row, width: int | None) -> list[str]:
    lines = [
        f'Instance {_name(one)} on {one["host"]}, scope {one["scope"]}',
        *_moves(one['moves']),
        *_recovery(one['recovery']),
    ]
    if 'codes' not in one:
        for verdict in one['destinations']:
            lines += ['', *_verdict(verdict)]
        return lines
    if not one['moves']:
        lines.append('No step of the plan moves it.')
    if one['nearest_miss']:
        lines += ['', 'Nearest miss', *_verdict(one['nearest_miss'])]
    return [*lines, '', *_destinations(one, width), *_blockers(one, width)]


def _recovery(told: Row | None) -> list[str]:
    """What becomes of one that failed."""
    if told is None:
        return []
    if told['destination']:
        return [
            f'It is started again on {told["destination"]}: {told["text"]}'
        ]
    return [f'It failed, and is left alone: [{told["code"]}] {told["text"]}']


def _destinations(one: Row, width: int | None) -> list[str]:
    others = [
        row for row in one['destinations'] if row['code'] != 'already_there'
    ]
    if not others:
        return ['The scope has no other host, so no plan of it moves any.']
    shown, counts = others, {}
    if len(others) > ROWS:
        counts = one['codes']
        first: dict[str, Row] = {}
        for row in others:
            first.setdefault(row['code'], row)
        shown = [first[code] for code in counts]
    rows = [('destination', 'code', 'gain', 'why')]
    for row in shown:
        more = counts.get(row['code'], 1) - 1
        rows.append(
            (
                row['destination'] + (f' and {more} more' if more else ''),
                row['code'],
                _gain(row['gain']),
                row['text'] + _also(row),
            )
        )
    return tables.aligned(rows, width)


def _also(row: Row) -> str:
    codes = [other['code'] for other in row['also']]
    return f' (also: {", ".join(codes)})' if codes else ''


def _gain(gain: float | None) -> str:
    return '' if gain is None else f'{gain:+.4f}'


def _host(one: Row, width: int | None) -> list[str]:
    does = {
        'neither': 'neither sends nor receives',
        'both': 'sends and receives',
        'sends': 'sends',
        'receives': 'receives',
    }
    lines = [
        f'Host {one["host"]}, scope {one["scope"]}: {does[one["role"]]}; '
        f'{wording.counted(one["instances"], "instance")} there',
        *(
            f'Takes nothing: [{row["code"]}] {row["text"]}'
            for row in one['against']
        ),
        *_policies(one['policies'], width),
        *(
            f'Set aside for {row["policy"]}: {row["reason"]}.'
            for row in one['set_aside']
        ),
    ]
    for side, title in (('sends', 'Sending'), ('receives', 'Receiving')):
        lines += ['', title, *_side(one[side], width)]
    return [*lines, *_blockers(one, width)]


def _policies(policies: list[Row], width: int | None) -> list[str]:
    if not policies:
        return ['No policy counts it.']
    rows = [
        (
            'policy',
            'value',
            'after',
            'rank',
            'lowest',
            'highest',
            'threshold',
        )
    ]
    for one in policies:
        after = one['value_after']
        rows.append(
            (
                one['policy'],
                f'{one["value"]:.4f}',
                '' if after is None else f'{after:.4f}',
                f'{one["rank"]} of {one["hosts"]}',
                f'{one["lowest"]:.4f}',
                f'{one["highest"]:.4f}',
                _standing(one),
            )
        )
    return tables.aligned(rows, width)


def _standing(one: Row) -> str:
    if one['mode'] == 'pack':
        return 'no matter in mode pack'
    where = 'above' if one['over'] else 'within'
    return f'{where} lowest + threshold ({one["threshold"]:g})'


def _side(side: Row, width: int | None) -> list[str]:
    lines = _moves(side['moves'])
    if not lines:
        lines = ['nothing']
    if side['codes']:
        lines += tables.aligned(
            [
                ('instances', 'code'),
                *((str(n), code) for code, n in side['codes'].items()),
            ],
            width,
        )
    if side['nearest_miss']:
        lines += ['Nearest miss', *_verdict(side['nearest_miss'])]
    return lines


def _moves(moves: list[Row]) -> list[str]:
    return [
        f'Step {step["number"]} ({step["phase"]}) moves '
        f'{step["instance_name"] or step["instance"]} from {step["source"]} '
        f'to {step["destination"]}: combined imbalance '
        f'{step["combined_before"]:.4f} -> {step["combined_after"]:.4f}'
        for step in moves
    ]


def _verdict(one: Row) -> list[str]:
    lines = [
        f'{_name(one)} from {one["source"]} to {one["destination"]}',
        f'  [{one["code"]}] {one["text"]}',
        *_remedy(one),
    ]
    for other in one['also']:
        lines.append(f'  also [{other["code"]}] {other["text"]}')
        lines += _remedy(other)
    if one['try']:
        lines.append(f'    to try it: {shell_commands.joined(one["try"])}')
    if one['gain'] is not None:
        lines.append(
            f'  it would change the combined imbalance by '
            f'{-one["gain"]:+.4f}: '
            + ', '.join(
                f'{name} {width:.4f}'
                for name, width in one['imbalances'].items()
            )
        )
    if one['if_lifted']:
        lines.append(_lifted(one))
    return lines


def _remedy(one: Row) -> list[str]:
    if not one['remedy']:
        return []
    return [f'    to lift it: {one["remedy"]}']


def _lifted(one: Row) -> str:
    """What the plan then does with the instance, wherever it goes."""
    lifted = one['if_lifted']
    if not lifted['legal']:
        return f'  {_if(one)}: still {"; ".join(lifted["against"])}'
    if lifted['planned']:
        return f'  {_if(one)}: it is legal, and the plan would make it'
    if lifted['moves']:
        step = lifted['moves'][-1]
        then = (
            f'the plan would move the instance to {step["destination"]} '
            f'instead (step {step["number"]})'
        )
    else:
        then = (
            f'the plan would still leave the instance there: {lifted["stays"]}'
        )
        if number := lifted['more_steps']:
            other = 'more' if number > 0 else 'fewer'
            then += f'; it has {wording.counted(abs(number), "step")} {other}'
    return f'  {_if(one)}: it is legal, but {then}'


def _if(one: Row) -> str:
    if len(one['also']):
        return 'if all of these were lifted'
    return 'if that were lifted'


def _blockers(one: Row, width: int | None) -> list[str]:
    """All that keep a host from being emptied."""
    if not one.get('blockers'):
        return []
    rows = [('instance', 'code', 'nearest', 'why')]
    uuids = wording.ShortUuids(row['instance'] for row in one['blockers'])
    for row in one['blockers']:
        name = row['instance_name'] or uuids.of(row['instance'])
        why = row['text'] + _also(row)
        rows.append((name, row['code'], row['destination'], why))
    source, then = one['blockers'][0]['source'], one['if_all_lifted']
    lines = ['', f'What cannot leave {source}', *tables.aligned(rows, width)]
    if then is None:
        return lines
    if then['try']:
        lines.append(f'to try it: {shell_commands.joined(then["try"])}')
    end = f'{then["leaving"]} of {then["instances"]} instances would leave'
    if then['stays']:
        end += f': {then["stays"]}'
    return [*lines, f'if all of that were lifted: {end}']


def _name(one: Row) -> str:
    name = one['instance_name']
    if not name or name == one['instance']:
        return str(one['instance'])
    return f'{name} ({one["instance"]})'
