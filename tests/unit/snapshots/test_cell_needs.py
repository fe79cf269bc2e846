# SPDX-License-Identifier: Apache-2.0
"""Is what a cell drain needs asked for, and a wrong flavor map refused?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.cell_drain import CellDrain, OffloadedServer
from kronos.engine.types import Flavor
from kronos.snapshots import cell_needs
from tests.builders.cells import server

KNOWN = {name: Flavor(id_, name, 1, 1) for id_, name in
         (('1', 'small'), ('2', 'large'), ('3', '1'))}  # fmt: skip


class Listings:
    """What Nova would say."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def flavors(self) -> list[Flavor]:
        return list(KNOWN.values())

    def quota_left(self, project: str) -> dict[str, int]:
        self.asked.append(project)
        return {'cores': 3}

    def has_shares(self, uuid: str) -> bool:
        return uuid == 'b'

    def offloaded(self) -> list[OffloadedServer]:
        return [OffloadedServer('z', 'last'), OffloadedServer('y', 'first')]


class TestGather(base.BaseTestCase):
    def test_all(self) -> None:
        """Quotas only of those whose flavor changes."""
        servers = [
            server('a', project_id='p1'),
            server('b', project_id='p2', flavor='large'),
        ]
        drain = CellDrain('old', ['new'], flavor_map={'*': 'large'})
        listings: Any = Listings()
        lines: list[str] = []
        found = cell_needs.gather(listings, drain, servers, lines.append)
        self.assertEqual(KNOWN, found.flavors)
        self.assertEqual({'p1': {'cores': 3}}, found.quota_left)
        self.assertEqual(['y', 'z'], [one.uuid for one in found.offloaded])
        self.assertEqual([False, True], [one.has_shares for one in servers])
        self.assertEqual(
            ['3 flavors, quotas of 1 projects', 'shares of 2 instances'],
            lines,
        )


class TestOfCloud(base.BaseTestCase):
    def test_all(self) -> None:
        """Quotas of every project, and of no instance its shares."""
        servers = [server('a', project_id='p1'), server('b', project_id='')]
        listings: Any = Listings()
        found = cell_needs.of_cloud(listings, servers, lambda _: None)
        self.assertEqual(KNOWN, found.flavors)
        self.assertEqual({'p1': {'cores': 3}}, found.quota_left)
        self.assertEqual(['y', 'z'], [one.uuid for one in found.offloaded])
        self.assertEqual([False, False], [one.has_shares for one in servers])


class TestMap(base.BaseTestCase):
    def test_names_and_ids(self) -> None:
        """A name goes before an id that looks like it."""
        for given, expected in (
            (None, None),
            ({'small': 'large'}, {'small': 'large'}),
            ({'2': 'same', '*': '1'}, {'large': 'same', '*': '1'}),
            ({'small': '2'}, {'small': 'large'}),
            ({'gone': 'small'}, {'gone': 'small'}),
            ({'small': 'small'}, {'small': 'same'}),
        ):
            self.assertEqual(expected, cell_needs.resolved(given, KNOWN))

    def test_refused(self) -> None:
        for given, text in (
            ({'small': 'huge'},
             'entry small: huge: there is no flavor huge; known: 1, large, '
             'small'),
            ({'large': '1', '2': 'small'}, 'large is mapped twice'),
            ({'small': 'large', 'large': 'small'},
             'it is a loop: small -> large -> small'),
        ):  # fmt: skip
            error = self.assertRaises(
                ConfigurationError, cell_needs.resolved, given, KNOWN
            )
            self.assertIn(text, str(error))
