# SPDX-License-Identifier: Apache-2.0
"""What does a result keep of a run?"""

from oslotest import base

from kronos.extensions.maintenance import maintenance, outcome
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import RunOutcome, Staying
from tests.unit.strategies.outcome.test_status_messages import scope


def run(**states: State) -> RunOutcome:
    rows = {host: HostState(host, state) for host, state in states.items()}
    return RunOutcome(Maintenance('r', tuple(states)), rows)


class TestOutcome(base.BaseTestCase):
    def test_nothing_is_maintained(self) -> None:
        self.assertEqual(RunOutcome(), outcome.of(scope()))
        odd = scope(beside={maintenance.NAME: 'odd'})
        self.assertEqual(RunOutcome(), outcome.of(odd))

    def test_states(self) -> None:
        kept = run(a=State.DONE, b=State.LATE, c=State.DONE)
        result = scope(beside={maintenance.NAME: kept})
        self.assertIs(kept, outcome.of(result))
        self.assertEqual('r', kept.run)
        self.assertEqual(['a', 'c'], kept.hosts(State.DONE))
        self.assertEqual(3, kept.count(State.DONE, State.LATE))

    def test_of_host(self) -> None:
        case = run(a=State.DONE, b=State.TO_DO)
        case.waves.closing = ['b']
        case.forecast.ends = {'b': 60.0}
        case.look.staying = [
            Staying(host, 'u', 'db', 'locked', 'it is locked', '')
            for host in 'ab'
        ]
        self.assertIsNone(outcome.of_host(case, 'c'))
        row = outcome.of_host(case, 'b')
        assert row is not None
        self.assertEqual(
            ('r', 'to do', True, False, 60.0),
            (
                row['run'],
                row['state'],
                row['closing'],
                row['handing_over'],
                row['expected_seconds'],
            ),
        )
        self.assertEqual(['b'], [each['host'] for each in row['staying']])

    def test_a_host_of_two_scopes_counts_once(self) -> None:
        first, second = run(a=State.DONE, b=State.DONE), run(b=State.DONE)
        results = [
            scope(beside={maintenance.NAME: kept}) for kept in (first, second)
        ]
        self.assertEqual(2, outcome.count([scope(), *results], State.DONE))
        self.assertEqual(0, outcome.count(results, State.LATE))
