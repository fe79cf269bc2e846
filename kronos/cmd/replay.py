# SPDX-License-Identifier: Apache-2.0
"""The command kronos-replay: it plans a recording, and changes nothing.

Exit status: 0 when all was planned, whatever the outcome; 1 when a recording,
a policies file or an override cannot be used, when no policy could be, when a
proof does not hold, or when the output cannot be written; 2 when the arguments
are wrong.
"""

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from kronos.cmd import (
    program,
    tables,
    terminal,
    what_if,
)
from kronos.cmd.replays import proofs, replay_tables, slots
from kronos.cmd.replays import summary as replay_summary
from kronos.cmd.screen import progress
from kronos.common import plain_text, timing
from kronos.common.exceptions import KronosException
from kronos.engine.planning import propose
from kronos.engine.types import AggregateResult, StopReason
from kronos.recordings import examples, load
from kronos.recordings.replay import Replay
from kronos.reports import document as report_document

PROGRAM = 'kronos-replay'


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = argument_parser()
    words = sys.argv[1:] if arguments is None else arguments
    parsed = program.parsed(parser, words)
    paths = load.found_in(parsed.path)
    many = len(paths) > 1 or parsed.compare is not None
    if many and parsed.html:
        parser.error('--html requires exactly one recording, and no --compare')
    if [
        *parsed.path,
        parsed.policies,
        parsed.compare,
        parsed.check_proof,
    ].count('-') > 1:
        parser.error('- can be used only once')
    if misuse := slots.misuse(parsed, len(paths)):
        parser.error(misuse)
    if misuse := proofs.misuse(parsed, len(paths)):
        parser.error(misuse)
    with progress.shown(PROGRAM):
        if parsed.slots:
            return _show_slots(paths[0], parsed)
        if parsed.check_proof is not None:
            return _check_proof(paths[0], parsed)
        return _many(paths, parsed) if many else _play(paths[0], parsed)


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Plan the migrations of recorded clouds, offline.',
        epilog='Exit status: 0 planned, whatever the outcome, 1 not planned, '
        '2 wrong usage.',
    )
    parser.add_argument(
        'path',
        metavar='PATH',
        nargs='+',
        help='a recording, a directory of recordings, or a file of format '
        'cluster/1, optionally gzipped; for several recordings, one '
        'line each and a summary are printed; examples/NAME is an '
        'example included in Kronos, and - is standard input',
    )
    parser.add_argument(
        '--list-examples',
        action=_ListExamples,
        nargs=0,
        help='list the examples included in Kronos, and exit',
    )
    what_if.add(parser)
    parser.add_argument(
        '--compare',
        metavar='FILE',
        help='also plan with these policies, and show both results side by '
        'side; - is standard input',
    )
    _add_outputs(parser)
    return parser


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    slots.add(parser)
    proofs.add(parser)
    program.add_format(parser)
    parser.add_argument(
        '--html',
        metavar='FILE',
        help='also write the report as an HTML page; an existing FILE is '
        'replaced',
    )
    parser.add_argument(
        '--time', action='store_true', help='show how long each part took'
    )


