# SPDX-License-Identifier: Apache-2.0
"""Is a seed emptied with few further moves, or not at all?"""

from oslotest import base

from kronos.extensions.maintenance.planning.seeds import Seeds
from tests.unit.extensions.maintenance.planning import searches
from tests.unit.extensions.maintenance.planning.searches import Search


class TestSeeds(base.BaseTestCase):
    def empty(self, search: Search, clean: str, targets: str) -> int | None:
        seeds = Seeds(search.simulation, search.room)
        return seeds.empty(
            search.host('a'), search.mask(*clean), search.mask(*targets)
        )

    def test_what_fits_goes_to_clean_hosts(self) -> None:
        def work(search: Search) -> None:
            self.assertEqual(1, self.empty(search, 'b', 'cd'))
            places = search.hosts()
            self.assertEqual(('b', 'c'), (places['a0'], places['a1']))

        case = searches.run({'a': [8, 4], 'b': [6], 'c': [4], 'd': [8]})
        searches.look(case, work)

    def test_others_make_room(self) -> None:
        """No host has 12 GiB free until b0 goes to c."""

        def work(search: Search) -> None:
            self.assertEqual(2, self.empty(search, '', 'bc'))
            places = search.hosts()
            self.assertEqual(('b', 'c'), (places['a0'], places['b0']))

        case = searches.run({'a': [12], 'b': [6], 'c': [8]})
        searches.look(case, work)

    def test_nowhere(self) -> None:
        """Nothing is left of the attempt."""

        def work(search: Search) -> None:
            before = search.hosts()
            self.assertIsNone(self.empty(search, 'b', 'c'))
            self.assertEqual(before, search.hosts())

        case = searches.run({'a': [4, 12], 'b': [8], 'c': [9]})
        searches.look(case, work)
