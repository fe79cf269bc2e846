# SPDX-License-Identifier: Apache-2.0
"""Commands to a real guest: work, slow down, die."""

import os
import signal
from typing import TYPE_CHECKING, Any

from labkit import running
from labkit.real import guests, hosts
from labkit.real.topology import RealHost

if TYPE_CHECKING:
    from labkit.lab import Lab

UNLIMITED_MIB = 8796093022207
"""libvirt's own word for it."""


def place(lab: 'Lab', name: str) -> tuple[RealHost, str]:
    """The real host of a server, and libvirt's name of its guest.

    :raises running.LabError: there is no such server on a real host
    """
    server = _server(lab, name)
    host = server['OS-EXT-SRV-ATTR:host']
    real = lab.real_hosts()
    if host not in real:
        raise running.LabError(
            f'server {name} is on {host or "no host"}, which is no real host'
        )
    return real[host], str(server['OS-EXT-SRV-ATTR:instance_name'])


def _server(lab: 'Lab', name: str) -> dict[str, Any]:
    for server in lab.cloud.servers().values():
        if server['name'] == name:
            return server
    raise running.LabError(f'there is no server {name}')


def console(lab: 'Lab', name: str) -> guests.Console:
    """The console of a server's guest."""
    host, domain = place(lab, name)
    return guests.Console(hosts.virsh(host, 'ttyconsole', domain))


def order(lab: 'Lab', name: str, text: str) -> str:
    """Tell a guest what to do; what it says of it.

    :raises running.LabError: it says nothing
    """
    one = console(lab, name)
    try:
        said = one.ask(text)
    finally:
        one.close()
    if not said:
        raise running.LabError(f'the guest of {name} says nothing to that')
    return said


def limit(lab: 'Lab', name: str, mib: int) -> None:
    """Let a guest migrate from where it is with so many MiB per second."""
    host, domain = place(lab, name)
    hosts.virsh(host, 'migrate-setspeed', domain, str(mib or UNLIMITED_MIB))


def kill(lab: 'Lab', name: str, server: str) -> None:
    """End the QEMU of a server on a host, as a crash would.

    :param name: of the host: a server that migrates has one on both
    """
    os.kill(_emulator(lab, name, server), signal.SIGKILL)


def pause(lab: 'Lab', name: str, server: str) -> None:
    """Have the QEMU of a server on a host do nothing, until it may go on."""
    os.kill(_emulator(lab, name, server), signal.SIGSTOP)


def resume(lab: 'Lab', name: str, server: str) -> None:
    """Have it go on."""
    os.kill(_emulator(lab, name, server), signal.SIGCONT)


def _emulator(lab: 'Lab', name: str, server: str) -> int:
    real = lab.real_hosts()
    if name not in real:
        raise running.LabError(f'{name} is no real host')
    domain = _server(lab, server)['OS-EXT-SRV-ATTR:instance_name']
    pid = hosts.guests(real[name]).get(domain)
    if pid is None:
        raise running.LabError(f'{server} has no QEMU on {name}')
    return pid
