# SPDX-License-Identifier: Apache-2.0
"""The probe of Watcher's plugins: which of Kronos' it can load.

A process of its own: Watcher's modules change the one that imports them. It
reads names of entry point groups from its arguments and writes JSON.
"""

import json
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from watcher import objects

DISTRIBUTION = 'kronos-watcher'


def main(groups: Sequence[str]) -> None:
    """Load all plugins of Kronos in some groups."""
    out = os.dup(sys.stdout.fileno())
    # What others print is no part of the answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # As each of Watcher's services does when it starts.
    objects.register_all()
    answer = {
        f'{entry_point.group}:{entry_point.name}': why_not(entry_point)
        for entry_point in metadata.distribution(DISTRIBUTION).entry_points
        if entry_point.group in groups
    }
    with os.fdopen(out, 'w') as stream:
        json.dump(answer, stream)


def why_not(entry_point: metadata.EntryPoint) -> str:
    """Why a plugin cannot be used; empty if it can."""
    rivals = {
        other.dist.name if other.dist else 'another package'
        for other in metadata.entry_points(
            group=entry_point.group, name=entry_point.name
        )
        if other.value != entry_point.value
    }
    if rivals:
        return f'{", ".join(sorted(rivals))} has a plugin of this name, too'
    try:
        entry_point.load()
    # A plugin may fail in any way; Watcher would pass it over.
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return ''


if __name__ == '__main__':
    main(sys.argv[1:])
