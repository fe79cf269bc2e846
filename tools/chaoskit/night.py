# SPDX-License-Identifier: Apache-2.0
"""The report of a run of chaos, and the page of a night of them.

A report is one JSON object; keys are added, never changed.
"""

import datetime
import html
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labkit import layout

if TYPE_CHECKING:
    from chaoskit.running import Run

FORMAT = 1
SEEDS = (1, 2, 3)
MINUTES = 60
"""Of faults, for each seed."""
COUNTED = ('plans', 'actions', 'migrations', 'servers')
"""What a report counts by state."""
COLUMNS = (
    'seed',
    'minutes',
    'events',
    'runs of audits',
    *COUNTED,
    'violations',
    'findings of the surroundings',
)
STYLE = (
    'body{font:16px sans-serif;margin:2em auto;max-width:70em;padding:0 1em}'
    'table{border-collapse:collapse}'
    'td,th{border:1px solid #999;padding:4px 8px;text-align:left}'
)


def document(
    run: 'Run', seed: int, minutes: float, command: str
) -> dict[str, Any]:
    """What a run did, judged and found."""
    return {
        'format_version': FORMAT,
        'seed': seed,
        'minutes': minutes,
        'again': command,
        'ended_at': _now(),
        'commit': _commit(),
        'machine': _machine(),
        'events': run.counts['events'],
        'events_not_done': run.counts['not done'],
        'audit_runs': run.counts['runs of audits'],
        **{what: dict(counter) for what, counter in states(run).items()},
        'violations': sum(one.is_ours for one in run.findings),
        'findings': [
            {
                'judge': one.judge,
                'what': one.what,
                'look_at': one.look_at,
                'is_ours': one.is_ours,
            }
            for one in run.findings
        ],
    }


def states(run: 'Run') -> dict[str, Counter[str]]:
    """How many of each kind are in which state at the end."""
    look = run.last
    if look is None:
        return {what: Counter() for what in COUNTED}
    kinds: tuple[Iterable[str], ...] = (
        (plan.state for plan in look.plans.values()),
        (action.state for action in look.actions),
        (migration.status for migration in look.migrations),
        (server.vm_state for server in look.servers.values()),
    )
    return {
        what: Counter(kind) for what, kind in zip(COUNTED, kinds, strict=True)
    }


def page(documents: Sequence[Mapping[str, Any]]) -> str:
    """The reports of a night as a page of HTML.

    :param documents: one for each seed
    """
    lines = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        f'<title>A night of chaos</title><style>{STYLE}</style></head><body>',
        '<h1>A night of chaos</h1>',
        *_origins(documents),
        '<table><thead><tr>',
        *(f'<th scope="col">{name}</th>' for name in COLUMNS),
        '</tr></thead><tbody>',
        *(_row(each) for each in documents),
        '</tbody></table>',
    ]
    for each in documents:
        lines += [f'<h2>Seed {each["seed"]}</h2>', *_findings(each)]
    return '\n'.join([*lines, '</body></html>', ''])


def _origins(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    texts = {
        f'{each["commit"]}, {each["machine"]}, {each["ended_at"][:10]}'
        for each in documents
    }
    for text in sorted(texts):
        yield f'<p>{html.escape(text)}</p>'


def _row(each: Mapping[str, Any]) -> str:
    cells = [
        each['seed'],
        each['minutes'],
        f'{each["events"]}, {each["events_not_done"]} not done',
        each['audit_runs'],
        *(
            ', '.join(f'{state} {n}' for state, n in each[what].items())
            for what in COUNTED
        ),
        each['violations'],
        len(each['findings']) - each['violations'],
    ]
    texts = ''.join(f'<td>{html.escape(str(cell))}</td>' for cell in cells)
    return f'<tr>{texts}</tr>'


def _findings(each: Mapping[str, Any]) -> Iterator[str]:
    yield f'<p>The same again: <code>{html.escape(each["again"])}</code></p>'
    if not each['findings']:
        yield '<p>Nothing was found.</p>'
        return
    yield '<ul>'
    for row in each['findings']:
        kind = 'Violation' if row['is_ours'] else 'Not of Kronos'
        text = f'{kind}: {row["judge"]}: {row["what"]} ({row["look_at"]})'
        yield f'<li>{html.escape(text)}</li>'
    yield '</ul>'


def _now() -> str:
    moment = datetime.datetime.now(datetime.UTC)
    return moment.isoformat(timespec='seconds')


def _commit() -> str:
    words = ['git', 'rev-parse', '--short=12', 'HEAD']
    done = subprocess.run(
        words, cwd=layout.ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or 'unknown'


def _machine() -> str:
    gib = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    return f'{os.cpu_count()} processors ({platform.machine()}), {gib:.0f} GiB'
