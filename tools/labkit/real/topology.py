# SPDX-License-Identifier: Apache-2.0
"""The real hosts of the lab, and the files of each.

Standard library only.
"""

import pathlib
from dataclasses import dataclass

from labkit import layout

NAMES = ('ra', 'rb', 'rc', 'rd')
AGGREGATE = 'real'
FLAVOR = 'real.128'
MEMORY_MB = 128
FOLDER = layout.DATA / 'real'
INSTANCES = FOLDER / 'instances'
"""Each host sees its own folder here: Nova wants the same path on all."""
PROGRAMS = FOLDER / 'bin'
"""What its nova-compute finds before all others."""
CHOSEN = layout.RUN / 'real.json'
"""{"hosts": how many run}"""
MONITORS = layout.RUN / 'monitors.json'
"""It is there in a lab whose real hosts have instance monitors."""
CORES = 2
"""That a host pretends to have; the machine's own are shared by all."""
HOST_MEMORY_MB = 1024
LIBVIRTD_PORT, EXPORTER_PORT, NODE_PORT = 16509, 9177, 9100
MIGRATION_PORTS = 64


@dataclass(frozen=True)
class RealHost:
    """One of them."""

    name: str
    address: str
    """On loopback; another one in each lab, since libvirt's port is fixed."""
    first_port: int
    """Of those at which its QEMU awaits migrations."""

    @property
    def folder(self) -> pathlib.Path:
        return FOLDER / self.name

    @property
    def holder(self) -> str:
        """The process that keeps its namespaces."""
        return f'real-{self.name}'

    @property
    def libvirtd(self) -> str:
        return f'libvirtd-{self.name}'

    @property
    def compute(self) -> str:
        return f'compute-{self.name}'

    @property
    def monitor(self) -> str:
        """The instance monitor, in a lab that has them."""
        return f'monitor-{self.name}'

    @property
    def exporters(self) -> tuple[str, str]:
        return f'libvirt-exporter-{self.name}', f'node-exporter-{self.name}'


def hosts(ports: dict[str, int], number: int | None = None) -> list[RealHost]:
    """The real hosts of this lab.

    :param number: how many; None: as many as were asked for, 0 if none were
    """
    if number is None:
        number = int(layout.read_json(CHOSEN).get('hosts', 0))
    # No other lab has that port, so none has these addresses.
    high, low = divmod(ports['keystone'], 250)
    return [
        RealHost(
            name,
            f'127.{high + 1}.{low + 1}.{11 + index}',
            49152 + MIGRATION_PORTS * index,
        )
        for index, name in enumerate(NAMES[:number])
    ]
