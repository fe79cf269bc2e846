# SPDX-License-Identifier: Apache-2.0
"""The cells of hosts, by what the operator told.

No public API of Nova tells it, and no live migration crosses cells.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.rows import HostAggregate
from kronos.engine import wording
from kronos.engine.types import ComputeService, Host

METADATA_KEY = 'kronos:cell'


class CellSource(StrEnum):
    """Where the cells are told (``[kronos] cell_source``)."""

    METADATA = 'metadata'
    """The metadata ``kronos:cell`` of aggregates."""
    AZ = 'az'
    """Every availability zone is a cell of its own."""


def claims(
    source: CellSource,
    aggregates: Iterable[HostAggregate],
    services: Mapping[str, ComputeService] | None,
) -> dict[str, dict[str, str]]:
    """By host, by name of a cell, who says that the host is in it.

    :param services: by host; None if os-services failed
    """
    sources: dict[str, dict[str, str]] = {}
    if source is CellSource.AZ:
        for name, service in (services or {}).items():
            if service.zone:
                sources[name] = {service.zone: 'os-services'}
        return sources
    for aggregate in sorted(aggregates, key=lambda aggregate: aggregate.name):
        cell = aggregate.metadata.get(METADATA_KEY, '').strip()
        for name in aggregate.hosts if cell else ():
            cells = sources.setdefault(name, {})
            cells.setdefault(cell, f'aggregate {aggregate.name}')
    return sources


def by_host(nova: NovaClient, source: CellSource) -> dict[str, str]:
    """The cell by host, asked now; who is in none or in several is not there.

    :raises NovaClientError: Nova cannot be asked
    """
    by_zone = source is CellSource.AZ
    sources = claims(
        source,
        [] if by_zone else nova.list_aggregates(),
        nova.list_compute_services() if by_zone else None,
    )
    return {
        host: next(iter(names))
        for host, names in sources.items()
        if len(names) == 1
    }


def fill_in(
    source: CellSource,
    hosts: Iterable[Host],
    cells: Mapping[str, Mapping[str, str]],
) -> None:
    """Give hosts their cell; freeze those whose cell cannot be told.

    As long as no host of the cloud is mapped there is one cell for all.

    :param cells: as of :func:`claims`
    """
    for host in hosts if cells else ():
        names = cells.get(host.name, {})
        if len(names) == 1:
            [host.cell] = names
        else:
            host.frozen = _why_frozen(source, names)


def _why_frozen(source: CellSource, names: Mapping[str, str]) -> str:
    if names:
        parts = [f'{cell} by {who}' for cell, who in sorted(names.items())]
        return f'it is in more than one cell: {wording.some(parts)}'
    if source is CellSource.AZ:
        return (
            'it is in no known cell: os-services has no availability zone '
            'for it, and cell_source is az'
        )
    return (
        'it is in no known cell: none of its aggregates has the metadata '
        f'{METADATA_KEY}, but aggregates of other hosts do'
    )
