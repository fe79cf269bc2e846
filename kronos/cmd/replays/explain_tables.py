# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-explain."""

from collections.abc import Mapping
from typing import Any

from kronos.cmd import tables, terminal
from kronos.cmd.replays import slot_tables
from kronos.cmd.tables import Row as Cells
from kronos.common import shell_commands
from kronos.engine import wording
from kronos.reports import parts as report_parts

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


def text(document: Row, width: int | None = None) -> str:
    """The answers of a document, one after the other.

    :param width: of the terminal, in columns; None: no matter
    """
    write = {
        'instance': _instance,
        'host': _host,
        'scope': _scope,
        'blockers': _drain,
        'slots': slot_tables.lines,
    }
    parts = [
        write[document['question']](terminal.lines(answer), width)
        for answer in document['answers']
    ]
    return '\n\n'.join('\n'.join(part) for part in parts)


def rows(document: Row) -> list[Cells]:
    """The moves that an answer is about, the names of the columns first.

    Of an answer about slots it is the servers on the host.
    """
    if document['question'] == 'slots':
        return slot_tables.rows(document['answers'])
    columns: tuple[str, ...] = COLUMNS
    if document['question'] == 'blockers':
        columns = *COLUMNS, 'project', 'remedy'
    return [
        ('scope', *columns),
        *(
            (answer['scope'], *(_cell(row[name]) for name in columns))
            for answer in document['answers']
            for row in _of(document['question'], answer)
        ),
    ]


def _of(question: str, answer: Row) -> list[Row]:
    if question in ('instance', 'blockers'):
        rows = 'destinations' if question == 'instance' else 'blockers'
        return list(answer[rows])
    sides = (
        [answer]
        if question == 'scope'
        else [answer['sends'], answer['receives']]
    )
    return [side['nearest_miss'] for side in sides if side['nearest_miss']]


def _cell(value: Any) -> str:
    if value is None:
        return ''
    return f'{value:+z.4f}' if isinstance(value, float) else str(value)


def _scope(answer: Row, width: int | None) -> list[str]:
    number = answer['steps']
    planned = 'no migration'
    if number:
        planned = f'{wording.counted(number, "migration")} planned'
    lines = [
        f'Scope {answer["scope"]}: {planned}',
        f'[{answer["code"]}] {answer["reason"]}',
        *(f'Not judged: {why}' for why in answer['policies_skipped'].values()),
    ]
    if answer['nearest_miss']:
        lines += ['', 'Nearest miss', *_verdict(answer['nearest_miss'])]
    else:
        lines.append('No move came close to being planned.')
    return [*lines, *_blockers(answer, width)]


def _instance(answer: Row, width: int | None) -> list[str]:
    lines = [
        f'Instance {_name(answer)} on {answer["host"]}, '
        f'scope {answer["scope"]}',
        *_moves(answer['moves']),
        *(
            line
            for part in report_parts.every()
            for line in part.answer_lines(answer)
        ),
    ]
    if 'codes' not in answer:
        for verdict in answer['destinations']:
            lines += ['', *_verdict(verdict)]
        return lines
    if not answer['moves']:
        lines.append('No step of the plan moves it.')
    if answer['nearest_miss']:
        lines += ['', 'Nearest miss', *_verdict(answer['nearest_miss'])]
    return [
        *lines,
        '',
        *_destinations(answer, width),
        *_blockers(answer, width),
    ]


def _destinations(answer: Row, width: int | None) -> list[str]:
    others = [
        row for row in answer['destinations'] if row['code'] != 'already_there'
    ]
    if not others:
        return [
            'The scope has no other host, so no plan for it moves any '
            'instance.'
        ]
    shown, counts = others, {}
    if len(others) > ROWS:
        counts = answer['codes']
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
                _cell(row['gain']),
                row['text'] + _also(row),
            )
        )
    return tables.aligned(rows, width)


def _also(row: Row) -> str:
    codes = [other['code'] for other in row['also']]
    return f' (also: {", ".join(codes)})' if codes else ''


def _host(answer: Row, width: int | None) -> list[str]:
    does = {
        'neither': 'neither sends nor receives',
        'both': 'sends and receives',
        'sends': 'sends',
        'receives': 'receives',
    }
    lines = [
        f'Host {answer["host"]}, scope {answer["scope"]}: '
        f'{does[answer["role"]]}; '
        f'{wording.counted(answer["instances"], "instance")} there',
        *(
            line
            for part in report_parts.every()
            for line in part.host_lines(answer)
        ),
        *(
            f'Cannot receive servers: [{row["code"]}] {row["text"]}'
            for row in answer['against']
        ),
        *_policies(answer['policies'], width),
        *(
            f'Set aside for {row["policy"]}: {row["reason"]}.'
            for row in answer['set_aside']
        ),
    ]
    for side, title in (('sends', 'Sending'), ('receives', 'Receiving')):
        lines += ['', title, *_side(answer[side], width)]
    return [*lines, *_blockers(answer, width)]


