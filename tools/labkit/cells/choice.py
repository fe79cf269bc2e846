# SPDX-License-Identifier: Apache-2.0
"""The choice of two cells, and the hosts of each.

Standard library only.
"""

from dataclasses import dataclass

from labkit import layout

CHOSEN = layout.DATA / 'cells.json'
"""{"hosts": how many the first cell has}; with the data of two cells."""
FIRST, SECOND = 'cell1', 'cell2'
"""As Nova calls them, and the metadata kronos:cell."""
ZONES = {FIRST: 'zone1', SECOND: 'zone2'}
"""The availability zone that each of them is."""
OLD_HOSTS = ('old1', 'old2')
"""Those of the second cell: the one that is to be emptied."""
MOST = 9
"""Hosts of the first cell, as in a lab with one."""
VHOST = SECOND
"""Of the message broker: the second cell's own."""
DATABASES = {FIRST: 'nova_cell1', SECOND: 'nova_cell2'}
CONDUCTOR = 'nova-conductor-cell2'
"""The second cell's; it does not know of any other cell."""


@dataclass(frozen=True)
class Choice:
    """A lab with two cells."""

    hosts: int = MOST
    """Of the first cell."""


def read() -> Choice | None:
    """What was chosen; None in a lab with one cell."""
    if not CHOSEN.exists():
        return None
    return Choice(int(layout.read_json(CHOSEN)['hosts']))


def write(chosen: Choice | None) -> None:
    if chosen is None:
        CHOSEN.unlink(missing_ok=True)
    else:
        layout.write_json(CHOSEN, {'hosts': chosen.hosts})


def databases() -> list[str]:
    """Those in which servers and migrations are."""
    names = [FIRST] if read() is None else [FIRST, SECOND]
    return [DATABASES[name] for name in names]


def cell_of(host: str) -> str:
    return SECOND if host in OLD_HOSTS else FIRST
