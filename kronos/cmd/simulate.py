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
from kronos.cmd.config_files import Options
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
    if fault := fetching.misuse(parsed, words) or _misuse(parsed):
        parser.error(fault)
    if parsed.fetch is not None:
        with progress.shown(PROGRAM, parsed.debug):
            fetching.run(parsed, _report)
        return 0
    if parsed.path is None:
        parser.error(
            'name the directory of a load, before any --set; --fetch TIME '
            '--out DIR writes one'
        )
    return _simulate(parsed)


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Simulate days of audits on the load of a cloud, offline: '
        'the moves of each plan are made, and the next one starts from there. '
        'Or fetch such a load, with --fetch.',
        epilog='Exit status: 0 simulated or fetched, 1 not, 2 wrong usage, '
        '130 interrupted.',
    )
    parser.usage = (
        '%(prog)s LOAD [options]\n'
        '       %(prog)s LOAD --advise [options]\n'
        '       %(prog)s --fetch TIME --out DIR [options]'
    )
    parser.add_argument(
        'path',
        metavar='LOAD',
        nargs='?',
        help='the directory of a load, as --fetch writes it',
    )
    program.add_format(parser)
    parser.add_argument(
        '--html',
        metavar='FILE',
        help='also write a page that shows each column over time; a FILE '
        'that is there is replaced (default: no page)',
    )
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='plan by these policies, or fetch what they ask for; - is '
        'standard input (default: those of the load; of a fetch, those of '
        'the configuration)',
    )
    _add_columns(parser)
    _add_settings(parser)
    fetching.add_arguments(parser)
    return parser


def _misuse(parsed: argparse.Namespace) -> str:
    """What is wrong between the other options; '': nothing."""
    others = ('set', 'compare', 'html')
    options = [f'--{name}' for name in others if getattr(parsed, name)]
    if parsed.advise and options:
        unfit = ' and '.join(options)
        return f'--advise has columns of its own; leave out {unfit}'
    if len(set(parsed.compare)) < len(parsed.compare):
        return '--compare: a file is there twice'
    return ''


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
        type=_override,
        help='add a column with other settings: a field of a policy '
        '(threshold.cpu=0.3), an option of [kronos] (cooldown=900), '
        'max_migrations, or a setting below without its dashes '
        '(window.cpu=avg:3600, host_window.cpu=servers, interval=600, '
        'boots=kronos, failures=0.02); may be repeated, each a column',
    )
    group.add_argument(
        '--compare',
        metavar='FILE',
        action='append',
        default=[],
        help='add a column with these policies; may be repeated',
    )
    group.add_argument(
        '--strategy',
        metavar='NAME',
        action='append',
        default=[],
        help='plan by this strategy (spread, pack, evacuate, affinity), or by '
        'several side by side (spread,pack); the first applies to all '
        'columns, repeat it to add a column for each other one (default: as '
        'recorded)',
    )
    group.add_argument(
        '--advise',
        action='store_true',
        help='instead of these columns, try windows, thresholds, budgets and '
        'cooldowns, and print which of them suit this load',
    )
    group.add_argument(
        '--jobs',
        metavar='N',
        type=_jobs,
        default=None,
        help='simulate N columns at a time (default: as many as there are '
        'processors)',
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        'settings', 'They apply to all columns; --set changes them for one.'
    )
    _add_windows(group)
    _add_world(group)


def _add_windows(group: Options) -> None:
    group.add_argument(
        '--window',
        metavar='POLICY=WINDOW',
        action='append',
        default=[],
        type=what_if.override,
        help="what a policy's queries make of the load: now, avg:SECONDS, "
        'max:SECONDS, quantile:Q:SECONDS, predict:SECONDS:AHEAD, such as '
        'cpu=avg:3600; may be repeated (default: as its queries say)',
    )
    group.add_argument(
        '--host-window',
        metavar='POLICY=WINDOW',
        action='append',
        default=[],
        type=what_if.override,
        help='the same for its hosts alone; or servers: a host shows the sum '
        'of the servers that are on it, as a recording rule may (default: '
        'that of --window, else as its queries say)',
    )


def _add_world(group: Options) -> None:
    """Add what happens beside the plans."""
    group.add_argument(
        '--interval',
        metavar='SECONDS',
        help='time from audit to audit (default: 300)',
    )
    group.add_argument(
        '--boots',
        choices=sorted(variants.BOOTS),
        help='where new servers go: where they went (recorded), where '
        "Nova's weighers put them (nova), or where these and the weigher of "
        'Kronos put them (kronos) (default: recorded)',
    )
    group.add_argument(
        '--failures',
        metavar='RATIO',
        help='share of the moves that fail, from 0 to 1 (default: 0)',
    )
    group.add_argument(
        '--seed',
        metavar='N',
        type=_whole,
        default=0,
        help='a number that decides which moves fail (default: 0)',
    )
    group.add_argument(
        '--watts',
        metavar='W,W,...',
        type=_watts,
        help='power of a host in watts, at equal steps from idle to full CPU, '
        'for kWh; a host without servers is off (default: no kWh)',
    )


def _override(text: str) -> tuple[str, str]:
    if '=' not in text:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not of the form NAME=VALUE; name LOAD before --set'
        )
    return what_if.override(text)


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
    if parsed.html:
        program.require_writable(parsed.html)
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
