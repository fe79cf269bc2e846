# SPDX-License-Identifier: Apache-2.0
"""The arguments of kronos-simulate, but for those of a fetch."""

import argparse
from collections.abc import Sequence

from kronos.cmd import program, what_if
from kronos.cmd.config_files import Options
from kronos.cmd.loads import fetching
from kronos.simulate import variants

MOST_JOBS = 1024


def parser_of(program_name: str) -> argparse.ArgumentParser:
    parser = program.parser(
        program_name,
        description='Simulate days of audits on the load of a cloud, '
        'offline: Kronos applies the moves of each plan, and the '
        'next plan starts from there. Or fetch such a load, with '
        '--fetch.',
        epilog='Exit status: 0 simulated or fetched, 1 failed, 2 wrong '
        'usage, 130 interrupted.',
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
        help='the directory of a load that --fetch has written',
    )
    program.add_format(parser)
    parser.add_argument(
        '--html',
        metavar='FILE',
        help='also write an HTML page that shows each column over time; an '
        'existing FILE is replaced (default: no page)',
    )
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='plan with these policies, or fetch the data for their queries; '
        '- is standard input (default: the policies in the load; with '
        '--fetch, the policies in the configuration)',
    )
    _add_columns(parser)
    _add_settings(parser)
    fetching.add_arguments(parser)
    return parser


def misuse(parsed: argparse.Namespace, words: Sequence[str]) -> str:
    """What is wrong between the options; '': nothing.

    :param words: those that were parsed
    """
    if fault := fetching.misuse(parsed, words):
        return fault
    others = ('set', 'compare', 'html')
    options = [f'--{name}' for name in others if getattr(parsed, name)]
    if parsed.advise and options:
        unfit = ' and '.join(options)
        return f'--advise has its own columns; remove {unfit}'
    if len(set(parsed.compare)) < len(parsed.compare):
        return '--compare: the same file is given twice'
    return ''


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        'columns',
        'Four columns are always shown: the recorded course, no moves, a '
        'plain rule, and the policies and options of the load.',
    )
    group.add_argument(
        '--set',
        metavar='NAME=VALUE',
        nargs='+',
        action='append',
        default=[],
        type=_override,
        help='add a column with another setting; may be repeated, with one '
        'column each. A setting is a field of a policy '
        '(threshold.cpu=0.3), an option of [kronos] (cooldown=900), '
        'max_migrations, or one of the settings below without dashes '
        '(window.cpu=avg:3600, host_window.cpu=servers, interval=600, '
        'boots=kronos, failures=0.02)',
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
        help='plan with this strategy (spread, pack, evacuate, affinity), or '
        'with several side by side (spread,pack); the first applies to '
        'all columns, repeat the option to add a column for each other '
        'one (default: as recorded)',
    )
    _add_work(group)


def _add_work(group: Options) -> None:
    """Add what is done instead of the columns, and how fast."""
    group.add_argument(
        '--advise',
        action='store_true',
        help='instead of these columns, try windows, thresholds, budgets and '
        'cooldowns, and print which of them fit this load',
    )
    group.add_argument(
        '--jobs',
        metavar='N',
        type=_jobs,
        default=None,
        help='simulate N columns at a time (default: one for each processor)',
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
        help="value that a policy's queries return for the load: now, "
        'avg:SECONDS, max:SECONDS, quantile:Q:SECONDS, '
        'predict:SECONDS:AHEAD, such as cpu=avg:3600; may be repeated '
        '(default: as in its queries)',
    )
    group.add_argument(
        '--host-window',
        metavar='POLICY=WINDOW',
        action='append',
        default=[],
        type=what_if.override,
        help='the same for its hosts only; or servers: a host shows the sum '
        'of the servers that are on it, as a recording rule may '
        '(default: the value of --window, else as in its queries)',
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
        help='placement of new servers: on their recorded hosts (recorded), '
        "by Nova's weighers (nova), or by these and the weigher of "
        'Kronos (kronos) (default: recorded)',
    )
    group.add_argument(
        '--failures',
        metavar='RATIO',
        help='share of moves that fail, from 0 to 1 (default: 0)',
    )
    group.add_argument(
        '--seed',
        metavar='N',
        type=_whole,
        default=0,
        help='random seed that selects the moves that fail (default: 0)',
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
