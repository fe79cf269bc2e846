# SPDX-License-Identifier: Apache-2.0
"""The end of the lab. Standard library only: it works when the virtual
environment does not.
"""

import contextlib
import fcntl
import sys
from collections.abc import Iterator

from labkit import layout, ports, process, services
from labkit.ha import clocks, proxy
from labkit.masakari import services as masakari
from labkit.real import hosts, topology

LEFT_BEHIND = {'computes': 'computes.pipe', proxy.PROXY: proxy.SOCKET}
"""Services that do not remove a file of theirs, to its name."""


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """One command at a time starts or stops the lab of a checkout."""
    layout.make()
    with (layout.LAB / 'lab.lock').open('w') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                'another tools/lab is at work; waiting for it ...',
                file=sys.stderr,
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def down() -> None:
    """Stop all that was started here; data stays."""
    with lock():
        stop_all(set())


def stop_all(keep: set[str]) -> None:
    """Stop what is recorded, in an order in which nothing is missed.

    :param keep: names of services that go on
    """
    records = {
        name: record
        for name, record in process.records().items()
        if name not in keep
    }
    if not keep:
        _stop_real()
        records = process.records()
    pids = [record.pid for record in records.values()]
    for names in services.stop_order():
        process.stop([records.pop(n) for n in names if n in records])
    process.stop(list(records.values()))
    clocks.clean(pids)
    for name, file in LEFT_BEHIND.items():
        if name not in keep:
            (layout.RUN / file).unlink(missing_ok=True)


def _stop_real() -> None:
    """Their guests are no children of ours, and their mounts end last."""
    known = ports.load()
    if known:
        hosts.stop(topology.hosts(known))
    topology.CHOSEN.unlink(missing_ok=True)
    for chosen in (masakari.CHOSEN, topology.MONITORS):
        chosen.unlink(missing_ok=True)
