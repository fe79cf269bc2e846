# SPDX-License-Identifier: Apache-2.0
"""The tables of an answer about the slots of a host."""

from collections.abc import Mapping, Sequence
from typing import Any

from kronos.cmd import tables
from kronos.cmd.tables import Row as Cells
from kronos.engine import wording

HEAD = (
    'scope',
    'host',
    'flavor',
    'instance',
    'instance_name',
    'resource',
    'amount',
    'may_move',
    'reason',
)
SHOWN = 10
"""Servers that a table lists; a document has all."""
Row = Mapping[str, Any]


def lines(answer: Row, width: int | None) -> list[str]:
    """How many slots there are, what lacks for one more, and who uses it."""
    number = wording.counted(answer['slots'], 'slot')
    text = [
        f'Host {answer["host"]}, scope {answer["scope"]}: {number} of '
        f'{answer["flavor"]}'
    ]
    if answer['closed']:
        text.append(f'It takes no server: {answer["closed"]}')
    if answer['lacking']:
        text += ['', 'For one more', *_lacking(answer['lacking'], width)]
    if answer['servers']:
        text += ['', 'Servers that use it', *_servers(answer, width)]
    if answer['remedy']:
        text += ['', f'Remedy: {answer["remedy"]}']
    return text


def rows(answers: Sequence[Row]) -> list[Cells]:
    """The servers on the host by resource, the names of the columns first."""
    return [
        HEAD,
        *(
            (
                *(answer[name] for name in HEAD[:3]),
                server['instance'],
                server['instance_name'],
                resource,
                str(amount),
                _answer(server),
                _reason(server),
            )
            for answer in answers
            for server in answer['servers']
            for resource, amount in server['amounts'].items()
        ),
    ]


def _lacking(lacking: Sequence[Row], width: int | None) -> list[str]:
    names = ('resource', 'required', 'free', 'missing')
    return tables.aligned(
        [names, *(tuple(str(row[name]) for name in names) for row in lacking)],
        width,
    )


def _servers(answer: Row, width: int | None) -> list[str]:
    servers = answer['servers']
    resources = [row['resource'] for row in answer['lacking']]
    listed: list[Cells] = [('instance', *resources, 'may move', 'why not')]
    listed += [
        (
            server['instance_name'] or server['instance'],
            *(str(server['amounts'][name]) for name in resources),
            _answer(server),
            _reason(server),
        )
        for server in servers[:SHOWN]
    ]
    more = len(servers) - SHOWN
    text = tables.aligned(listed, width)
    return [*text, f'and {more} more'] if more > 0 else text


def _answer(server: Row) -> str:
    return 'no' if server['reasons'] else 'yes'


def _reason(server: Row) -> str:
    return '; '.join(
        f'[{reason["code"]}] {reason["text"]}' for reason in server['reasons']
    )
