# SPDX-License-Identifier: Apache-2.0
"""Computes as forks of one process. See computes.py."""

from labkit import layout, process, running, services


def start(ports: dict[str, int], hosts: list[str]) -> list[str]:
    """Start computes unless they run; the names of those started."""
    _start_parent(ports)
    wanted = []
    for host in hosts:
        record = process.records().get(f'compute-{host}')
        if record and process.is_running(record):
            continue
        (layout.RUN / f'compute-{host}.pid').unlink(missing_ok=True)
        wanted.append(host)
    with (layout.RUN / 'computes.pipe').open('w') as pipe:
        pipe.writelines(f'{host}\n' for host in wanted)
    names = [f'compute-{host}' for host in wanted]
    for name in names:
        _wait_for_record(name)
    return names


def clear_pipe() -> None:
    """Remove what a parent left that was killed: it says "ready"."""
    record = process.records().get('computes')
    if record is None or not process.is_running(record):
        (layout.RUN / 'computes.pipe').unlink(missing_ok=True)


def _start_parent(ports: dict[str, int]) -> None:
    service = services.table(ports)['computes']
    clear_pipe()
    service.start()
    service.wait()


def _wait_for_record(name: str) -> None:
    running.wait_for(
        lambda: name in process.records(), 30, f'the start of {name}'
    )
