# SPDX-License-Identifier: Apache-2.0
"""What would Kronos do with this recording? Offline, and changing nothing.

Exit status: 0 when all was planned, whatever the outcome; 1 when a recording,
a policies file or an override cannot be used, or the output cannot be
written; 2 when the arguments are wrong.
"""

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from typing import Any

from kronos.cmd import replay_series as series
from kronos.cmd import replay_tables as tables
from kronos.cmd import terminal, wishes
from kronos.common.exceptions import ArchiveError, KronosException
from kronos.engine import explain, report
from kronos.policies.models import Mode
from kronos.snapshots import archive, examples, wholefile
from kronos.snapshots.replaying import Replay

PACKAGE = 'kronos-watcher'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = _parser()
    parsed = parser.parse_args(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    parsed.command = shlex.join([parser.prog, *given])
    try:
        paths = archive.found_in(parsed.path)
        many = len(paths) > 1 or parsed.compare is not None
        if many and parsed.html:
            parser.error('--html takes one recording, and no --compare')
        text = _many(paths, parsed) if many else _one(paths[0], parsed)
    except KronosException as error:
        print(f'kronos-replay: {terminal.plain(str(error))}', file=sys.stderr)
        return 1
    terminal.show(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='kronos-replay',
        description='Plan the migrations of recorded clouds, offline.',
    )
    parser.add_argument(
        'path',
        metavar='PATH',
        nargs='+',
        help='a recording, a directory of recordings, or a file of format '
        'cluster/1, maybe gzipped; of several there is one line each, and a '
        'summary; examples/NAME is one that comes with Kronos',
    )
    parser.add_argument(
        '--list-examples',
        action=_ListExamples,
        nargs=0,
        help='show what comes with Kronos to try it on, and exit',
    )
    wishes.add(parser)
    parser.add_argument(
        '--compare',
        metavar='FILE',
        help='plan by these policies too, and show both side by side',
    )
    parser.add_argument('--format', choices=['table', 'json'], default='table')
    parser.add_argument(
        '--html',
        metavar='FILE',
        help='write the report as a page, too; it takes the place of FILE',
    )
    parser.add_argument(
        '--time', action='store_true', help='tell how long each part took'
    )
    return parser


class _ListExamples(argparse.Action):
    """Shows the examples, whatever else is wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        found = examples.listed()
        rows = [(f'{examples.PREFIX}/{name}', found[name]) for name in found]
        terminal.show('\n'.join(tables.aligned(rows)))
        parser.exit()


def _one(path: str, parsed: argparse.Namespace) -> str:
    plan = wishes.played(path, wishes.of(parsed, parsed.policies))
    began = time.monotonic()
    found = {'command': parsed.command, **document(plan)}
    if parsed.html:
        _write_page(parsed.html, plan, found)
    plan.timings['report'] = round(time.monotonic() - began, 6)
    if parsed.format == 'json':
        if parsed.time:
            found['timings'] = plan.timings
        return json.dumps(found, indent=2, allow_nan=False)
    limit = budget(plan)
    parts = [tables.table(one, limit) for one in plan.report.scopes]
    if parsed.time:
        parts.append(_told(plan.timings))
    return '\n\n'.join(parts)


def _many(paths: Sequence[str], parsed: argparse.Namespace) -> str:
    wanted = [wishes.of(parsed, parsed.policies)]
    if parsed.compare is not None:
        wanted.append(wishes.of(parsed, parsed.compare))
    timings: dict[str, float] = {}
    columns = [series.Series() for _ in wanted]
    for path in paths:
        for wish, column in zip(wanted, columns, strict=True):
            plan = wishes.played(path, wish)
            column.add(plan)
            for part, seconds in plan.timings.items():
                timings[part] = timings.get(part, 0.0) + seconds
    for column in columns:
        column.sort()
    if parsed.format == 'json':
        found = series.document(columns)
        if parsed.time:
            found['timings'] = timings
        return json.dumps(found, indent=2, allow_nan=False)
    names = [parsed.policies or 'as recorded', parsed.compare or '']
    text = series.table(columns, names[: len(columns)])
    return f'{text}\n\n{_told(timings)}' if parsed.time else text


def budget(plan: Replay) -> int | None:
    """The migrations that spreading may plan; None if it does not spread."""
    spreads = plan.policies[0].mode is Mode.SPREAD
    if not plan.settings.rebalance or not spreads:
        return None
    return plan.budget


def document(plan: Replay) -> dict[str, Any]:
    """The report for programs.

    ``floor`` is what no plan of so many migrations as are allowed can get
    the combined imbalance below; null where that is not sought.
    """
    recording = plan.recording
    moment = datetime.datetime.fromtimestamp(
        recording.recorded_at, datetime.UTC
    )
    found = report.document(
        plan.report,
        {
            'recording': {
                'path': recording.source,
                'recorded_at': moment.isoformat(),
                'made_by': recording.made_by,
                'strategy': recording.strategy,
                'anonymized': recording.anonymized,
            },
            'versions': {PACKAGE: _version()},
            'overrides': dict(plan.wish.overrides),
            'settings': dataclasses.asdict(plan.settings),
            'parents': plan.parents,
        },
    )
    limit = budget(plan)
    for scope, row in zip(plan.report.scopes, found['scopes'], strict=True):
        row['floor'] = None
        if limit is not None:
            row['floor'] = explain.floor(scope.policies, limit)
    return found


def _write_page(path: str, plan: Replay, found: dict[str, Any]) -> None:
    # Nobody else needs its template engine.
    from kronos.pages import page

    name = os.path.basename(os.path.abspath(plan.recording.source))
    html = page.render(found, f'Kronos: {name}')
    try:
        wholefile.write(path, html)
    except OSError as error:
        raise ArchiveError(
            path=path, reason=f'it cannot be written: {error.strerror}'
        ) from error


def _version() -> str:
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return 'unknown'


def _told(timings: dict[str, float]) -> str:
    rows = [(f'{part} (s)', f'{timings[part]:.3f}') for part in timings]
    rows.append(('in all (s)', f'{sum(timings.values()):.3f}'))
    return '\n'.join(tables.aligned(rows))


if __name__ == '__main__':
    sys.exit(main())
