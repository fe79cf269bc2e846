# SPDX-License-Identifier: Apache-2.0
"""The shell by which Nova copies a disk to another real host.

It calls ssh and scp. No host of the lab has a server for them, so they are
programs of the same names, which enter the other host's namespaces. Standard
library only.
"""

import os
import pathlib
import subprocess
import sys
from typing import IO

from labkit import layout
from labkit.ports import load as ports
from labkit.real import hosts, topology
from labkit.real.topology import RealHost

SCRIPT = """\
#!/bin/sh
export KRONOS_LAB={lab} PYTHONPATH={kit}
exec {python} -m labkit.real.remote {name} "$@"
"""


def write() -> None:
    """Write the programs that nova-compute finds first."""
    topology.PROGRAMS.mkdir(exist_ok=True)
    for name in ('ssh', 'scp'):
        file = topology.PROGRAMS / name
        file.write_text(
            SCRIPT.format(
                lab=layout.NAME,
                kit=layout.KIT.parent,
                python=layout.program('python'),
                name=name,
            )
        )
        file.chmod(0o755)


def main(words: list[str]) -> int:
    """Do what Nova asks: ``ssh -o X HOST WORDS``, ``scp -r FILE HOST:FILE``.

    :returns: the exit status of what was done
    """
    name, *rest = words
    if name == 'ssh':
        at = rest.index('-o') + 2 if '-o' in rest else 0
        return _run(_host(rest[at]), ' '.join(rest[at + 1 :]))
    source, destination = (one for one in rest if not one.startswith('-'))
    host, _, path = destination.partition(':')
    with pathlib.Path(source).open('rb') as file:
        size = os.fstat(file.fileno()).st_size
        # Few of a disk's blocks were ever written.
        copy = f'dd of={path} bs=64k conv=sparse status=none'
        return _run(_host(host), f'{copy} && truncate -s {size} {path}', file)


def _host(name: str) -> RealHost:
    """By its name or address."""
    for host in topology.hosts(ports()):
        if name in (host.name, host.address):
            return host
    raise SystemExit(f'{name} is no real host of this lab')


def _run(host: RealHost, command: str, data: IO[bytes] | None = None) -> int:
    words = hosts.inside(host, '/bin/sh', '-c', command)
    return subprocess.run(words, stdin=data).returncode


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
