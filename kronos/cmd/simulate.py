# SPDX-License-Identifier: Apache-2.0
"""The command kronos-simulate: what days of plans do to a recorded load.

Exit status: 0 when all columns were simulated; 1 when the load, a policies
file or a setting cannot be used, or the output cannot be written; 2 when the
arguments are wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kronos.cmd import program, tables, terminal, what_if
from kronos.cmd.loads import fetching
from kronos.cmd.loads import tables as loads_tables
from kronos.cmd.screen import progress
from kronos.common import shell_commands
from kronos.simulate import load as loads
from kronos.simulate import runs, variants
from kronos.simulate.accounting import Floats, Watts
from kronos.simulate.columns import Column, Result
from kronos.simulate.load import Load
from kronos.simulate.outcome import advice, results
from kronos.simulate.outcome.advice import Advice
from kronos.simulate.variants import Request

PROGRAM = 'kronos-simulate'
MOST_JOBS = 1024


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = argument_parser()
    parsed = parser.parse_args(arguments)
    words = sys.argv[1:] if arguments is None else arguments
    parsed.command = shell_commands.joined([parser.prog, *words])
    if fault := fetching.misuse(parsed):
        parser.error(fault)
    if parsed.fetch is not None:
        with progress.shown(PROGRAM, parsed.debug):
            fetching.run(parsed, _report)
        return 0
    if parsed.path is None:
        parser.error('name the directory of a load')
    return _simulate(parsed)


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Simulate days of audits on the load of a cloud, offline: '
        'the moves of each plan are made, and the next one starts from there. '
        'Or fetch such a load, with --fetch.',
        epilog='Exit status: 0 simulated or fetched, 1 not, 2 wrong usage.',
    )
    parser.add_argument(
        'path',
        metavar='LOAD',
        nargs='?',
        help='the directory of a load',
    )
    _add_columns(parser)
    _add_settings(parser)
    _add_world(parser)
    _add_rest(parser)
    fetching.add_arguments(parser)
    program.add_format(parser)
    parser.add_argument(
        '--advise',
        action='store_true',
        help='try windows, thresholds, budgets and cooldowns, and say which '
        'of them this load asks for; other columns are not simulated',
    )
    parser.add_argument(
        '--html',
        metavar='FILE',
        help='write a page with each column over time, too; it takes the '
        'place of FILE',
    )
    return parser


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        'columns',
        'Beside those asked for there are always four: as it was, nothing '
        'moved, a plain rule, and the policies and options of the load.',
    )
    group.add_argument(
        '--set',
        metavar='NAME=VALUE',
        nargs='+',
        action='append',
        default=[],
        type=what_if.override,
        help='a column in which this is otherwise: a field of a policy '
        '(threshold.cpu=0.3), an option of [kronos] (cooldown=900), '
        'max_migrations, or one of the settings below without its dashes '
        '(window.cpu=avg:3600, interval=600, boots=kronos, failures=0.02); '
        'may be repeated, each a column',
    )
    group.add_argument(
        '--compare',
        metavar='FILE',
        action='append',
        default=[],
        help='a column with these policies; may be repeated',
    )
    group.add_argument(
        '--strategy',
        metavar='NAME',
        action='append',
        default=[],
        help='plan by this strategy (spread, pack, evacuate, affinity), or by '
        'several side by side with commas between; the first holds for all '
        'columns, each further one is a column (default: as recorded)',
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='plan by these policies instead of those of the load; - is '
        'standard input',
    )
    parser.add_argument(
        '--window',
        metavar='POLICY=WINDOW',
        action='append',
        default=[],
        type=what_if.override,
        help="what a policy's queries make of the load: now, avg:SECONDS, "
        'max:SECONDS, quantile:Q:SECONDS, predict:SECONDS:AHEAD (default: as '
        'its PromQL says); may be repeated',
    )
    parser.add_argument(
        '--host-window',
        metavar='POLICY=WINDOW',
        action='append',
        default=[],
        type=what_if.override,
        help='the same of its hosts alone; servers: a host shows what the '
        'servers show that are on it now, as a recording rule may',
    )


def _add_world(parser: argparse.ArgumentParser) -> None:
    """Add what happens beside the plans."""
    parser.add_argument(
        '--interval',
        metavar='SECONDS',
        help='seconds from audit to audit (default: 300)',
    )
    parser.add_argument(
        '--boots',
        choices=sorted(variants.BOOTS),
        help="where new servers go: where they went, where Nova's weighers "
        'put them, or these with the weigher of Kronos (default: recorded)',
    )
    parser.add_argument(
        '--failures',
        metavar='RATIO',
        help='of the moves that fail (default: 0)',
    )


def _add_rest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--seed',
        metavar='N',
        type=_whole,
        default=0,
        help='decides which moves fail (default: 0)',
    )
    parser.add_argument(
        '--watts',
        metavar='W,W,...',
        type=_watts,
        help='power of a host at equal steps from idle to full, for kWh; a '
        'host without servers is off',
    )
    parser.add_argument(
        '--jobs',
        metavar='N',
        type=_jobs,
        default=None,
        help='columns that are simulated at a time (default: as many as '
        'there are processors)',
    )


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number')
    return int(text)


def _jobs(text: str) -> int:
    number = _whole(text)
    if not 1 <= number <= MOST_JOBS:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not within 1 and {MOST_JOBS}'
        )
    return number


def _watts(text: str) -> list[float]:
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) < 2 or not all(0 <= value < 1e6 for value in values):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a list of at least two numbers of watts'
        )
    return values


def power(values: Sequence[float]) -> Watts:
    """The power of hosts by the ratio of their CPU in use."""
    grid = np.linspace(0.0, 1.0, len(values))

    def watts(used: Floats) -> Floats:
        return np.interp(used, grid, values)

    return watts


def _simulate(parsed: argparse.Namespace) -> int:
    load = loads.read(parsed.path)
    request = _request(parsed)
    if parsed.advise:
        return _advise(parsed, load, request)
    columns = variants.columns(load, request)
    outcome = _run(parsed, load, columns)
    document = _document(parsed, load)
    fills = columns[variants.BASE].fills
    document['sentence'] = results.sentence(outcome, fills)
    document['columns'] = results.document(outcome)
    if parsed.html:
        _write_page(parsed.html, document, outcome)
    width = program.width(parsed)
    _show(
        parsed,
        document,
        lambda: loads_tables.table(document, outcome, width),
        lambda: loads_tables.rows(outcome),
    )
    return 0


def _run(
    parsed: argparse.Namespace, load: Load, columns: Sequence[Column]
) -> list[Result]:
    jobs = parsed.jobs or runs.processors()
    watts = power(parsed.watts) if parsed.watts else None
    # Processes are forked before the progress line has its thread.
    with (
        runs.Runs(load, columns, jobs, watts) as all_runs,
        progress.shown(PROGRAM),
    ):
        return all_runs.results(_tell)


def _advise(parsed: argparse.Namespace, load: Load, request: Request) -> int:
    """Try windows, then all else with the best of them."""
    fills = advice.fills_hosts(load, request)
    trials = advice.windows(load, request)
    outcome = _run(parsed, load, [trial.column for trial in trials])
    answers = advice.judged(trials, outcome, fills)
    best = next(answer for answer in answers if answer.is_best)
    trials = advice.others(load, request, best)
    outcome = _run(parsed, load, [trial.column for trial in trials])
    answers += advice.judged(trials, outcome, fills)
    document = _document(parsed, load)
    document['advice'] = advice.document(Advice(answers), fills)
    width = program.width(parsed)
    _show(
        parsed,
        document,
        lambda: loads_tables.advice_table(document, width),
        lambda: loads_tables.advice_rows(document['advice']),
    )
    return 0


def _show(
    parsed: argparse.Namespace,
    document: dict[str, Any],
    table: Callable[[], str],
    rows: Callable[[], Sequence[tables.Row]],
) -> None:
    """Print it in the format that was asked for."""
    if parsed.format in tables.WHOLE:
        terminal.show(tables.whole(document, parsed.format))
    elif parsed.format == 'table':
        terminal.show(table())
    else:
        terminal.show(tables.printed(rows(), parsed.format))


def _write_page(
    path: str, document: dict[str, Any], outcome: Sequence[Result]
) -> None:
    # Nobody else needs its template engine.
    from kronos.simulate.outcome import page

    title = f'Kronos: {document["load"]["days"]:.1f} simulated days'
    program.write(path, page.render(document, outcome, title))


def _report(text: str) -> None:
    terminal.complain(PROGRAM, text)


def _tell(ticks: int, total: int) -> None:
    progress.step(f'simulating, {100 * ticks // max(total, 1)} %')


def _request(parsed: argparse.Namespace) -> Request:
    base = [(f'window.{name}', text) for name, text in parsed.window]
    base += [
        (f'host_window.{name}', text) for name, text in parsed.host_window
    ]
    base += [
        (name, text)
        for name in ('interval', 'boots', 'failures')
        if (text := getattr(parsed, name)) is not None
    ]
    return Request(
        what_if.policies_of(parsed.policies) if parsed.policies else None,
        {path: what_if.policies_of(path) for path in parsed.compare},
        parsed.strategy,
        base,
        parsed.set,
        parsed.seed,
    )


def _document(parsed: argparse.Namespace, load: Load) -> dict[str, Any]:
    """What is known of the load, for programs."""
    return {
        'format_version': 1,
        'command': parsed.command,
        'load': {
            'path': parsed.path,
            'start': load.meta.start,
            'days': load.days,
            'step': load.meta.step,
            'hosts': len(load.meta.hosts),
            'servers': len(load.meta.instances),
            'limits': load.meta.limits,
        },
    }


if __name__ == '__main__':
    sys.exit(main())
