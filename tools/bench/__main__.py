# SPDX-License-Identifier: Apache-2.0
"""The command that measures how fast and how good plans are.

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
    disruption,
    holding,
    maintenance,
    memory,
    metered,
    options,
    plans,
    processes,
    roadef,
    services,
    stalls,
    weighing,
)
from bench.calm import experiment, month, planetlab  # noqa: E402
from bench.field import kronos_openstack, watcher_strategies  # noqa: E402
from bench.fragments import figures, snapshots  # noqa: E402
from kronos.common.exceptions import KronosException  # noqa: E402

TEXTS = {
    'plans': plans.text,
    'weighing': weighing.text,
    'holding': holding.text,
    'metrics': metered.text,
    'disruption': disruption.text,
    'maintenance': maintenance.text,
    'memory': memory.text,
    'stalls': stalls.text,
    'watcher': watcher_strategies.text,
    'kronos-openstack': kronos_openstack.text,
    'roadef': challenge.text,
    'fragments': figures.text,
    'calm': month.text,
    'planetlab': experiment.text,
}
"""By the name of a part."""
FAULTS = (
    roadef.RoadefError,
    planetlab.PlanetlabError,
    snapshots.FragmentsError,
    stalls.StallsError,
    kronos_openstack.FieldError,
    KronosException,
)
TARGET_SECONDS = 1.0
TARGET_MIB = 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :returns: 0; 1 if something cannot be measured, or a target is missed and
        that was to be checked
    """
    parsed = options.parse(arguments)
    found: dict[str, Any] = {'python': platform.python_version()}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            for part in parsed.parts:
                found[part] = _measured(part, parsed, folder)
        except FAULTS as error:
            print(f'tools/bench: {error}', file=sys.stderr)
            return 1
        if parsed.json:
            print(json.dumps(found, indent=2))
        else:
            _tell(found)
        met = (
            _is_met(found.get('plans', []))
            and metered.is_met(found.get('metrics', []))
            and disruption.is_met(found.get('disruption', []))
            and maintenance.is_met(found.get('maintenance', []))
            and month.is_met(found.get('calm', []))
            and experiment.is_met(found.get('planetlab', []))
        )
        if parsed.services:
            met = services.report(folder) and met
    return 1 if parsed.check and not met else 0


def _measured(
    part: str, parsed: argparse.Namespace, folder: pathlib.Path
) -> list[dict[str, Any]]:
    """The rows of a part; one of :data:`FAULTS` is raised by what it needs."""
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
        'holding': holding.rows,
        'metrics': lambda: metered.rows(folder),
        'disruption': lambda: disruption.rows(folder),
        'maintenance': maintenance.rows,
        'memory': lambda: memory.rows(folder, parsed.file, parsed.moves),
        'stalls': lambda: stalls.rows(parsed.stalls),
        'watcher': lambda: watcher_strategies.rows(folder),
        'kronos-openstack': lambda: kronos_openstack.rows(
            folder, parsed.python, parsed.recording
        ),
        'roadef': lambda: challenge.rows(parsed.roadef),
        'fragments': lambda: figures.rows(parsed.fragments),
        'calm': lambda: month.rows(parsed.long),
        'planetlab': lambda: experiment.rows(parsed.planetlab),
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


if __name__ == '__main__':
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.exit(main())
