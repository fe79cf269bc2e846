# SPDX-License-Identifier: Apache-2.0
"""Faults of a node that a signal cannot make, and their end."""

from labkit import process, running
from labkit.ha import brokers, choice, galera, packages

_ISOLATE = "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=%d'"
_DESYNC = 'SET GLOBAL wsrep_desync = %s'
REJOIN_SECONDS = 120
_NO_ROOM = 'inject=fallocate:error=ENOSPC'


def isolate(name: str, ports: dict[str, int]) -> None:
    """Cut a node off from the others; clients still reach it."""
    if name in choice.BROKERS:
        brokers.isolate(name, ports)
        return
    _set(name, ports, _ISOLATE % 1)


def desync(name: str, ports: dict[str, int]) -> None:
    """Have a database node lag as one does that gives another its data."""
    if name not in choice.DATABASES:
        raise running.LabError(f'only a database is desynced, not {name}')
    _set(name, ports, _DESYNC % 'ON')


def fill(name: str, ports: dict[str, int]) -> None:
    """Have a node see a full disk.

    A database can enlarge none of its files; a broker raises its alarm, in
    which all nodes take no more messages.
    """
    if name in choice.BROKERS:
        brokers.fill(name, ports)
        return
    strace = [str(packages.STRACE), '-f', '-qq', '-o', '/dev/null']
    seen = ['-e', 'trace=fallocate', '-e', _NO_ROOM]
    pid = str(process.records()[name].pid)
    process.spawn(_full(name), [*strace, *seen, '-p', pid], packages.environ())


def _full(name: str) -> str:
    """The process that has a database see a full disk."""
    return f'{name}-full'


def end(name: str, ports: dict[str, int]) -> None:
    """End what :func:`isolate`, :func:`desync` and :func:`fill` began.

    :raises running.LabError: the node is not like the others again
    """
    if name in choice.BROKERS:
        brokers.rejoin(name, ports)
        return
    known = process.records()
    if _full(name) in known:
        process.stop([known[_full(name)]])
    _set(name, ports, _ISOLATE % 0)
    _set(name, ports, _DESYNC % 'OFF')
    running.wait_for(
        lambda: galera.is_synced(galera.state(ports[name])),
        REJOIN_SECONDS,
        f'{name} to be like the others',
    )


def _set(name: str, ports: dict[str, int], statement: str) -> None:
    with galera.connection(ports[name]) as cursor:
        cursor.execute(statement)
