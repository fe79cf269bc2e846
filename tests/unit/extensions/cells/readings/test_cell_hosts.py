# SPDX-License-Identifier: Apache-2.0
"""Are the hosts of a cell drain those that were meant, and no others?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ScopeError
from kronos.engine.types import Host
from kronos.extensions.cells.readings import cell_hosts
from kronos.extensions.cells.readings.cell_hosts import CellScope

CELLS = {'o1': 'old', 'o2': 'old', 'n1': 'new', 'm1': 'mid', 'x': ''}
HOSTS = {name: Host(name, cell=cell) for name, cell in CELLS.items()}


class TestHosts(base.BaseTestCase):
    def found(self, *told: Any, excluded: tuple[str, ...] = ()) -> list[str]:
        hosts = cell_hosts.of(CellScope(*told), HOSTS, {}, excluded)
        return [host.name for host in hosts]

    def refused(self, *told: Any, cells: Any = None) -> str:
        scope = CellScope(*told)
        error = self.assertRaises(
            ScopeError, cell_hosts.of, scope, HOSTS, cells or {}, ()
        )
        return str(error)

    def test_of_the_cells(self) -> None:
        self.assertEqual(['n1', 'o1', 'o2'], self.found('old', ['new']))
        self.assertEqual(
            ['m1', 'n1', 'o2'], self.found('old', ['new', 'mid'], ['o2'])
        )
        self.assertEqual(
            ['n1', 'o2'], self.found('old', ['new'], excluded=('o1', 'x'))
        )

    def test_names_of_hosts_do_not_differ_by_case(self) -> None:
        found = self.found('old', ['new'], ['O1'])
        self.assertEqual(self.found('old', ['new'], ['o1']), found)

    def test_refused(self) -> None:
        for told, text in (
            (('odl', ['new']), 'source_cell: "odl" is no cell with hosts; '
             'did you mean old?'),
            (('x', ['new']), 'source_cell: "x" is no cell with hosts; '
             'known: mid, new, old'),
            (('old', ['new', 'nwe']), 'target_cells: "nwe" is no cell'),
            (('old', ['new', 'old']),
             'target_cells: "old" is the source_cell itself'),
            (('old', ['new'], ['o3']),
             'hosts: "o3" is no host of old; known: o1, o2'),
            (('old', ['new'], ['o1', 'n1']),
             'hosts: "n1" is in new, not in old'),
            (('old', ['new'], ['x']),
             'hosts: "x" is in no known cell, not in old'),
        ):  # fmt: skip
            self.assertIn(text, self.refused(*told))

    def test_in_two_cells(self) -> None:
        """It only matters where one of them is ours."""
        twice = {'x': {'mid': 'aggregate a', 'new': 'aggregate b'}}
        self.assertIn(
            'host x is in more than one cell: mid by aggregate a, new by '
            'aggregate b',
            self.refused('old', ['new'], cells=twice),
        )
        scope = CellScope('old', ['new'])
        other = {'x': {'mid': 'aggregate a', 'far': 'aggregate b'}}
        self.assertTrue(cell_hosts.of(scope, HOSTS, other, ()))

    def test_no_cells(self) -> None:
        error = self.assertRaises(
            ScopeError,
            cell_hosts.of,
            CellScope('old', ['new']),
            {'a': Host('a')},
            {},
            (),
        )
        self.assertIn('cell_source', str(error))

    def test_open_beside(self) -> None:
        scope = CellScope('old', ['new'], ['o2'])
        for open_, expected in ((('o1', 'o2', 'n1'), ['o1']), ((), [])):
            found = cell_hosts.open_beside(scope, HOSTS, open_)
            self.assertEqual(expected, found)
