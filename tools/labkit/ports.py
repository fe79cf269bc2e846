# SPDX-License-Identifier: Apache-2.0
"""The port of each service: chosen once, kept while it is free."""

import socket

from labkit import layout
from labkit.ha import choice

NAMES = (
    'mariadb',
    'rabbitmq',
    'rabbitmq_dist',
    'epmd',
    'keystone',
    'placement',
    'glance',
    'nova_api',
    'neutron',
    'watcher_api',
    'prometheus',
    'exporter',
    'nova_proxy',
    'masakari',
    'horizon',
    *choice.PORTS,
)
FIRST, LAST = 21000, 31000
"""Below the range from which kernels take ports of outgoing calls."""


def load() -> dict[str, int]:
    """The ports as they are written down; {} before the first ``up``."""
    known = layout.read_json(layout.PORTS)
    return {name: int(known[name]) for name in NAMES if name in known}


def choose(running: bool) -> dict[str, int]:
    """Keep the ports written down, choose those missing or taken.

    :param running: the lab runs, so that its ports are taken by itself
    """
    ports = load()
    if running and len(ports) == len(NAMES):
        return ports
    chosen: dict[str, int] = {}
    for name in NAMES:
        port = ports.get(name)
        if port is None or not (running or _free(port)):
            port = _another(set(chosen.values()) | set(ports.values()))
        chosen[name] = port
    if chosen != ports:
        layout.write_json(layout.PORTS, dict(chosen))
    return chosen


def _another(taken: set[int]) -> int:
    # A lab starts to look at a place of its own, so that two of them do not
    # choose the same ports in the same second.
    size = LAST - FIRST
    start = sum(str(layout.LAB).encode()) * 37 % size
    for offset in range(size):
        port = FIRST + (start + offset) % size
        if port not in taken and _free(port):
            return port
    raise OSError(f'no free port between {FIRST} and {LAST}')


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # What SO_REUSEADDR lets pass is only a connection that just ended.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
        except OSError:
            return False
        return True
