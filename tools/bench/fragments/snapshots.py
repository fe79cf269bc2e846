# SPDX-License-Identifier: Apache-2.0
"""The reader of ByteDance's clusters: their JSON, or our CSV of the same.

Their data are those of VMR2L (EuroSys 2025). They are read where they are:
``NAME.json``, or ``NAME-hosts.csv`` with ``NAME-vms.csv`` beside it.
"""

import csv
import dataclasses
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

HOSTS, VMS = '-hosts.csv', '-vms.csv'
NODES = (0, 1)


class FragmentsError(Exception):
    """A file is not there, or not of the format."""


@dataclass
class Machine:
    """A host with two NUMA nodes."""

    rack: str
    is_active: bool
    cpus: tuple[int, ...]
    """By node."""
    memory_mb: tuple[int, ...]
    """By node."""


@dataclass
class Server:
    """A server, which takes as much of each of its nodes."""

    host: str
    nodes: tuple[int, ...]
    cpus: int
    """Of each node."""
    memory_mb: int
    """Of each node."""
    is_movable: bool = True


@dataclass
class Snapshot:
    """A file."""

    name: str
    machines: dict[str, Machine] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)
    apart: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """'host' or 'rack', and the servers of which each has one of its own."""


def paths(path: str) -> list[str]:
    """The clusters of a folder, or the one that is named.

    :raises FragmentsError: there is none
    """
    place = pathlib.Path(path)
    files = [place]
    if place.is_dir():
        files = [*place.glob('*.json'), *place.glob(f'*{HOSTS}')]
    names = sorted(map(str, files))
    if not names or not all(pathlib.Path(name).is_file() for name in names):
        raise FragmentsError(f'{path}: there is no NAME.json, no NAME{HOSTS}')
    return names


def read(path: str) -> Snapshot:
    """Read a cluster.

    :raises FragmentsError: names the file and what is wrong in it
    """
    try:
        if path.endswith('.json'):
            return _of_json(path)
        if path.endswith(HOSTS):
            return _of_csv(path)
    except (OSError, UnicodeDecodeError) as error:
        raise FragmentsError(f'{path}: it cannot be read: {error}') from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise FragmentsError(
            f'{path}: it has another format: {error!r}'
        ) from error
    raise FragmentsError(f'{path}: its name ends neither in .json nor {HOSTS}')


def without_sets(snapshot: Snapshot) -> Snapshot:
    """The same cluster, in which servers may be together."""
    return dataclasses.replace(snapshot, apart=[])


def _of_csv(path: str) -> Snapshot:
    name = pathlib.Path(path).name.removesuffix(HOSTS)
    snapshot = Snapshot(name)
    for row in _rows(path):
        snapshot.machines[row['host']] = Machine(
            row['rack'],
            row['status'] == 'ACTIVE',
            tuple(int(row[f'cpu{node}']) for node in NODES),
            tuple(int(row[f'mem_mb{node}']) for node in NODES),
        )
    for row in _rows(path.removesuffix(HOSTS) + VMS):
        snapshot.servers[row['vm']] = Server(
            row['host'],
            tuple(int(node) for node in row['nodes'].split('+')),
            int(row['cpu_per_node']),
            int(row['mem_mb_per_node']),
        )
    _check(snapshot)
    return snapshot


def _rows(path: str) -> list[dict[str, str]]:
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def _of_json(path: str) -> Snapshot:
    snapshot = Snapshot(pathlib.Path(path).stem)
    with open(path) as stream:
        clusters = json.load(stream)['cluster_list']
    for cluster in clusters:
        for row in cluster['host_info']:
            nodes = sorted(row['numa'], key=lambda node: node['node'])
            snapshot.machines[row['node_id']] = Machine(
                str(row['rack_id']),
                row['status'] == 'ACTIVE',
                tuple(int(node['total_cpu']) for node in nodes),
                tuple(int(node['memory_huge_total_mb']) for node in nodes),
            )
        for row in cluster['vm_instance']:
            nodes = sorted(row['numa'], key=lambda node: node['node'])
            snapshot.servers[row['instance_id']] = Server(
                row['host_id'],
                tuple(node['node'] for node in nodes),
                int(nodes[0]['cpu']),
                int(nodes[0]['mem_mb']),
                bool(row.get('allow_migration', True)),
            )
        snapshot.apart += _apart(cluster.get('other_requirement'))
    _check(snapshot)
    return snapshot


def _apart(requirement: Any) -> list[tuple[str, frozenset[str]]]:
    if not isinstance(requirement, dict):
        return []
    sets = requirement.get('deployment_set') or []
    return [(row['granularity'], frozenset(row['data'])) for row in sets]


def _check(snapshot: Snapshot) -> None:
    """:raises ValueError: what cannot be right"""
    for name, server in snapshot.servers.items():
        if server.host not in snapshot.machines:
            raise ValueError(f'{name} is on {server.host}, which is no host')
        if not server.nodes or {*server.nodes} - {*NODES}:
            raise ValueError(f'{name} is on the nodes {server.nodes}')
