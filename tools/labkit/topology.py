# SPDX-License-Identifier: Apache-2.0
"""Which hosts, aggregates and flavors has the lab's cloud?"""

from dataclasses import dataclass


@dataclass
class HostSize:
    """What a host has, and what runs on it beside the servers."""

    cores: int = 16
    memory_mb: int = 65536
    disk_gb: int = 2000
    base_cores: float = 0.8
    base_memory_mb: int = 3072


HOSTS = {f'cmp{number}': HostSize() for number in range(1, 10)}
# Twice the others: a server weighs half as much there.
HOSTS['cmp4'] = HostSize(32, 131072, 4000, 1.6, 6144)
AGGREGATES = {
    'alpha': ['cmp1', 'cmp2', 'cmp3', 'cmp4', 'cmp5', 'cmp6'],
    'beta': ['cmp7', 'cmp8'],
}
UNASSIGNED = ['cmp9']


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
