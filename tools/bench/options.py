# SPDX-License-Identifier: Apache-2.0
"""The command line of ``tools/bench``."""

import argparse
from collections.abc import Sequence
from typing import Any

from bench import clusters, plans, stalls
from bench.field import kronos_openstack

SIZES = (12, 100, 1000)
LARGEST = 5000
USUAL = ('plans', 'weighing')
FIELD = ('watcher', 'kronos-openstack')
CALM = ('calm', 'planetlab')
PUBLIC = ('roadef', 'fragments')
PARTS = (
    *USUAL,
    'holding',
    'metrics',
    'disruption',
    'maintenance',
    'memory',
    'stalls',
    *FIELD,
    *PUBLIC,
    *CALM,
)
EPILOG = f"""\
Sizes up to {SIZES[-1]:,} hosts take a few minutes, {LARGEST:,} some more.
Seconds are those of the processor, so others may use the machine.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is to be measured; the program ends where that makes no sense."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    if parsed.quick:
        parsed.sizes = (clusters.SMALL,)
    if parsed.parts is None:
        parsed.parts = _parts(parsed)
    if 'roadef' in parsed.parts and not parsed.roadef:
        parser.error('--parts roadef: its data are not here, give --roadef')
    if 'fragments' in parsed.parts and not parsed.fragments:
        parser.error(
            '--parts fragments: give --fragments, a cluster or folder'
        )
    if 'planetlab' in parsed.parts and not parsed.planetlab:
        parser.error('--parts planetlab: give --planetlab, a folder of days')
    if parsed.stalls < 1:
        parser.error('--stalls: one of each kind is the least')
    if parsed.json and parsed.services:
        parser.error('--services has no figures as JSON')
    return parsed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='tools/bench',
        description='Measure plans of made-up clusters, every one in a '
        'process of its own, and a weighing by Nova.',
        epilog=EPILOG,
    )
    parser.add_argument(
        'file', nargs='?', default='', help='a cluster/1 file to plan as well'
    )
    _add_chosen(parser)
    parser.add_argument(
        '--json', action='store_true', help='print all figures as JSON'
    )
    parser.add_argument(
        '--quick',
        action='store_true',
        help='the smallest size, once, and no weighing',
    )
    parser.add_argument(
        '--services',
        action='store_true',
        help='measure as well how a plan is carried out, what a recording '
        'and questions about it take, and the instance monitor',
    )
    _add_others(parser)
    parser.add_argument(
        '--check', action='store_true', help='exit 1 if a target is missed'
    )
    return parser


def _parts(parsed: argparse.Namespace) -> list[str]:
    """What is measured where that is not said."""
    if parsed.calm or parsed.planetlab:
        return [part for part in CALM if getattr(parsed, part)]
    found = [*USUAL[:1]] if parsed.quick else [*USUAL]
    found += FIELD if parsed.field else ()
    return found + [part for part in PUBLIC if getattr(parsed, part)]


def _add_chosen(parser: argparse.ArgumentParser) -> None:
    for name, kind, known, default in (
        ('sizes', int, None, SIZES),
        ('modes', str, tuple(plans.MODES), tuple(plans.MODES)),
        ('searches', str, plans.SEARCHES, plans.SEARCHES),
    ):
        parser.add_argument(
            f'--{name}',
            type=_listed(kind, known),
            default=default,
            metavar='A,B',
            help=f'default: {",".join(map(str, default))}',
        )
    parser.add_argument(
        '--moves',
        type=int,
        default=0,
        metavar='N',
        help='the budget of spread; repair has one more for each broken group '
        f'(default: {plans.MOVES}, and {plans.FEW_MOVES} for up to '
        f'{clusters.SMALL} hosts)',
    )


def _add_others(parser: argparse.ArgumentParser) -> None:
    rival = f'{kronos_openstack.NAME} {kronos_openstack.VERSION}'
    parser.add_argument(
        '--parts',
        type=_listed(str, PARTS),
        metavar='A,B',
        help=f'these alone, of {",".join(PARTS)}; default: '
        f'{",".join(USUAL)}, and what the next options add',
    )
    parser.add_argument(
        '--stalls',
        type=int,
        default=stalls.EACH,
        metavar='N',
        help='with --parts stalls: scopes of each kind (default: %(default)s)',
    )
    parser.add_argument(
        '--field',
        action='store_true',
        help="compare with Watcher's own strategies and with "
        f'{rival}, which is installed in a virtual environment of its own',
    )
    parser.add_argument(
        '--python',
        default=kronos_openstack.PYTHON,
        metavar='PROGRAM',
        help=f'for {rival} (default: %(default)s)',
    )
    parser.add_argument(
        '--recording',
        action='append',
        default=[],
        metavar='DIRECTORY',
        help=f'a recording in the layout of {rival} to compare on, beside '
        'those of its generator; more than once for several',
    )
    parser.add_argument(
        '--roadef',
        default='',
        metavar='PATH',
        help='a model of the ROADEF/EURO challenge 2012, or a folder of '
        'them, with the assignments beside them',
    )
    parser.add_argument(
        '--fragments',
        default='',
        metavar='PATH',
        help="a cluster of ByteDance's VMR2L (NAME.json or NAME-hosts.csv) "
        'or a folder of them: slots for large servers, each plan carried out',
    )
    _add_calm(parser)


def _add_calm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--calm',
        action='store_true',
        help='days of a made-up cloud in the closed loop, alone: what audits '
        'move, and what for',
    )
    parser.add_argument(
        '--long',
        action='store_true',
        help='with --calm: a month of a larger cloud, which takes some hours',
    )
    parser.add_argument(
        '--planetlab',
        default='',
        metavar='PATH',
        help='the same, or beside it, on a day of PlanetLab, or a folder of '
        'days: the public experiment on consolidation, by the rules of '
        'CloudSim',
    )


def _listed(kind: type, known: Sequence[str] | None) -> Any:
    """What reads values with commas in between."""

    def read(text: str) -> list[Any]:
        try:
            found = [kind(one) for one in text.split(',')]
        except ValueError:
            raise argparse.ArgumentTypeError(
                f'{text!r} are no numbers with commas in between'
            ) from None
        for one in found:
            if known is not None and one not in known:
                raise argparse.ArgumentTypeError(
                    f'{one!r} is none of {", ".join(known)}'
                )
            if known is None and one < 2:
                raise argparse.ArgumentTypeError('2 hosts are the least')
        return found

    return read
