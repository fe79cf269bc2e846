# SPDX-License-Identifier: Apache-2.0
"""The hosts, aggregates and flavors of the lab's cloud."""

from dataclasses import dataclass

from labkit import layout
from labkit.cells import choice


@dataclass
class HostSize:
    """What a host has, and what runs on it beside the servers."""

    cores: int = 16
    memory_mb: int = 65536
    disk_gb: int = 2000
    base_cores: float = 0.8
    base_memory_mb: int = 3072


HOSTS: dict[str, HostSize] = {}
"""Those that the lab has; see :func:`follow`."""
LARGE = {'cmp4': HostSize(32, 131072, 4000, 1.6, 6144)}
"""Twice the others: a server weighs half as much there."""
AGGREGATES = {
    'alpha': ['cmp1', 'cmp2', 'cmp3', 'cmp4', 'cmp5', 'cmp6'],
    'beta': ['cmp7', 'cmp8'],
}
UNASSIGNED = ['cmp9']


def more_hosts() -> int:
    """How many hosts the only cell has."""
    return int(layout.read_json(layout.HOSTS).get('hosts', choice.MOST))


def choose_hosts(number: int) -> None:
    """Write down how many hosts the only cell has."""
    if number == choice.MOST:
        layout.HOSTS.unlink(missing_ok=True)
    else:
        layout.write_json(layout.HOSTS, {'hosts': number})


def follow(chosen: choice.Choice | None) -> None:
    """Have the hosts of a lab with one cell, or of one with two."""
    number = chosen.hosts if chosen else more_hosts()
    names = [f'cmp{at}' for at in range(1, number + 1)]
    names += choice.OLD_HOSTS if chosen else ()
    HOSTS.clear()
    HOSTS.update({name: LARGE.get(name, HostSize()) for name in names})


follow(choice.read())


@dataclass
class Flavor:
    vcpus: int
    ram: int
    disk: int = 1


FLAVORS = {
    'lab.small': Flavor(1, 2048),
    'lab.medium': Flavor(2, 4096),
    'lab.large': Flavor(4, 8192),
}
IMAGE = 'lab-image'
DEFAULT_CPU_SHARE = 0.5
"""Cores used per vCPU by a server that has no demand set."""
DEFAULT_MEMORY_SHARE = 0.6
"""Memory used per MiB of its flavor by such a server."""
