# SPDX-License-Identifier: Apache-2.0
"""Do all servers of a host find a place, or is none of them moved?"""

from oslotest import base

from tests.unit.extensions.maintenance.planning import searches
from tests.unit.extensions.maintenance.planning.searches import Search


class TestRoom(base.BaseTestCase):
    def test_all_of_them(self) -> None:
        def work(search: Search) -> None:
            allowed = search.mask('b', 'c')
            self.assertTrue(search.room.place_all(search.host('a'), allowed))
            places = search.hosts()
            self.assertEqual({'b', 'c'}, {places['a0'], places['a1']})
            self.assertEqual(2, len(search.simulation.steps))

        searches.look(searches.run({'a': [8, 8], 'b': [4], 'c': [4]}), work)

    def test_all_or_none(self) -> None:
        """The larger one has a place, and goes back."""

        def work(search: Search) -> None:
            before = search.hosts()
            allowed = search.mask('b')
            self.assertFalse(search.room.place_all(search.host('a'), allowed))
            self.assertEqual(before, search.hosts())
            self.assertEqual([], search.simulation.steps)

        searches.look(searches.run({'a': [8, 4], 'b': [6]}), work)

    def test_whatever_the_order(self) -> None:
        """Hosts take 15 GiB; evenly, the last one would find no place."""

        def work(search: Search) -> None:
            allowed = search.mask('b', 'c')
            self.assertTrue(search.room.place_all(search.host('a'), allowed))
            self.assertNotIn('a', search.hosts().values())

        case = searches.run({'a': [4, 3, 3, 2, 2], 'b': [8], 'c': [8]})
        searches.look(case, work)

    def test_some_of_them(self) -> None:
        def work(search: Search) -> None:
            left = search.room.place_some(search.host('a'), search.mask('b'))
            self.assertEqual([search.server('a1')], left.tolist())
            self.assertEqual('b', search.hosts()['a0'])

        searches.look(searches.run({'a': [8, 4], 'b': [6]}), work)

    def test_the_emptiest_of_those_that_are_allowed(self) -> None:
        def work(search: Search) -> None:
            server = search.server('a0')
            self.assertTrue(search.room.place(server, search.mask('b', 'c')))
            self.assertEqual('c', search.hosts()['a0'])
            search.room.take_back(0)
            self.assertEqual('a', search.hosts()['a0'])
            self.assertFalse(search.room.place(server, search.mask()))

        case = searches.run({'a': [4], 'b': [8], 'c': [6], 'd': []})
        searches.look(case, work)

    def test_what_hosts_lack(self) -> None:
        def work(search: Search) -> None:
            lacking = search.room.lacking(search.server('a0'))
            self.assertEqual(
                (4 / 16, -4 / 16),
                (lacking[search.host('b')], lacking[search.host('c')]),
            )

        searches.look(searches.run({'a': [8], 'b': [12], 'c': [4]}), work)
