# SPDX-License-Identifier: Apache-2.0
"""How fast and how good are plans and a weighing, and against what?

Run it as ``python tools/bench``, in the Python that Kronos is installed in.
Ratios of one run compare across machines; seconds and the peak memory say
what this machine does.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

TOP = pathlib.Path(__file__).resolve().parents[2]
if not __package__:
    # The folder of this file is first, and its modules would have none.
    sys.path[:1] = [str(TOP), str(TOP / 'tools')]

from bench import (  # noqa: E402
    challenge,
    clusters,
    plans,
    processes,
    roadef,
    services,
    weighing,
)
from bench.field import kronos_openstack, watcher_strategies  # noqa: E402

SIZES = (12, 100, 1000)
LARGEST = 5000
USUAL = ('plans', 'weighing')
TEXTS = {
    'plans': plans.text,
    'weighing': weighing.text,
    'watcher': watcher_strategies.text,
    'kronos-openstack': kronos_openstack.text,
    'roadef': challenge.text,
}
"""By the name of a part."""
TARGET_SECONDS = 1.0
TARGET_MIB = 1024
EPILOG = f"""\
Sizes up to {SIZES[-1]:,} hosts take a few minutes, {LARGEST:,} some more.
Seconds are those of the processor, so others may use the machine.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :returns: 0; 1 if something cannot be measured, or a target is missed and
        that was to be checked
    """
    parsed = _arguments(arguments)
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found: dict[str, Any] = {'python': platform.python_version()}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            for part in parsed.parts:
                found[part] = _measured(part, parsed, folder)
        except (roadef.RoadefError, kronos_openstack.FieldError) as error:
            print(f'tools/bench: {error}', file=sys.stderr)
            return 1
        if parsed.json:
            print(json.dumps(found, indent=2))
        else:
            _tell(found)
        met = _is_met(found.get('plans', []))
        if parsed.services:
            met = services.report(folder) and met
    return 1 if parsed.check and not met else 0


def _measured(
    part: str, parsed: argparse.Namespace, folder: pathlib.Path
) -> list[dict[str, Any]]:
    """The rows of a part.

    :raises RoadefError: as :func:`.challenge.rows`
    :raises FieldError: as :func:`.kronos_openstack.rows`
    """
    work: dict[str, Callable[[], list[dict[str, Any]]]] = {
        'plans': lambda: plans.rows(
            folder,
            parsed.sizes,
            parsed.modes,
            parsed.searches,
            parsed.file,
            parsed.moves,
            1 if parsed.quick else plans.case.REPEATS,
        ),
        'weighing': lambda: processes.run('bench.weighing'),
        'watcher': lambda: watcher_strategies.rows(folder),
        'kronos-openstack': lambda: kronos_openstack.rows(
            folder, parsed.python, parsed.recording
        ),
        'roadef': lambda: challenge.rows(parsed.roadef),
    }
    return work[part]()


def _tell(found: dict[str, Any]) -> None:
    for name, text in TEXTS.items():
        if name in found:
            print(f'{name}\n\n{text(found[name])}\n')


def _is_met(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the greedy search plans in time."""
    return all(
        row['seconds'] <= TARGET_SECONDS and row['peak_mib'] <= TARGET_MIB
        for row in rows
        if (row['mode'], row['by']) == ('spread', 'greedy')
        and row['hosts'] <= plans.REFERENCE
    )


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='tools/bench',
        description='Measure plans of made-up clusters, every one in a '
        'process of its own, and a weighing by Nova.',
        epilog=EPILOG,
    )
    parser.add_argument(
        'file', nargs='?', default='', help='a cluster/1 file to plan as well'
    )
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
    parsed = parser.parse_args(arguments)
    if parsed.quick:
        parsed.sizes = (clusters.SMALL,)
    if parsed.parts is None:
        parsed.parts = _parts(parsed)
    if 'roadef' in parsed.parts and not parsed.roadef:
        parser.error('--parts roadef: its data are not here, give --roadef')
    if parsed.json and parsed.services:
        parser.error('--services has no figures as JSON')
    return parsed


def _parts(parsed: argparse.Namespace) -> list[str]:
    """What is measured where that is not said."""
    found = [*USUAL[:1]] if parsed.quick else [*USUAL]
    found += ['watcher', 'kronos-openstack'] if parsed.field else []
    return found + (['roadef'] if parsed.roadef else [])


def _add_others(parser: argparse.ArgumentParser) -> None:
    rival = f'{kronos_openstack.NAME} {kronos_openstack.VERSION}'
    parser.add_argument(
        '--parts',
        type=_listed(str, tuple(TEXTS)),
        metavar='A,B',
        help=f'these alone, of {",".join(TEXTS)}; default: '
        f'{",".join(USUAL)}, and what the next options add',
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


if __name__ == '__main__':
    sys.exit(main())