class _ListExamples(argparse.Action):
    """Shows the examples, whatever else is wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        shown = examples.listed()
        rows = [(f'{examples.PREFIX}/{name}', shown[name]) for name in shown]
        terminal.show('\n'.join(tables.aligned(rows)))
        parser.exit()


def _show_slots(path: str, parsed: argparse.Namespace) -> int:
    options = what_if.of(parsed, parsed.policies)
    table = slots.of(what_if.read(path, options), options, parsed.flavor)
    terminal.show(table.printed(parsed.format, program.width(parsed)))
    return 0


def _check_proof(path: str, parsed: argparse.Namespace) -> int:
    options = what_if.of(parsed, parsed.policies)
    recording = what_if.read(path, options)
    checked = proofs.check(recording, options, parsed.check_proof)
    terminal.show(checked.printed(parsed.format, program.width(parsed)))
    return 0 if checked.holds else 1


def _play(path: str, parsed: argparse.Namespace) -> int:
    plan = what_if.played(path, what_if.of(parsed, parsed.policies))
    progress.step('computing the proven limit of the plan')
    with timing.timed(plan.timings, 'certify'):
        propose.certify(plan.report)
    began = time.monotonic()
    report = {'command': parsed.command, **document(plan)}
    if parsed.html:
        _write_page(parsed.html, plan, report)
    plan.timings['report'] = round(time.monotonic() - began, 6)
    terminal.show(_text(plan, report, parsed))
    if any(scope.policies_used for scope in plan.report.scopes):
        return 0
    if cause := what_if.cause(plan):
        terminal.complain(PROGRAM, f'{path}: {cause}')
        return 1
    for scope in plan.report.scopes:
        text = f'scope {scope.name}: {scope.reason}'
        terminal.complain(PROGRAM, f'{path}: {text}')
    return 1


def _text(
    plan: Replay, report: dict[str, Any], parsed: argparse.Namespace
) -> str:
    if parsed.format in tables.WHOLE:
        if parsed.time:
            report['timings'] = plan.timings
        return tables.whole(report, parsed.format)
    if parsed.format != 'table':
        return tables.printed(replay_tables.rows(plan.report), parsed.format)
    width = program.width(parsed)
    cause = what_if.cause(plan)
    scopes = plan.report.scopes
    if cause:
        scopes = [_without_effects(scope) for scope in scopes]
    parts = [replay_tables.table(scope, width) for scope in scopes]
    if cause:
        is_used = any(scope.policies_used for scope in scopes)
        level = 'Warning' if is_used else 'Error'
        line = f'{level}: {cause}{_counted(plan)}.'
        parts.insert(0, plain_text.line(line))
    if parsed.time:
        parts.append(_seconds_table(plan.timings))
    return '\n\n'.join(parts)


def _counted(plan: Replay) -> str:
    """How many policies are not used, in scopes, for that cause."""
    number = sum(len(scope.policies_skipped) for scope in plan.report.scopes)
    return f' (and {number} more of the same cause)' if number else ''


def _without_effects(scope: AggregateResult) -> AggregateResult:
    """A scope without what follows from hosts that have no value."""
    prefixes = tuple(f'policy {name}: ' for name in scope.policies_skipped)
    reason = scope.reason
    if scope.stopped is StopReason.NO_POLICY:
        reason = 'no policy can be used, for the reason above'
    return dataclasses.replace(
        scope,
        policies=[
            dataclasses.replace(policy, skipped='')
            for policy in scope.policies
        ],
        reason=reason,
        warnings=[
            text
            for text in scope.warnings
            if not (prefixes and text.startswith(prefixes))
        ],
    )


def _many(paths: Sequence[str], parsed: argparse.Namespace) -> int:
    variants = [what_if.of(parsed, parsed.policies)]
    names = [parsed.policies or 'as recorded']
    if parsed.compare is not None:
        variants.append(what_if.of(parsed, parsed.compare))
        names.append(parsed.compare)
    columns = [replay_summary.PlanSeries(name) for name in names]
    timings: dict[str, float] = {}
    failed: dict[str, str] = {}
    for number, path in enumerate(paths, start=1):
        progress.count(number, len(paths))
        try:
            plans = [what_if.played(path, options) for options in variants]
        except KronosException as error:
            # The others are planned all the same.
            failed[path] = str(error)
            continue
        for plan, column in zip(plans, columns, strict=True):
            column.add(plan)
            for part, seconds in plan.timings.items():
                timings[part] = timings.get(part, 0.0) + seconds
    for path, text in failed.items():
        terminal.complain(PROGRAM, text if path in text else f'{path}: {text}')
    if len(failed) == len(paths):
        return 1
    _show_many(columns, failed, timings, parsed)
    doubts = [text for column in columns for text in column.doubts()]
    for text in doubts:
        terminal.complain(PROGRAM, f'warning: {text}')
    is_blind = any(not column.is_judged for column in columns)
    return 1 if failed or is_blind else 0


def _show_many(
    columns: Sequence[replay_summary.PlanSeries],
    failed: dict[str, str],
    timings: dict[str, float],
    parsed: argparse.Namespace,
) -> None:
    for column in columns:
        column.sort()
    if parsed.format in tables.WHOLE:
        report = replay_summary.document(columns)
        report['failed'] = [
            {'path': path, 'reason': text} for path, text in failed.items()
        ]
        if parsed.time:
            report['timings'] = timings
        text = tables.whole(report, parsed.format)
    elif parsed.format != 'table':
        text = tables.printed(replay_summary.rows(columns), parsed.format)
    else:
        text = replay_summary.table(columns, program.width(parsed))
        if parsed.time:
            text = f'{text}\n\n{_seconds_table(timings)}'
    terminal.show(text)


def document(plan: Replay) -> dict[str, Any]:
    """The report for programs.

    ``floor`` is the bound of the certificate; null where there is none.
    """
    result = report_document.document(
        plan.report,
        {
            'recording': {
                **what_if.about(plan.recording),
                'anonymized': plan.recording.anonymized,
            },
            'versions': {program.PACKAGE: program.version()},
            'overrides': dict(plan.options.overrides),
            'settings': report_document.settings(plan.settings),
            'parents': plan.parents,
            'order': plan.order,
        },
    )
    for scope, row in zip(plan.report.scopes, result['scopes'], strict=True):
        row['floor'] = None
        row |= {
            'policies_used': scope.policies_used,
            'policies_skipped': scope.policies_skipped,
        }
        if scope.certificate is not None:
            row['floor'] = scope.certificate.bound
    return result


def _write_page(path: str, plan: Replay, report: dict[str, Any]) -> None:
    # Nobody else needs its template engine.
    from kronos.reports.html import page

    name = os.path.basename(os.path.abspath(plan.recording.source))
    program.write(path, page.render(report, f'Kronos: {name}'))


def _seconds_table(timings: dict[str, float]) -> str:
    rows = [(f'{part} (s)', f'{timings[part]:.3f}') for part in timings]
    rows.append(('in all (s)', f'{sum(timings.values()):.3f}'))
    return '\n'.join(tables.aligned(rows))


if __name__ == '__main__':
    sys.exit(main())