def _drain(answer: Row, width: int | None) -> list[str]:
    """What a drain leaves on a host, and what would lift it."""
    number, leaving = answer['instances'], answer['leaving']
    lines = [
        f'Host {answer["host"]}, scope {answer["scope"]}: if you drain it, '
        f'{leaving} of {wording.counted(number, "server")} would leave',
        f'[{answer["code"]}] {answer["reason"]}',
        *_blockers(answer, width),
    ]
    remedies = {
        (each['code'], each['remedy'])
        for row in answer['blockers']
        for each in (row, *row['also'])
        if each['remedy']
    }
    if remedies:
        lines += ['', 'What would let them leave']
    return [
        *lines,
        *(f'  [{code}] {remedy}' for code, remedy in sorted(remedies)),
    ]


def _policies(policies: list[Row], width: int | None) -> list[str]:
    if not policies:
        return ['No policy includes this host.']
    rows = [
        ('policy', 'value', 'after', 'rank', 'lowest', 'highest', 'threshold')
    ]
    for policy in policies:
        after = policy['value_after']
        rows.append(
            (
                policy['policy'],
                f'{policy["value"]:.4f}',
                '' if after is None else f'{after:.4f}',
                f'{policy["rank"]} of {policy["hosts"]}',
                f'{policy["lowest"]:.4f}',
                f'{policy["highest"]:.4f}',
                _standing(policy),
            )
        )
    return tables.aligned(rows, width)


def _standing(policy: Row) -> str:
    if policy['mode'] == 'pack':
        return 'not used in mode pack'
    where = 'above' if policy['over'] else 'within'
    return f'{where} lowest + threshold ({policy["threshold"]:g})'


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


def _verdict(verdict: Row) -> list[str]:
    lines = [
        f'{_name(verdict)} from {verdict["source"]} to '
        f'{verdict["destination"]}',
        f'  [{verdict["code"]}] {verdict["text"]}',
        *_remedy(verdict),
    ]
    for other in verdict['also']:
        lines.append(f'  also [{other["code"]}] {other["text"]}')
        lines += _remedy(other)
    if verdict['try']:
        lines.append(f'    to try it: {shell_commands.joined(verdict["try"])}')
    if verdict['gain'] is not None:
        lines.append(
            f'  it would change the combined imbalance by '
            f'{-verdict["gain"]:+z.4f}: '
            + ', '.join(
                f'{name} {width:.4f}'
                for name, width in verdict['imbalances'].items()
            )
        )
    if verdict['if_lifted']:
        lines.append(_lifted(verdict))
    return lines


def _remedy(verdict: Row) -> list[str]:
    if not verdict['remedy']:
        return []
    return [f'    to lift it: {verdict["remedy"]}']


def _lifted(verdict: Row) -> str:
    """What the plan then does with the instance, wherever it goes."""
    lifted = verdict['if_lifted']
    if not lifted['legal']:
        return f'  {_if(verdict)}: still {"; ".join(lifted["against"])}'
    if lifted['planned']:
        return f'  {_if(verdict)}: it is legal, and the plan would make it'
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
    return f'  {_if(verdict)}: it is legal, but {then}'


def _if(verdict: Row) -> str:
    if len(verdict['also']):
        return 'if all of these were lifted'
    return 'if that were lifted'


def _blockers(answer: Row, width: int | None) -> list[str]:
    """All that keep a host from being emptied."""
    if not answer.get('blockers'):
        return []
    rows = [('instance', 'project', 'code', 'nearest', 'why')]
    uuids = wording.ShortUuids(row['instance'] for row in answer['blockers'])
    for row in answer['blockers']:
        name = row['instance_name'] or uuids.of(row['instance'])
        why = row['text'] + _also(row)
        rows.append(
            (name, row['project'], row['code'], row['destination'], why)
        )
    source, then = answer['blockers'][0]['source'], answer['if_all_lifted']
    lines = [
        '',
        f'Servers that cannot leave {source}',
        *tables.aligned(rows, width),
    ]
    if then is None:
        return lines
    if then['try']:
        lines.append(f'to try it: {shell_commands.joined(then["try"])}')
    end = f'{then["leaving"]} of {then["instances"]} instances would leave'
    if then['stays']:
        end += f': {then["stays"]}'
    return [*lines, f'if all of that were lifted: {end}']


def _name(answer: Row) -> str:
    name = answer['instance_name']
    if not name or name == answer['instance']:
        return str(answer['instance'])
    return f'{name} ({answer["instance"]})'
