# SPDX-License-Identifier: Apache-2.0
"""The made-up clusters that are planned on, and their files."""

import pathlib
from typing import Any

from generator import cluster_format, making
from generator.wanted import PER_HOST, Wanted

from bench import processes

SMALL = 12
"""Hosts; up to so many have few instances, so that a solver can take them."""
FEW = 6
SEED = 1


def wanted(hosts: int, broken: int = 0, variant: str = 'metric') -> Wanted:
    """The cluster of a size, always the same.

    :param broken: server groups whose rule is broken
    """
    each = FEW if hosts <= SMALL else PER_HOST
    return Wanted(
        hosts=hosts,
        instances=each * hosts,
        seed=SEED,
        variant=variant,
        broken=broken,
    )


def file(folder: pathlib.Path, **options: Any) -> str:
    """Where a cluster lies; it is made in a process of its own.

    :param options: those of :func:`wanted`
    """
    name = '-'.join(map(str, options.values()))
    path = folder / f'{name}.json'
    if not path.exists():
        processes.run('bench.clusters', path=str(path), options=options)
    return str(path)


if __name__ == '__main__':
    found = processes.wanted()
    cluster_format.write(
        found['path'], making.make(wanted(**found['options']))
    )
    processes.answer(found['path'])
