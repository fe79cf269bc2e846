# SPDX-License-Identifier: Apache-2.0
"""All parts but planning: actions, recordings, answers, the monitor."""

import pathlib

from bench import (
    clusters,
    grouping,
    makespan,
    monitoring,
    offline,
    recording,
)

LARGE = 1000


def report(folder: pathlib.Path) -> bool:
    """Print what each takes; whether all targets are met.

    :param folder: where made-up clusters may lie
    """
    grouping.report(clusters.file(folder, hosts=LARGE))
    makespan.report(lambda hosts: clusters.file(folder, hosts=hosts))
    is_fast = recording.report()
    is_prompt = offline.report()
    is_whole = monitoring.report()
    met = is_fast and is_prompt and is_whole
    print(
        f'target: a recording in {recording.TARGET_SECONDS:g} s, its page '
        f'and an answer in {offline.TARGET_SECONDS:g} s, '
        f'{monitoring.RATE:,} events/s without loss in '
        f'{monitoring.TARGET_MIB} MiB: {"met" if met else "missed"}'
    )
    return met
