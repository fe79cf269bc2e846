# SPDX-License-Identifier: Apache-2.0
"""The reboot of simulated hosts, each into a kernel and a hypervisor."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator

from labkit import layout, releases, running, topology
from labkit.lab import Lab
from labkit.releases import Release

AWAY_SECONDS = 5.0
"""More than two scrapes of Prometheus."""


def reboot(
    lab: Lab,
    hosts: Collection[str],
    release: str,
    version: int | None = None,
    seconds: float = AWAY_SECONDS,
) -> None:
    """Take hosts away for some seconds, and bring them back.

    :param release: of the kernel that they boot
    :param version: of their hypervisor then; None: as it was
    :param seconds: how long they are away
    :raises running.LabError: one is no simulated host, or has servers that
        run: they would be off
    """
    _require_empty(lab, hosts)
    with _silent(hosts):
        lab.stop_all(hosts)
        time.sleep(seconds)
        for host in hosts:
            now = releases.of(host).version if version is None else version
            releases.write(host, Release(release, now))
    lab.start_all(hosts)


def _require_empty(lab: Lab, hosts: Collection[str]) -> None:
    if unknown := {*hosts} - topology.HOSTS.keys():
        raise running.LabError(
            f'{min(unknown)} is no simulated host; there are: '
            f'{", ".join(topology.HOSTS)}'
        )
    names = sorted(
        server['name']
        for server in lab.cloud.servers().values()
        if server['OS-EXT-SRV-ATTR:host'] in hosts
        and server['status'] == 'ACTIVE'
    )
    if names:
        raise running.LabError(
            f'{len(names)} servers run on what is to be rebooted, {names[0]} '
            'among them; move them first'
        )


@contextlib.contextmanager
def _silent(hosts: Collection[str]) -> Iterator[None]:
    """Have the exporter give nothing for hosts."""
    _tell(lambda down: down | {*hosts})
    try:
        yield
    finally:
        _tell(lambda down: down - {*hosts})


def _tell(change: Callable[[set[str]], set[str]]) -> None:
    told = layout.read_json(layout.EXPORTER)
    down = sorted(change({*told.get('down', [])}))
    layout.write_json(layout.EXPORTER, {**told, 'down': down})
