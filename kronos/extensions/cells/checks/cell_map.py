# SPDX-License-Identifier: Apache-2.0
"""The check of the cell map: in which cell is each host?

It is read by the very function that an audit reads it with.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kronos.cmd.checks.cached_clients import OnceNova
from kronos.cmd.checks.findings import Findings
from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.types import ComputeService
from kronos.snapshots import cells

HOW = {
    cells.CellSource.METADATA: 'give one aggregate of each cell the metadata '
    f'{cells.METADATA_KEY}, and have every host of the cell in it',
    cells.CellSource.AZ: 'give each host an availability zone, or set '
    f'cell_source = metadata in [kronos] and the metadata '
    f'{cells.METADATA_KEY} of aggregates',
}
"""What tells the cell of a host."""


def check(
    nova: OnceNova,
    source: cells.CellSource,
    hypervisor_types: Collection[str],
    findings: Findings,
) -> list[dict[str, Any]]:
    """Tell the cell of each host; no API of Nova does.

    :param hypervisor_types: that are planned
    :returns: a row for each host, those that are not in one cell first
    """
    try:
        services = nova.list_compute_services()
        aggregates = nova.list_aggregates()
    except exceptions.ClientError:
        return []  # told with the listing that failed
    cells_of = cells.claims(source, aggregates, services)
    names = _planned(nova, hypervisor_types, services)
    rows = [_row(name, cells_of.get(name, {}), services) for name in names]
    _judge(rows, source, findings)
    return sorted(rows, key=lambda row: (len(row['cells']) == 1, row['cells']))


def _planned(
    nova: OnceNova,
    hypervisor_types: Collection[str],
    services: Collection[str],
) -> list[str]:
    """Names of the hosts that are planned, in their order."""
    try:
        hosts = {
            host.name
            for host in nova.list_compute_hosts()
            if host.hypervisor_type in hypervisor_types
        }
    except exceptions.ClientError:
        # Of a cell that is down; it is told with the listing.
        hosts = {*services}
    return sorted(hosts)


def _row(
    name: str,
    sources: Mapping[str, str],
    services: Mapping[str, ComputeService],
) -> dict[str, Any]:
    service = services.get(name)
    return {
        'host': name,
        'cells': sorted(sources),
        'told_by': [sources[cell] for cell in sorted(sources)],
        'zone': service.zone if service else '',
        'takes_servers': bool(service and service.is_available),
    }


def _judge(
    rows: Sequence[Mapping[str, Any]],
    source: cells.CellSource,
    to: Findings,
) -> None:
    cell_names = sorted({cell for row in rows for cell in row['cells']})
    if not cell_names:
        if rows:
            to.error('cells-none', 'no host has a cell', HOW[source])
        return
    if len(cell_names) == 1:
        to.error(
            'cells-none',
            f'all hosts that have a cell are in {cell_names[0]}: there is no '
            'other cell to which its servers could move',
            f'{HOW[source]}, in each of them',
        )
    several = [row for row in rows if len(row['cells']) > 1]
    if several:
        names = [
            f'{row["host"]}: {" and ".join(row["cells"])}' for row in several
        ]
        to.error(
            'cells-several',
            f'{wording.counted(len(several), "host")} in more than one cell '
            f'({wording.some(names)}): an audit that empties one of these '
            'cells fails',
            'take each host out of the aggregates of all cells but its own',
        )
    missing = [row['host'] for row in rows if not row['cells']]
    if missing:
        to.warning(
            'cells-missing',
            f'{wording.counted(len(missing), "host")} in no known cell '
            f'({wording.some(missing)}): Kronos uses no host whose cell is '
            'not known while other hosts have a cell',
            HOW[source],
        )
