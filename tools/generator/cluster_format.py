# SPDX-License-Identifier: Apache-2.0
"""A writer of a made-up cloud in format ``cluster/1``."""

import gzip
import json
import pathlib
from typing import Any

from generator import cloud
from generator.cloud import Cloud
from generator.wanted import Wanted, WantedError
from kronos.recordings.formats import cluster

DIGITS = 9


def check(wanted: Wanted) -> None:
    """:raises WantedError: the format cannot hold such a cloud"""
    for is_wrong, what in (
        (wanted.mode != 'spread', 'another mode than spread'),
        (wanted.aggregates > 1, 'more than one aggregate'),
        (wanted.classes > 1, 'hosts of several sizes'),
    ):
        if is_wrong:
            raise WantedError(f'the format {cluster.FORMAT} knows no {what}')


def document(found: Cloud) -> dict[str, Any]:
    """As :mod:`kronos.recordings.formats.cluster` reads it."""
    scores = found.scores()
    return {
        'format': cluster.FORMAT,
        'description': f'tools/generate {found.wanted.command()}',
        'policies': [
            {
                'name': kind,
                'mode': 'spread',
                'weight': cloud.WEIGHTS[kind],
                'threshold': cloud.THRESHOLD,
            }
            for kind in cloud.KINDS
        ],
        'hosts': [
            {
                'name': host.name,
                'scores': {
                    kind: round(scores[kind][host.name], DIGITS)
                    for kind in cloud.KINDS
                },
                'available': host.is_up and host.is_enabled,
                'memory_mb': host.memory_mb,
                'vcpus': host.vcpus,
            }
            for host in found.hosts
        ],
        'instances': _instances(found),
        'groups': [
            {
                'name': group.name,
                'policy': group.policy,
                'members': [member.name for member in group.members],
            }
            for group in found.groups
        ],
    }


def _instances(found: Cloud) -> list[dict[str, Any]]:
    rows = []
    for server in found.servers:
        if server.host is None:
            continue
        capacity = server.host.capacity
        rows.append(
            {
                'name': server.name,
                'host': server.host.name,
                'shares': {
                    kind: round(server.usage[kind] / capacity[kind], DIGITS)
                    for kind in cloud.KINDS
                },
                'memory_mb': server.memory_mb,
                'vcpus': server.vcpus,
                'movable': not server.frozen,
            }
        )
    return rows


def write(path: str, found: Cloud) -> None:
    """Write a new file, gzipped if its name says so.

    :raises OSError: it is there already, or cannot be written
    """
    data = (json.dumps(document(found)) + '\n').encode()
    if path.endswith('.gz'):
        # Without the time, so that it is the same tomorrow.
        data = gzip.compress(data, mtime=0)
    with pathlib.Path(path).open('xb') as file:
        file.write(data)
