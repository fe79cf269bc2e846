# SPDX-License-Identifier: Apache-2.0
"""The command line of ``tools/generate``."""

import argparse
import dataclasses
import itertools
import os
import sys
from collections.abc import Sequence

from generator import (
    cluster_format,
    load_format,
    making,
    months,
    recording_format,
)
from generator.cloud import Cloud
from generator.months import Month
from generator.wanted import Wanted, WantedError
from kronos.common.exceptions import KronosException
from kronos.engine.settings import PlanMode
from kronos.simulate import load

BEGIN = 1772442000.0
"""Of the first recording: 2 March 2026, a Monday, 9:00 UTC."""
DAY = 86400.0
HELP = {
    'hosts': 'hosts in all',
    'instances': 'instances in all (default: 20 for each host with some)',
    'seed': 'the same options and seed make the same bytes',
    'aggregates': 'host aggregates, each a scope; all hosts are in one',
    'classes': 'sizes of hosts, 1 to 3',
    'empty': 'new hosts without an instance, of --hosts',
    'hot': 'pairs of hosts that are hot in opposite policies',
    'down': 'hosts whose nova-compute is down',
    'disabled': 'hosts whose nova-compute is disabled',
    'broken': 'server groups whose rule is broken',
    'grouped': 'ratio of the instances that are in a server group',
    'frozen': 'ratio of the instances that cannot be moved',
}
EPILOG = """\
A day of a cloud with 1,000 hosts, and what Kronos makes of it:
  ./tools/generate big --hosts 1000
  kronos-replay big --time

A week of a small one, planned by two policies files:
  ./tools/generate week --days 7
  kronos-replay week --compare other.yaml

A month of load, in which servers come and go, to simulate audits on:
  ./tools/generate month --format load --days 30
  kronos-simulate month
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :returns: 0; 1 if it cannot be written; 2 if there is no such cloud
    """
    parser = _parser()
    parsed = parser.parse_args(arguments)
    names = [field.name for field in dataclasses.fields(Wanted)]
    wanted = Wanted(**{name: getattr(parsed, name) for name in names})
    try:
        if parsed.format == 'load':
            _write_load(parsed)
        elif parsed.format == 'recording':
            _write_days(parsed.path, wanted, parsed.days)
        elif parsed.days > 1:
            raise WantedError('--days is for the formats recording and load')
        else:
            cluster_format.check(wanted)
            result = making.make(wanted)
            cluster_format.write(parsed.path, result)
            print(_told(parsed.path, result))
    except WantedError as error:
        parser.error(str(error))
    except KronosException as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f'{parsed.path}: {error.strerror}')
    return 0


def _failed(text: str) -> int:
    print(f'tools/generate: {text}', file=sys.stderr)
    return 1


def _write_days(path: str, wanted: Wanted, days: int) -> None:
    if days == 1:
        found = making.make(wanted)
        recording_format.write(path, found, BEGIN)
        print(_told(path, found))
        return
    os.mkdir(path)
    series = itertools.islice(making.days(wanted), days)
    for number, found in enumerate(series):
        name = f'day-{number + 1:0{len(str(days))}}'
        where = os.path.join(path, name)
        recording_format.write(where, found, BEGIN + number * DAY)
        print(_told(where, found))


def _write_load(parsed: argparse.Namespace) -> None:
    month = Month(
        parsed.days, parsed.hosts, parsed.boots, parsed.load, parsed.seed
    )
    made_by = f'tools/generate {month.command()}'
    days = load_format.load(months.make(month), PlanMode(parsed.mode), made_by)
    load.write(parsed.path, days)
    print(
        f'{parsed.path}: {days.days:g} days, {parsed.hosts} hosts, '
        f'{len(days.meta.instances)} instances'
    )


def _told(path: str, found: Cloud) -> str:
    return (
        f'{path}: {len(found.hosts)} hosts, {len(found.servers)} instances, '
        f'{len(found.groups)} server groups'
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='tools/generate',
        description='Make up a cloud to plan on, as a recording. Nothing in '
        'it is of a real cloud.',
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        'path', metavar='PATH', help='a new directory, or a new file'
    )
    parser.add_argument(
        '--format',
        choices=['recording', 'cluster/1', 'load'],
        default='recording',
        help='cluster/1 is one file, gzipped if PATH ends in .gz; load is '
        'what kronos-simulate reads, and takes --days, --hosts, --seed, '
        '--boots, --load and the modes spread and pack',
    )
    parser.add_argument(
        '--boots',
        type=float,
        default=0.0,
        metavar='N',
        help='of a load: instances that are booted a day, most of them for '
        f'minutes (default: {months.BOOTS:g} for each host)',
    )
    parser.add_argument(
        '--load',
        type=months.Kind,
        choices=list(months.Kind),
        default=months.Kind.NOISY,
        help='of a load: noisy, whose five minutes say little of the next, '
        'or slow, with a wave a day (default: noisy)',
    )
    parser.add_argument(
        '--days',
        type=_positive,
        default=1,
        metavar='N',
        help='a recording a day, in PATH/day-1 and so on: loads change, '
        'instances come and go (default: 1, which is PATH itself); or all '
        'days of one load',
    )
    parser.add_argument(
        '--variant',
        choices=['metric', 'flavor'],
        default='metric',
        help='what instances weigh is measured, or goes by their flavors in '
        'steps, which makes many moves equally good',
    )
    parser.add_argument(
        '--mode',
        choices=[mode.value for mode in PlanMode],
        default='spread',
        help='the strategy that it was recorded for; with cell_drain half of '
        'the hosts are in the cell "old", which is emptied into the cell '
        '"new"',
    )
    for name, text in HELP.items():
        default = Wanted.__dataclass_fields__[name].default
        parser.add_argument(
            f'--{name}',
            type=type(default),
            default=default,
            metavar='N',
            help=text + ('' if default == 0 else f' (default: {default})'),
        )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
