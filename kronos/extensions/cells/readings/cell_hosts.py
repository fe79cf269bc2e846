# SPDX-License-Identifier: Apache-2.0
"""The hosts of a cell drain: of the cell that is emptied, and of its targets.

What an audit names and the operator did not map is refused: it may be
misspelt, and a server in a wrong cell is not soon brought back.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.common.names.name_marks import CellName, HostName
from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.types import Host
from kronos.snapshots.scopes import Cloud, HostChoice

SOURCE, TARGETS, HOSTS = 'source_cell', 'target_cells', 'hosts'


@dataclass
class CellScope(HostChoice):
    """A cell that is emptied, and those that take its servers."""

    NAMES: ClassVar[str] = 'cells'

    source: CellName
    targets: list[CellName]
    hosts: list[HostName] | None = None
    """Those of the source that are emptied; None: all."""

    @property
    def name(self) -> str:
        """Of the one scope that they are."""
        return f'{self.source} -> {", ".join(self.targets)}'

    def scopes(
        self, cloud: Cloud, excluded: Collection[str]
    ) -> dict[str, list[Host]]:
        return {self.name: of(self, cloud.hosts, cloud.cells, excluded)}


def of(
    scope: CellScope,
    hosts: Mapping[str, Host],
    by_host: Mapping[str, Mapping[str, str]],
    excluded: Collection[str],
) -> list[Host]:
    """The hosts that are emptied, and those that take what leaves.

    :param hosts: of the types that are planned
    :param by_host: by host, by name of a cell, who says that it is in it
    :param excluded: names of hosts that take no part
    :raises ScopeError: names the parameter, its value and what is wrong
    """
    _require_cells(scope, hosts)
    _require_one_cell(scope, by_host)
    sources = _sources(scope, hosts)
    return [
        host
        for name, host in sorted(hosts.items())
        if name not in excluded
        and (name in sources or host.cell in scope.targets)
    ]


def open_beside(
    scope: CellScope, hosts: Mapping[str, Host], open_: Collection[str]
) -> list[str]:
    """Hosts of the source that are not emptied and take servers.

    :param open_: names of the hosts that take servers
    """
    sources = _sources(scope, hosts)
    return sorted(
        name
        for name, host in hosts.items()
        if host.cell == scope.source and name not in sources and name in open_
    )


def _sources(scope: CellScope, hosts: Mapping[str, Host]) -> set[str]:
    """Names of the hosts that are emptied."""
    inside = {
        name for name, host in hosts.items() if host.cell == scope.source
    }
    if scope.hosts is None:
        return inside
    names = set()
    for name in scope.hosts:
        host = labels.find_host(name, hosts)
        if host is None:
            hint = near_names.of_cloud(name, sorted(inside))
            raise _bad(HOSTS, name, f'no host of {scope.source}; {hint}')
        if host not in inside:
            cell = hosts[host].cell or 'no known cell'
            raise _bad(HOSTS, name, f'in {cell}, not in {scope.source}')
        names.add(host)
    return names


def _require_cells(scope: CellScope, hosts: Mapping[str, Host]) -> None:
    cells = sorted({host.cell for host in hosts.values() if host.cell})
    if not cells:
        raise exceptions.ScopeError(
            reason='no host has a cell: give aggregates the metadata '
            'kronos:cell, or set cell_source of [kronos]'
        )
    if scope.source in scope.targets:
        raise _bad(TARGETS, scope.source, 'the source_cell itself')
    for parameter, names in (
        (SOURCE, [scope.source]),
        (TARGETS, scope.targets),
    ):
        for name in names:
            if name not in cells:
                hint = near_names.of_cloud(name, cells)
                raise _bad(parameter, name, f'no cell with hosts; {hint}')


def _require_one_cell(
    scope: CellScope, by_host: Mapping[str, Mapping[str, str]]
) -> None:
    """Refuse where a host is told to be in two cells, one of them ours."""
    concerned = {scope.source, *scope.targets}
    for host, cells in sorted(by_host.items()):
        if len(cells) > 1 and concerned & cells.keys():
            parts = [f'{cell} by {who}' for cell, who in sorted(cells.items())]
            raise exceptions.ScopeError(
                reason=f'host {host} is in more than one cell: '
                f'{wording.some(parts)}; a host is in one'
            )


def _bad(parameter: str, value: str, what: str) -> exceptions.ScopeError:
    return exceptions.ScopeError(
        reason=f'Audit parameter {parameter}: "{value}" is {what}'
    )
