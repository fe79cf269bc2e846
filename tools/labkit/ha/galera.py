# SPDX-License-Identifier: Apache-2.0
"""Three MariaDB nodes that are one database, by Galera.

Each has a folder and ports of its own. The first one begins the group; the
others get its data when they join. PyMySQL is imported late: "status" and
"down" do without.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labkit import layout, mariadb, process, services
from labkit.ha import choice, packages

SYNCED = '4'
"""``wsrep_local_state`` of a node that is like the others."""
STATES = ('wsrep_local_state', 'wsrep_cluster_status', 'wsrep_cluster_size')
START_SECONDS = 180.0
"""So long a node may take to get all data on a busy machine."""
CONNECT_SECONDS = 3
_NEW = '--wsrep-new-cluster'
_SAFE = 'safe_to_bootstrap:'
_RECOVERED = re.compile(r'Recovered position: \S+?:(-?\d+)')


@dataclass
class Node(services.Service):
    """One database: whether it begins the group is seen when it starts."""

    def start(self) -> bool:
        record = process.records().get(self.name)
        if record and process.is_running(record):
            return False
        self.command = [word for word in self.command if word != _NEW]
        if not _others_run(self.name):
            _mark_safe(self.name)
            self.command.append(_NEW)
        return super().start()


def table(ports: dict[str, int]) -> dict[str, services.Service]:
    """The nodes, by name."""
    return {name: _node(name, ports) for name in choice.DATABASES}


def start(ports: dict[str, int]) -> None:
    """Start the nodes, first the one with the newest data.

    :raises running.ServiceFailed: one does not come up
    """
    nodes = table(ports)
    known = process.records()
    names = list(choice.DATABASES)
    if not any(n in known and process.is_running(known[n]) for n in names):
        names.sort(key=lambda name: not _is_safe(name))
        if not _is_safe(names[0]):
            names.sort(key=lambda name: -_position(nodes[name]))
    else:
        names.sort(key=lambda n: n not in known)
    for name in names:  # the next one gets its data from one that has it
        nodes[name].start()
        nodes[name].wait()


def folder(name: str) -> pathlib.Path:
    """Where a node has its data."""
    return layout.DATA / name


def wipe() -> None:
    """Remove the data of all nodes."""
    for name in choice.DATABASES:
        for place in (folder(name), layout.DATA / f'{name}-tmp'):
            shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def connection(port: int, database: str | None = None) -> Iterator[Any]:
    """A connection to one node, which may be cut off."""
    import pymysql

    link = pymysql.connect(
        host='127.0.0.1',
        port=port,
        user='root',
        database=database,
        autocommit=True,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=CONNECT_SECONDS,
    )
    with link, link.cursor() as cursor:
        yield cursor


def state(port: int) -> dict[str, str]:
    """How a node sees itself: ``STATES`` to their values.

    :returns: {} if it does not answer
    """
    import pymysql

    try:
        with connection(port) as cursor:
            return read_state(cursor)
    except (OSError, pymysql.Error):
        return {}


def read_state(cursor: Any) -> dict[str, str]:
    """The same, over a connection that is there."""
    cursor.execute("SHOW STATUS LIKE 'wsrep%'")
    rows = {str(key): str(value) for key, value in cursor.fetchall()}
    return {name: rows.get(name, '') for name in STATES}


def is_synced(seen: dict[str, str]) -> bool:
    """Whether a node that says this is to be used."""
    return (
        seen.get('wsrep_local_state') == SYNCED
        and seen.get('wsrep_cluster_status') == 'Primary'
    )


def _node(name: str, ports: dict[str, int]) -> Node:
    return Node(
        name,
        command(name, ports),
        lambda: is_synced(state(ports[name])),
        packages.environ(),
        START_SECONDS,
    )


def command(name: str, ports: dict[str, int]) -> list[str]:
    """The command of a node that joins the others."""
    place = folder(name)
    temporary = layout.DATA / f'{name}-tmp'
    for made in (place, temporary):
        made.mkdir(parents=True, exist_ok=True)
    group = ports[f'{name}_group']
    all_groups = ','.join(
        f'127.0.0.1:{ports[f"{other}_group"]}' for other in choice.DATABASES
    )
    provider = ';'.join(
        [
            'base_host=127.0.0.1',
            f'base_port={group}',
            f'gmcast.listen_addr=tcp://127.0.0.1:{group}',
            f'ist.recv_addr=127.0.0.1:{ports[f"{name}_ist"]}',
            'gcache.size=64M',
        ]
    )
    return [
        *mariadb.command(place, ports[name], temporary),
        '--max-connections=600',
        '--binlog-format=ROW',
        '--default-storage-engine=InnoDB',
        '--innodb-autoinc-lock-mode=2',
        '--wsrep-on=ON',
        f'--wsrep-provider={packages.PROVIDER}',
        '--wsrep-cluster-name=kronos-lab',
        '--wsrep-slave-threads=4',
        f'--wsrep-cluster-address=gcomm://{all_groups}',
        f'--wsrep-node-name={name}',
        f'--wsrep-node-address=127.0.0.1:{group}',
        f'--wsrep-node-incoming-address=127.0.0.1:{ports[name]}',
        '--wsrep-sst-method=rsync',
        f'--wsrep-sst-receive-address=127.0.0.1:{ports[f"{name}_sst"]}',
        f'--wsrep-provider-options={provider}',
    ]


def _others_run(name: str) -> bool:
    known = process.records()
    return any(
        process.is_running(known[other])
        for other in choice.DATABASES
        if other != name and other in known
    )


def _state_file(name: str) -> pathlib.Path:
    return folder(name) / 'grastate.dat'


def _is_safe(name: str) -> bool:
    """Whether a node was the last one to leave the group."""
    file = _state_file(name)
    return file.exists() and f'{_SAFE} 1' in file.read_text()


def _mark_safe(name: str) -> None:
    """Let a node begin the group: no other one runs."""
    file = _state_file(name)
    if file.exists():
        file.write_text(file.read_text().replace(f'{_SAFE} 0', f'{_SAFE} 1'))


def _position(node: services.Service) -> int:
    """How far a node came that was killed; -2: it has no data.

    The node says it in its log, and ends.
    """
    if not (folder(node.name) / 'ibdata1').exists():
        return -2
    ended = subprocess.run(
        [*node.command, '--wsrep-recover'],
        env={**os.environ, **node.environ},
        capture_output=True,
        text=True,
    )
    match = _RECOVERED.search(ended.stdout + ended.stderr)
    return int(match[1]) if match else -1
