# SPDX-License-Identifier: Apache-2.0
"""What does a search say in the end?"""

import ddt
from oslotest import base

from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.outcome import Waves
from kronos.extensions.maintenance.planning import endings
from tests.unit.extensions.maintenance.planning import searches
from tests.unit.extensions.maintenance.planning.searches import Search


@ddt.ddt
class TestEnding(base.BaseTestCase):
    def test_result(self) -> None:
        waves = Waves(['a'], blocked={'b': 'it is locked'}, waits='it waits')

        def work(search: Search) -> None:
            states = {'b': HostState('b', State.TO_DO)}
            end = endings.ended(search.simulation, states, waves, 'r')
            self.assertEqual('closes a; it waits', end.reason)
            self.assertEqual({maintenance.NAME: waves}, end.beside)
            self.assertIn('host b: it is locked', end.warnings)
            codes = {
                search.simulation.utilization.index.instances[server]: why.code
                for server, why in end.stayed.items()
            }
            self.assertEqual(
                {
                    'a0': MaintenanceCode.HOST_NOT_TO_DO,
                    'b0': MaintenanceCode.HOST_WAITS,
                },
                codes,
            )

        searches.look(searches.run({'a': [4], 'b': [4]}), work)

    def test_nothing_to_say(self) -> None:
        def work(search: Search) -> None:
            end = endings.ended(search.simulation, {}, Waves(), 'r')
            self.assertEqual('the run closes no further host', end.reason)

        searches.look(searches.run({'a': [4], 'b': [4]}), work)

    @ddt.data(
        (2, [], '2 hosts of the scope cannot take servers, '),
        (
            1,
            ['a'],
            '1 host of the scope cannot take servers, a has left the scope, ',
        ),
    )
    @ddt.unpack
    def test_full(self, closed: int, gone: list[str], text: str) -> None:
        self.assertEqual(
            f'{text}and at_once is 2', endings.full(closed, gone, 2)
        )

    @ddt.data(
        (State.DONE, MaintenanceCode.HOST_NOT_TO_DO),
        (State.EMPTYING, MaintenanceCode.NO_ROOM_YET),
        (State.LATE, MaintenanceCode.NO_ROOM_YET),
        (State.TO_DO, MaintenanceCode.HOST_WAITS),
        (State.FOREIGN, MaintenanceCode.HOST_WAITS),
    )
    @ddt.unpack
    def test_why_stays(self, state: State, code: MaintenanceCode) -> None:
        why = endings.why_stays('a', HostState('a', state), 'r')
        self.assertIs(code, why.code)
        self.assertIn('a', str(why).split())

    def test_why_none(self) -> None:
        self.assertEqual(endings.NO_ROOM, endings.why_none(Waves()))
        blocked = {'b': 'x', 'a': 'y', 'c': 'z'}
        self.assertEqual(
            'a cannot be emptied (y), and 2 more',
            endings.why_none(Waves(blocked=blocked)),
        )

    def test_too_wide(self) -> None:
        self.assertEqual(endings.NO_ROOM, endings.too_wide(3, 0))
        self.assertIn('set at_once to 2 or less', endings.too_wide(3, 2))
