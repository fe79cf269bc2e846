# SPDX-License-Identifier: Apache-2.0
"""The cells of hosts, as they are told at the moment of a move."""

from kronos.clients.nova.client import NovaClient
from kronos.snapshots import cells
from kronos.snapshots.cells import CellSource


def of(nova: NovaClient, source: str) -> dict[str, str]:
    """The cell by host; a host that is in none or in several is not there.

    :param source: ``[kronos] cell_source``
    :raises NovaClientError: Nova cannot be asked
    """
    how = CellSource(source)
    by_zone = how is CellSource.AZ
    told = cells.told(
        how,
        [] if by_zone else nova.list_aggregates(),
        nova.list_compute_services() if by_zone else None,
    )
    return {
        host: next(iter(names))
        for host, names in told.items()
        if len(names) == 1
    }
