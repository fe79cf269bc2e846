# SPDX-License-Identifier: Apache-2.0
"""Which hosts do the queries of a run name?"""

import math

import ddt
from oslotest import base

from kronos.engine.settings import HostMatch
from kronos.engine.types import Health, Reading, Sample
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.readings import done_hosts
from kronos.extensions.maintenance.readings.done_hosts import RunQueries

ASKED = Maintenance('r', ('a', 'b', 'gone'))
HOSTS = ('a', 'b', 'c')


class Prometheus:
    """It has an answer to each query."""

    def __init__(self, **readings: Reading) -> None:
        self.readings = readings

    def instant_query(self, query: str, label_key: str) -> Reading:
        return self.readings[query]


def reading(**values: float) -> Reading:
    return Reading(
        'q',
        samples=[
            Sample('', value, 0.0, f'{{host="{host}"}}')
            for host, value in values.items()
        ],
    )


def view(
    queries: RunQueries, how: HostMatch = HostMatch.EXACT, **readings: Reading
) -> tuple[RunView, list[str]]:
    return done_hosts.view(Prometheus(**readings), queries, ASKED, HOSTS, how)


@ddt.ddt
class TestView(base.BaseTestCase):
    def test_done(self) -> None:
        seen, warnings = view(
            RunQueries('done', ''), done=reading(a=1.0, b=0.0, c=2.0)
        )
        self.assertEqual(RunView('', ['a'], ['a'], ['gone']), seen)
        self.assertEqual([], warnings)

    def test_ready(self) -> None:
        seen, _ = view(
            RunQueries('done', 'ready'),
            done=reading(a=1.0, b=1.0),
            ready=reading(b=1.0, c=1.0),
        )
        self.assertEqual((['a', 'b'], ['b']), (seen.done, seen.ready))

    def test_nobody_yet(self) -> None:
        seen, _ = view(RunQueries('done', ''), done=reading())
        self.assertEqual(RunView(missing=['gone']), seen)

    @ddt.data('done', 'ready')
    def test_no_number(self, query: str) -> None:
        """Of a host of the run: nobody is done, as without an answer."""
        readings = {'done': reading(b=1.0), 'ready': reading(b=1.0)}
        readings[query] = reading(a=math.nan, b=1.0)
        seen, _ = view(RunQueries('done', 'ready'), **readings)
        self.assertIn(f'maintenance_{query}_query', seen.unknown)
        self.assertIn('the value of a is NaN', seen.unknown)
        self.assertEqual(([], []), (seen.done, seen.ready))

    def test_no_number_of_another_host(self) -> None:
        seen, _ = view(RunQueries('done', ''), done=reading(c=math.nan, b=1.0))
        self.assertEqual(RunView('', ['b'], ['b'], ['gone']), seen)

    def test_a_query_that_cannot_be_parsed(self) -> None:
        bad = Reading(
            'up{', Health.UNREACHABLE, error='unexpected end of input'
        )
        seen, _ = view(RunQueries('done', ''), done=bad)
        self.assertIn('unexpected end of input', seen.unknown)
        self.assertEqual([], seen.done)

    def test_no_query(self) -> None:
        seen, _ = view(RunQueries('', 'ready'))
        self.assertIn('maintenance_done_query', seen.unknown)
        self.assertEqual([], seen.done)

    @ddt.data('done', 'ready')
    def test_no_answer(self, query: str) -> None:
        """Then nobody is done, whatever the other query says."""
        away = Reading('q', Health.UNREACHABLE, error='away', is_away=True)
        good = reading(a=1.0)
        readings = {'done': good, 'ready': good, query: away}
        seen, _ = view(RunQueries('done', 'ready'), **readings)
        self.assertIn('away', seen.unknown)
        self.assertEqual(([], []), (seen.done, seen.ready))

    def test_of_the_audit(self) -> None:
        configured = RunQueries('d', 'r')
        self.assertEqual(configured, RunQueries.of(ASKED, configured))
        spec = Maintenance('r', (), done_query='x', ready_query='y')
        self.assertEqual(RunQueries('x', 'y'), RunQueries.of(spec, configured))
